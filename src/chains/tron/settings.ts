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
import { completeTokenFacts, readTokenFacts, type TokenFacts } from '../common/tokens.js'
import { findKnownNetwork, type KnownNetwork, type KnownToken, knownNetworks } from './networks.js'

export interface TronNetworkSettings {
  readonly network: string
  readonly name: string
  readonly chainId: string
  readonly rpcUrls: readonly Secret[]
  readonly apiKey: Secret | null
  readonly tokens: readonly string[]
  /** They describe the same tokens, in the same order. */
  readonly tokenFacts: readonly TokenFacts[]
  readonly acceptsAnyToken: boolean
  readonly knownTokens: readonly KnownToken[]
  /** Upper bound of a payment's fee_limit, in sun. */
  readonly maxFeeLimit: bigint
  readonly pollIntervalMs: number
  readonly minimumPayment: MinimumPaymentSettings
}

export interface SponsorSettings {
  readonly privateKey: Secret
  /** Upper bound per network. */
  readonly energyPerHour: number
  /** Upper bound per network of what delegating and undelegating may burn for bandwidth, in sun. */
  readonly bandwidthSunPerHour: number
}

export interface TronSettings {
  readonly networks: readonly TronNetworkSettings[]
  readonly rpcTimeoutMs: number
  readonly expiryMarginSeconds: number
  /** From this value, in smallest units, a second endpoint must confirm a receipt. */
  readonly crossCheckAmount: bigint
  /** Null: payers use their own energy and TRX. */
  readonly sponsor: SponsorSettings | null
}

const sunPerTrx = 1_000_000

const privateKey = z
  .string()
  .regex(/^(0x)?[0-9a-fA-F]{64}$/, 'must be a 32-byte hex key')
  .transform((text) => new Secret(text.replace(/^0x/, '').toLowerCase()))

const tokens = z.string().transform((text, context) => {
  const parts = splitList(text)
  const offered = parts.filter((part) => part !== '*').map(readTokenFacts)
  if (offered.every(({ asset }) => /^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(asset))) {
    return { offered, acceptsAny: parts.includes('*') }
  }
  context.addIssue({ code: 'custom', message: 'must list contracts in base58, comma separated, or *' })
  return z.NEVER
})

const apiKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'must be visible ASCII characters')
  .transform((text) => new Secret(text))

const familyShape = {
  TRON_PRIVATE_KEY: privateKey.optional(),
  TRON_SPONSOR_ENERGY: z.enum(['true', 'false'], 'must be true or false').default('false'),
  TRON_SPONSOR_ENERGY_PER_HOUR: wholeNumber(1, 1_000_000_000_000).default(10_000_000),
  TRON_SPONSOR_BANDWIDTH_SUN_PER_HOUR: wholeNumber(1, 1_000_000_000_000).default(100_000_000),
  TRON_RPC_TIMEOUT_MS: wholeNumber(100, 60_000).default(5_000),
  TRON_EXPIRY_MARGIN_SECONDS: wholeNumber(0, 600).default(6),
  TRON_CROSS_CHECK_AMOUNT: smallestUnits(78).default(1_000_000_000n),
}

const networkShapes = {
  TRON_RPC_URL: nodeUrls.optional(),
  TRON_API_KEY: apiKey.optional(),
  TRON_TOKENS: tokens.optional(),
  TRON_MAX_FEE_LIMIT: wholeNumber(1, 15_000).default(1_000),
  TRON_POLL_INTERVAL_MS: wholeNumber(10, 60_000).default(1_000),
  TRON_MIN_PAYMENT: smallestUnits(78).optional(),
  TRON_COIN_USD: decimalNumber(1_000_000).optional(),
}

const networkShape = z.object(networkShapes)
type NetworkReading = z.infer<typeof networkShape>

const variables = {
  prefix: 'TRON_',
  family: familyShape,
  perNetwork: networkShapes,
  networkId: {
    form: new RegExp(knownNetworks.map(({ name }) => name).join('|')),
    label: 'network',
    example: 'mainnet',
  },
}

export const tronVariables = listFamilyVariables(variables)

export const readTronSettings = (
  environment: Readonly<Record<string, string>>,
): SettingsReading<TronSettings> => {
  const reading = readFamilyVariables(variables, environment)
  if ('problems' in reading) return reading
  const { family } = reading
  const isSponsoring = family.TRON_SPONSOR_ENERGY === 'true'
  if (isSponsoring && family.TRON_PRIVATE_KEY === undefined) {
    return { problems: ['TRON_PRIVATE_KEY: is required to delegate energy to payers'] }
  }
  const networks = [...reading.networks].flatMap(([name, network]) => {
    const known = findKnownNetwork(name)
    return known === null ? [] : assembleNetwork(known, network)
  })
  if (networks.length === 0) return { settings: null }
  return {
    settings: {
      networks,
      rpcTimeoutMs: family.TRON_RPC_TIMEOUT_MS,
      expiryMarginSeconds: family.TRON_EXPIRY_MARGIN_SECONDS,
      crossCheckAmount: family.TRON_CROSS_CHECK_AMOUNT,
      sponsor:
        isSponsoring && family.TRON_PRIVATE_KEY !== undefined
          ? {
              privateKey: family.TRON_PRIVATE_KEY,
              energyPerHour: family.TRON_SPONSOR_ENERGY_PER_HOUR,
              bandwidthSunPerHour: family.TRON_SPONSOR_BANDWIDTH_SUN_PER_HOUR,
            }
          : null,
    },
  }
}

const assembleNetwork = (known: KnownNetwork, reading: NetworkReading): readonly TronNetworkSettings[] => {
  const { name, chainId } = known
  if (reading.TRON_RPC_URL === undefined) return []
  const listed = reading.TRON_TOKENS
  const usesDefaults = listed === undefined || listed.offered.length === 0
  const builtIn = known.tokens.map(({ contract: asset, ...facts }) => ({ ...facts, asset }))
  const tokens = usesDefaults ? builtIn : listed.offered.map((token) => completeTokenFacts(token, builtIn))
  return [
    {
      network: `tron:${name}`,
      name,
      chainId,
      rpcUrls: reading.TRON_RPC_URL,
      apiKey: reading.TRON_API_KEY ?? null,
      tokens: tokens.map(({ asset }) => asset),
      tokenFacts: tokens,
      acceptsAnyToken: listed?.acceptsAny ?? false,
      knownTokens: known.tokens,
      maxFeeLimit: BigInt(reading.TRON_MAX_FEE_LIMIT) * BigInt(sunPerTrx),
      pollIntervalMs: reading.TRON_POLL_INTERVAL_MS,
      minimumPayment: {
        fixed: reading.TRON_MIN_PAYMENT ?? null,
        coinUsd: reading.TRON_COIN_USD ?? known.coinUsd,
        stablecoins: known.tokens.map(({ contract: asset, decimals }) => ({ asset, decimals })),
      },
    },
  ]
}
