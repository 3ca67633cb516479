import type { NetworkForms, OfflineScheme } from '../../../schemes/offlineScheme.js'
import type { OfflineModule } from '../../chain.js'
import { listKnownTokens, type TokenFacts } from '../tokens.js'
import { describeToken, type OfferedTokens } from './exactScheme.js'

/** Lists the schemes of those networks that a namespace has, by their references. */
export const listOffline =
  <Known>(
    namespace: string,
    findKnown: (reference: string) => Known | null,
    create: (network: string, known: Known) => OfflineScheme,
  ): OfflineModule['listOfflineSchemes'] =>
  (networks) =>
    networks.flatMap((network) => {
      const prefix = `${namespace}:`
      const known = network.startsWith(prefix) ? findKnown(network.slice(prefix.length)) : null
      return known === null ? [] : [create(network, known)]
    })

interface OfflineExact extends Pick<OfflineScheme, 'extra' | 'identify' | 'findPayer' | 'read'> {
  /** CAIP-2 identifier. */
  readonly network: string
  /** The sandbox announces it; no key of it is known. */
  readonly signer: string
  readonly forms: NetworkForms
  readonly knownTokens: readonly TokenFacts[]
  readonly offered: OfferedTokens
  /** What clients need beside the asset in order to sign. */
  readonly assetExtra: Readonly<Record<string, unknown>>
}

/** Scheme `exact` of a settling family, as far as it can be judged without a chain. */
export const createOfflineScheme = ({
  network: id,
  signer,
  forms,
  knownTokens,
  offered,
  assetExtra,
  ...own
}: OfflineExact): OfflineScheme => ({
  ...own,
  kind: { scheme: 'exact', network: id },
  network: {
    id,
    signers: [signer],
    forms,
    vouchers: null,
    routers: null,
    listTokens: () => listKnownTokens(knownTokens),
  },
  describeAsset: async (asset) => describeToken(asset, offered, () => assetExtra),
})
