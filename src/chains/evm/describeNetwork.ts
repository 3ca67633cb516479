import type { Scheme } from '../../schemes/scheme.js'
import type { MinimumPayment } from '../common/minimumPayment.js'
import { readAddress } from './abi/address.js'
import type { MethodDependencies } from './paymentMethod.js'
import type { Token } from './tokens/tokenRegistry.js'
import { builderCodeExtension } from './transactions/builderCodes.js'

type NetworkFacts = Pick<
  Scheme,
  'signers' | 'extensions' | 'listMinimums' | 'isAddress' | 'describeAsset' | 'getBlockStatus'
>

/** What all schemes of a network answer alike. */
export const describeNetwork = (
  { network, tokens, engine }: Pick<MethodDependencies, 'network' | 'tokens' | 'engine'>,
  minimum: MinimumPayment,
): NetworkFacts => ({
  signers: engine.signers,
  extensions: [builderCodeExtension],
  listMinimums: () =>
    minimum.list(
      network.tokens.map(({ address }) => readAddress(address) ?? address),
      engine.findTypicalCost(),
    ),

  isAddress: (text) => readAddress(text) !== null,

  describeAsset: async (asset) => {
    const address = readAddress(asset ?? network.tokens[0]?.address)
    const finding = address === null ? null : await tokens.find(address)
    if (finding === null || 'refusedAs' in finding) return null
    const { token } = finding
    return { asset: asset ?? token.address, decimals: token.decimals, extra: domainOf(token) ?? {} }
  },

  getBlockStatus: engine.getBlockStatus,
})

export const domainOf = ({ domain }: Token): Record<'name' | 'version', string> | undefined =>
  domain === null ? undefined : { name: domain.name, version: domain.version }
