import { z } from 'zod'
import { Secret } from '../../../platform/secret.js'
import { decimalNumber, wholeNumber } from '../../../platform/wholeNumber.js'
import { nodeUrls, smallestUnits, splitList } from '../familySettings.js'
import type { MinimumPaymentSettings } from '../minimumPayment.js'
import { completeTokenFacts, readTokenFacts, type TokenFacts } from '../tokens.js'

/** A network whose chain and tokens are built in. */
export interface KnownSettlingNetwork {
  readonly isTestnet: boolean
  /** Absent: an endpoint must be configured. */
  readonly publicRpcUrl?: string
  /** Coarse price of the native coin in USD, for the minimum payment only; null: no default minimum. */
  readonly coinUsd: number | null
  readonly tokens: readonly KnownSettlingToken[]
}

interface KnownSettlingToken extends TokenFacts {
  readonly symbol: string
  readonly decimals: number
}

/** What is configured alike for a network of every family that sends payments. */
export interface SettlingNetworkSettings {
  /** CAIP-2 identifier. */
  readonly network: string
  /** False where the network is not built in. */
  readonly isTestnet: boolean
  /** In order of preference. */
  readonly rpcUrls: readonly Secret[]
  readonly usesPublicRpc: boolean
  /** Variable that lists its tokens, for messages. */
  readonly tokensVariable: string
  /** The first is the default. */
  readonly tokens: readonly TokenFacts[]
  /** Those that are built in. */
  readonly knownTokens: readonly KnownSettlingToken[]
  readonly acceptsAnyToken: boolean
  readonly pollIntervalMs: number
  readonly minimumPayment: MinimumPaymentSettings
}

export interface SettlingSettings<Network extends SettlingNetworkSettings = SettlingNetworkSettings> {
  readonly networks: readonly Network[]
  readonly rpcTimeoutMs: number
  /** From this amount, in smallest units, a second endpoint must confirm a payment. */
  readonly crossCheckAmount: bigint
}

/** Variables that every family has, without their prefix. */
export const settlingFamilyShape = (amountDigits: number) => ({
  RPC_TIMEOUT_MS: wholeNumber(100, 60_000).default(5_000),
  CROSS_CHECK_AMOUNT: smallestUnits(amountDigits).default(1_000_000_000n),
})

/** Variables that every network has, without prefix and suffix. */
export const settlingNetworkShape = ({
  tokens,
  amountDigits,
  pollIntervalMs,
}: {
  readonly tokens: ReturnType<typeof tokenList>
  readonly amountDigits: number
  /** Default. */
  readonly pollIntervalMs: number
}) => ({
  RPC_URL: nodeUrls.optional(),
  TOKENS: tokens.optional(),
  POLL_INTERVAL_MS: wholeNumber(10, 60_000).default(pollIntervalMs),
  MIN_PAYMENT: smallestUnits(amountDigits).optional(),
  COIN_USD: decimalNumber(1_000_000).optional(),
})

type SettlingNetworkReading = z.infer<z.ZodObject<ReturnType<typeof settlingNetworkShape>>>

/** Assets, each optionally with `=SYMBOL/decimals`, or `*` for any. */
export const tokenList = ({
  isAsset,
  mayBeEmpty,
  message,
}: {
  readonly isAsset: (text: string) => boolean
  readonly mayBeEmpty: boolean
  readonly message: string
}) =>
  z.string().transform((text, context) => {
    const entries = splitList(text)
    const listed = entries.filter((entry) => entry !== '*').map(readTokenFacts)
    if ((mayBeEmpty || entries.length > 0) && listed.every(({ asset }) => isAsset(asset))) {
      return { listed, acceptsAny: entries.includes('*') }
    }
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })

export const listWithUrl = (
  readings: ReadonlyMap<string, Pick<SettlingNetworkReading, 'RPC_URL'>>,
): readonly string[] =>
  [...readings].filter(([, reading]) => reading.RPC_URL !== undefined).map(([name]) => name)

interface NetworkChoice<Known extends KnownSettlingNetwork> {
  readonly named: readonly string[] | undefined
  readonly withUrl: readonly string[]
  readonly known: readonly Known[]
}

/** The networks that are named, or those with an endpoint, or (with only a key) mainnet. */
export const chooseNetworks = <Known extends KnownSettlingNetwork>(
  { named, withUrl, known }: NetworkChoice<Known>,
  nameOf: (network: Known) => string,
): readonly string[] => {
  if (named !== undefined) return [...new Set(named)]
  if (withUrl.length > 0) return withUrl
  return known.filter(({ isTestnet }) => !isTestnet).map(nameOf)
}

/** Null known: the network is not built in; it accepts any token unless tokens are listed. */
export const assembleSettlingNetwork = (
  reading: SettlingNetworkReading,
  {
    known,
    ...identity
  }: Pick<SettlingNetworkSettings, 'network' | 'tokensVariable'> & {
    readonly known: KnownSettlingNetwork | null
  },
): SettlingNetworkSettings => {
  const { listed = [], acceptsAny = known === null } = reading.TOKENS ?? {}
  const builtIn = known?.tokens ?? []
  return {
    ...identity,
    isTestnet: known?.isTestnet ?? false,
    rpcUrls: reading.RPC_URL ?? (known?.publicRpcUrl === undefined ? [] : [new Secret(known.publicRpcUrl)]),
    usesPublicRpc: reading.RPC_URL === undefined,
    tokens: listed.length > 0 ? listed.map((token) => completeTokenFacts(token, builtIn)) : builtIn,
    knownTokens: builtIn,
    acceptsAnyToken: acceptsAny,
    pollIntervalMs: reading.POLL_INTERVAL_MS,
    minimumPayment: {
      fixed: reading.MIN_PAYMENT ?? null,
      coinUsd: reading.COIN_USD ?? known?.coinUsd ?? null,
      stablecoins: builtIn.map(({ asset, decimals }) => ({ asset, decimals })),
    },
  }
}
