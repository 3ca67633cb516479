import { withSignal } from '../../../concurrency/deadline.js'
import type { Settlement } from '../../../ports/settlementJournal.js'
import type { Fields } from '../../../protocol/fields.js'
import type { Network } from '../../../schemes/network.js'
import type { NetworkForms, OfflineScheme } from '../../../schemes/offlineScheme.js'
import type { AssetTerms, Authorized, Outcome, ResolveOptions, Scheme } from '../../../schemes/scheme.js'
import type { OfflineModule } from '../../chain.js'
import { listKnownTokens, type TokenFacts } from '../tokens.js'

/** Tokens of a network as requirements name them. */
export interface OfferedTokens {
  /** The first is the default. */
  readonly tokens: readonly Pick<TokenFacts, 'asset'>[]
  isOffered(asset: string): boolean
  /** Null if unknown. */
  findDecimals(asset: string): number | null
}

/** Terms of a named token, or of the first one; null if it is not settled. */
const describeToken = (
  asset: string | null,
  { tokens, isOffered, findDecimals }: OfferedTokens,
  describeExtra: () => Fields,
): AssetTerms | null => {
  const named = asset ?? tokens[0]?.asset
  return named === undefined || !isOffered(named)
    ? null
    : { asset: named, decimals: findDecimals(named), extra: describeExtra() }
}

/** What a transfer authorizes whose amount the payer signed, with and without a chain. */
export const describeAuthorization = ({
  amount,
  ...own
}: Pick<Authorized, 'payer' | 'authorizationId' | 'amount' | 'expiresAt'>): Omit<
  Authorized,
  'details' | 'settle'
> => ({ isValid: true, authorizedAmount: amount, amount, ...own })

/** The transaction that was recorded last; without one there is nothing to resolve. */
export interface RecordedSettlement extends Settlement {
  readonly newest: Settlement['broadcasts'][number]
}

export interface Resolution {
  readonly outcome: Outcome
  /** Whether the recorded bytes can still have an effect. */
  readonly isWorthSending: boolean
}

interface SettlingScheme extends Pick<Scheme, 'identify' | 'verify'> {
  readonly network: Network
  readonly offered: OfferedTokens
  /** What clients need in order to sign, at the moment. */
  describeKindExtra(): Fields
  describeAssetExtra(): Fields
  /** The outcome that the chain proves now. */
  resolve(settlement: RecordedSettlement, options: ResolveOptions): Promise<Resolution>
  /** Sends recorded bytes to every endpoint. */
  send(bytes: string): Promise<unknown>
}

/** Scheme `exact` of a network on which we send what the payer signed. */
export const createSettlingScheme = ({
  network,
  offered,
  describeKindExtra,
  describeAssetExtra,
  resolve,
  send,
  ...judging
}: SettlingScheme): Scheme => {
  /** Sends again what can still pay, so that nothing depends on the process that sent it first. */
  const resolveNewest = async (settlement: Settlement, options: ResolveOptions): Promise<Outcome> => {
    const newest = settlement.broadcasts.at(-1)
    if (newest === undefined) throw new Error('The settlement has no recorded transaction')
    const { outcome, isWorthSending } = await resolve({ ...settlement, newest }, options)
    if (isWorthSending && options.isReadOnly !== true) await send(newest.bytes)
    return outcome
  }

  return {
    ...judging,
    kind: { scheme: 'exact', network: network.id },
    network,
    journalClaims: null,
    settledState: null,
    describeKind: () => ({ extra: describeKindExtra(), extensions: [] }),
    describeAsset: async (asset) => describeToken(asset, offered, describeAssetExtra),
    resolve: (settlement, signal, options = {}) => withSignal(resolveNewest(settlement, options), signal),
  }
}

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
