import { z } from 'zod'
import { Secret } from '../../platform/secret.js'
import { decimalNumber, wholeNumber } from '../../platform/wholeNumber.js'
import type { SettingsReading } from '../chain.js'
import {
  listFamilyVariables,
  nodeUrls,
  readFamilyVariables,
  smallestUnits,
  splitList,
} from '../common/familySettings.js'
import type { MinimumPaymentSettings } from '../common/minimumPayment.js'
import { readTokenFacts, type TokenFacts } from '../common/tokens.js'
import { findKnownNetwork, type KnownNetwork, knownNetworks } from './networks.js'

export interface TonNetworkSettings extends Pick<KnownNetwork, 'globalId' | 'zeroState'> {
  readonly network: string
  readonly name: string
  /** toncenter API v2, in order of preference. */
  readonly rpcUrls: readonly Secret[]
  readonly usesPublicRpc: boolean
  readonly apiKey: Secret | null
  readonly tokens: readonly string[]
  /** They describe the same tokens, in the same order. */
  readonly tokenFacts: readonly TokenFacts[]
  readonly acceptsAnyToken: boolean
  readonly pollIntervalMs: number
  /** Upper bound of nanoTON attached by relaying and burnt for its fees. */
  readonly relayBudgetPerHour: number
  readonly minimumPayment: MinimumPaymentSettings
}

/** Bounds in nanoTON of what a relayed jetton transfer attaches and forwards; it is the facilitator's money. */
export interface RelayLimits {
  /** With less the transfer fails, and the rest of the TON stays with the payer. */
  readonly least: bigint
  readonly most: bigint
  /** Most that may be attached where the excess does not return to a relay wallet. */
  readonly mostUnreturned: bigint
  /** Most that may be forwarded to the recipient. */
  readonly mostForwarded: bigint
}

export interface TonSettings {
  /** 24 words; the key of all relay wallets is derived from them. */
  readonly mnemonic: Secret
  readonly networks: readonly TonNetworkSettings[]
  readonly rpcTimeoutMs: number
  /** Number of relay wallets; each has one message in flight. */
  readonly relayWallets: number
  readonly relayLimits: RelayLimits
  readonly expiryMarginSeconds: number
  /** From this amount, in smallest units, a second endpoint must confirm a payment. */
  readonly crossCheckAmount: bigint
  readonly lowBalanceSettlements: number
}

const mnemonic = z.string().transform((text, context) => {
  const words = text.trim().split(/\s+/)
  if (words.length === 24 && words.every((word) => /^[a-z]+$/.test(word))) return new Secret(words.join(' '))
  context.addIssue({ code: 'custom', message: 'must be 24 lower-case words, separated by spaces' })
  return z.NEVER
})

const networkNames = z.string().transform((text, context) => {
  const names = splitList(text)
  if (names.length > 0 && names.every((name) => findKnownNetwork(name) !== null)) return names
  context.addIssue({ code: 'custom', message: 'must be mainnet or testnet, or both, comma separated' })
  return z.NEVER
})

const addressForm = /^(?:-1|0):[0-9a-fA-F]{64}$|^[A-Za-z0-9_+/-]{48}$/

const tokens = z.string().transform((text, context) => {
  const parts = splitList(text)
  const offered = parts.filter((part) => part !== '*').map(readTokenFacts)
  if (offered.some(({ asset }) => !addressForm.test(asset))) {
    context.addIssue({ code: 'custom', message: 'must list addresses of jetton masters, or *' })
    return z.NEVER
  }
  return { offered, acceptsAny: parts.includes('*') }
})

const familyShape = {
  TON_MNEMONIC: mnemonic.optional(),
  TON_NETWORKS: networkNames.optional(),
  TON_RPC_TIMEOUT_MS: wholeNumber(100, 60_000).default(5_000),
  TON_RELAY_WALLETS: wholeNumber(1, 64).default(2),
  TON_MIN_RELAY_NANOTON: wholeNumber(0, 1_000_000_000).default(30_000_000),
  TON_MAX_RELAY_NANOTON: wholeNumber(20_000_000, 1_000_000_000).default(60_000_000),
  // What published clients attach.
  TON_MAX_UNRETURNED_NANOTON: wholeNumber(0, 1_000_000_000).default(30_000_000),
  TON_MAX_FORWARD_NANOTON: wholeNumber(0, 1_000_000_000).default(1),
  TON_EXPIRY_MARGIN_SECONDS: wholeNumber(0, 600).default(15),
  TON_CROSS_CHECK_AMOUNT: smallestUnits(78).default(1_000_000_000n),
  TON_LOW_RUNWAY_SETTLES: wholeNumber(0, 1_000_000_000).default(100),
}

const networkShapes = {
  TON_RPC_URL: nodeUrls.optional(),
  TON_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{1,512}$/, 'must be printable characters without spaces')
    .transform((key) => new Secret(key))
    .optional(),
  TON_TOKENS: tokens.optional(),
  TON_POLL_INTERVAL_MS: wholeNumber(10, 60_000).default(1_000),
  TON_RELAY_BUDGET_NANOTON_PER_HOUR: wholeNumber(1, 1_000_000_000_000_000).default(50_000_000_000),
  TON_MIN_PAYMENT: smallestUnits(78).optional(),
  TON_COIN_USD: decimalNumber(1_000_000).optional(),
}

const networkShape = z.object(networkShapes)
type NetworkReading = z.infer<typeof networkShape>

const variables = {
  prefix: 'TON_',
  family: familyShape,
  perNetwork: networkShapes,
  networkId: { form: /mainnet|testnet/, label: 'network', example: 'mainnet' },
}

export const tonVariables = listFamilyVariables(variables)

export const readTonSettings = (
  environment: Readonly<Record<string, string>>,
): SettingsReading<TonSettings> => {
  const reading = readFamilyVariables(variables, environment)
  if ('problems' in reading) return reading
  const { family, networks: readings } = reading
  const withUrl = [...readings]
    .filter(([, { TON_RPC_URL: urls }]) => urls !== undefined)
    .map(([name]) => name)
  const { TON_MNEMONIC: words, TON_NETWORKS: named } = family
  if (words === undefined) {
    if (withUrl.length === 0 && named === undefined) return { settings: null }
    return { problems: ['TON_MNEMONIC: is required to settle on TON'] }
  }
  const networks = chooseNetworks(named, withUrl).map((known) =>
    assembleNetwork(known, readings.get(known.name) ?? networkShape.parse({})),
  )
  return {
    settings: {
      mnemonic: words,
      networks,
      rpcTimeoutMs: family.TON_RPC_TIMEOUT_MS,
      relayWallets: family.TON_RELAY_WALLETS,
      relayLimits: {
        least: BigInt(family.TON_MIN_RELAY_NANOTON),
        most: BigInt(family.TON_MAX_RELAY_NANOTON),
        mostUnreturned: BigInt(family.TON_MAX_UNRETURNED_NANOTON),
        mostForwarded: BigInt(family.TON_MAX_FORWARD_NANOTON),
      },
      expiryMarginSeconds: family.TON_EXPIRY_MARGIN_SECONDS,
      crossCheckAmount: family.TON_CROSS_CHECK_AMOUNT,
      lowBalanceSettlements: family.TON_LOW_RUNWAY_SETTLES,
    },
  }
}

/** The networks named, or those with an endpoint, or (with only a mnemonic) mainnet. */
const chooseNetworks = (
  named: readonly string[] | undefined,
  withUrl: readonly string[],
): readonly KnownNetwork[] => {
  const chosen = named ?? withUrl
  return knownNetworks.filter(({ name, isTestnet }) =>
    chosen.length > 0 ? chosen.includes(name) : !isTestnet,
  )
}

const assembleNetwork = (known: KnownNetwork, reading: NetworkReading): TonNetworkSettings => {
  const offered = reading.TON_TOKENS?.offered ?? []
  const builtIn = known.tokens.map(({ master: asset, ...facts }) => ({ ...facts, asset }))
  const tokens = offered.length === 0 ? builtIn : offered
  return {
    network: `ton:${known.name}`,
    name: known.name,
    globalId: known.globalId,
    zeroState: known.zeroState,
    rpcUrls: reading.TON_RPC_URL ?? [new Secret(known.publicRpcUrl)],
    usesPublicRpc: reading.TON_RPC_URL === undefined,
    apiKey: reading.TON_API_KEY ?? null,
    tokens: tokens.map(({ asset }) => asset),
    tokenFacts: tokens,
    acceptsAnyToken: reading.TON_TOKENS?.acceptsAny ?? false,
    pollIntervalMs: reading.TON_POLL_INTERVAL_MS,
    relayBudgetPerHour: reading.TON_RELAY_BUDGET_NANOTON_PER_HOUR,
    minimumPayment: {
      fixed: reading.TON_MIN_PAYMENT ?? null,
      coinUsd: reading.TON_COIN_USD ?? known.coinUsd,
      stablecoins: known.tokens.map(({ master: asset, decimals }) => ({ asset, decimals })),
    },
  }
}
