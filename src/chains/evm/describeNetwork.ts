import type { Scheme } from '../../schemes/scheme.js'
import type { MinimumPayment } from '../common/minimumPayment.js'
import { listKnownTokens } from '../common/tokens.js'
import { isSameAddress, normalizeAddress, readAddress } from './abi/address.js'
import { coinDecimals, findChainFacts, findKnownNetwork } from './networks.js'
import type { MethodDependencies } from './paymentMethod.js'
import type { EvmNetworkSettings } from './settings.js'
import { readBalance } from './tokens/readBalance.js'
import type { Token, TokenRegistry } from './tokens/tokenRegistry.js'
import { builderCodeExtension } from './transactions/builderCodes.js'

type NetworkFacts = Pick<
  Scheme,
  | 'signers'
  | 'extensions'
  | 'listMinimums'
  | 'isAddress'
  | 'normalizeAddress'
  | 'isTestnet'
  | 'listTokens'
  | 'readBalance'
  | 'estimateFee'
  | 'secondsToSettle'
  | 'settlementsPerSecond'
  | 'describeAsset'
  | 'getBlockStatus'
>

// Networks whose pace is not known have that of Ethereum.
const slowBlockSeconds = 12

/** What all schemes of a network answer alike. */
export const describeNetwork = (
  { network, rpc, tokens, engine }: Pick<MethodDependencies, 'network' | 'rpc' | 'tokens' | 'engine'>,
  minimum: MinimumPayment,
): NetworkFacts => ({
  ...describeChain({ network, engine }),
  signers: engine.signers,
  settlementsPerSecond: () =>
    engine.countPerSecond(findChainFacts(network.chainId).blockSeconds ?? slowBlockSeconds),
  extensions: [builderCodeExtension],
  listMinimums: () =>
    minimum.list(
      network.tokens.map(({ address }) => readAddress(address) ?? address),
      engine.findTypicalCost(),
    ),

  isAddress: (text) => readAddress(text) !== null,
  normalizeAddress,

  listTokens: () => listTokens(network, tokens),

  readBalance: async (named, holder) => {
    const [asset, owner] = [readAddress(named), readAddress(holder)]
    if (asset === null || owner === null) return 0n
    return await readBalance({ rpc, network: network.network }, { asset, owner })
  },

  describeAsset: async (asset) => {
    const address = readAddress(asset ?? network.tokens[0]?.address)
    const finding = address === null ? null : await tokens.find(address)
    if (finding === null || 'refusedAs' in finding) return null
    const { token } = finding
    return { asset: asset ?? token.address, decimals: token.decimals, extra: domainOf(token) ?? {} }
  },

  getBlockStatus: engine.getBlockStatus,
})

/**
 * Without the fee of a network whose coin is unknown: an amount of it says nothing. The fee is that of gas, without what
 * rollups charge for data.
 */
const describeChain = ({
  network,
  engine,
}: Pick<MethodDependencies, 'network' | 'engine'>): Pick<
  Scheme,
  'isTestnet' | 'estimateFee' | 'secondsToSettle'
> => {
  const { coin, isTestnet, blockSeconds } = findChainFacts(network.chainId)
  return {
    isTestnet,
    ...(blockSeconds === null
      ? {}
      : { secondsToSettle: Math.ceil(Math.max(1, blockSeconds * network.confirmations)) }),
    ...(coin === null
      ? {}
      : {
          estimateFee: async () => ({
            amount: await engine.readTypicalCost(),
            symbol: coin,
            decimals: coinDecimals,
            paidBy: 'facilitator',
          }),
        }),
  }
}

/** Tokens that are not built in are described as their contracts state, once they were read. */
const listTokens = ({ chainId, tokens }: EvmNetworkSettings, registry: Pick<TokenRegistry, 'peek'>) => {
  const known = findKnownNetwork(chainId)?.tokens ?? []
  return listKnownTokens(
    tokens.flatMap(({ address, decimals }) => {
      const asset = readAddress(address)
      if (asset === null) return []
      const builtIn = known.find((token) => isSameAddress(token.address, asset))
      const read = registry.peek(asset)
      return [
        {
          asset,
          symbol: builtIn?.symbol ?? read?.symbol ?? null,
          decimals: read?.decimals ?? decimals ?? builtIn?.decimals ?? null,
        },
      ]
    }),
  )
}

export const domainOf = ({ domain }: Token): Record<'name' | 'version', string> | undefined =>
  domain === null ? undefined : { name: domain.name, version: domain.version }
