import { z } from 'zod'
import { Secret } from '../../platform/secret.js'
import { wholeNumber } from '../../platform/wholeNumber.js'
import type { SettingsReading } from '../chain.js'
import { apiKey, listFamilyVariables, readFamilyVariables } from '../common/familySettings.js'
import {
  assembleSettlingNetwork,
  type SettlingNetworkSettings,
  type SettlingSettings,
  settlingFamilyShape,
  settlingNetworkShape,
  tokenList,
} from '../common/settling/settings.js'
import { findKnownNetwork, type KnownNetwork, knownNetworks } from './networks.js'

export interface TronNetworkSettings extends SettlingNetworkSettings, Pick<KnownNetwork, 'name' | 'chainId'> {
  readonly apiKey: Secret | null
  /** Upper bound of a payment's fee_limit, in sun. */
  readonly maxFeeLimit: bigint
}

export interface SponsorSettings {
  readonly privateKey: Secret
  /** Upper bound per network. */
  readonly energyPerHour: number
  /** Upper bound per network of what delegating and undelegating may burn for bandwidth, in sun. */
  readonly bandwidthSunPerHour: number
}

export interface TronSettings extends SettlingSettings<TronNetworkSettings> {
  readonly expiryMarginSeconds: number
  /** Null: payers use their own energy and TRX. */
  readonly sponsor: SponsorSettings | null
}

const sunPerTrx = 1_000_000

const privateKey = z
  .string()
  .regex(/^(0x)?[0-9a-fA-F]{64}$/, 'must be a 32-byte hex key')
  .transform((text) => new Secret(text.replace(/^0x/, '').toLowerCase()))

const amountDigits = 78

const networkShapes = {
  ...settlingNetworkShape({
    tokens: tokenList({
      isAsset: (text) => /^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(text),
      mayBeEmpty: true,
      message: 'must list contracts in base58, comma separated, or *',
    }),
    amountDigits,
    pollIntervalMs: 1_000,
  }),
  API_KEY: apiKey.optional(),
  MAX_FEE_LIMIT: wholeNumber(1, 15_000).default(1_000),
}

const networkShape = z.object(networkShapes)

const variables = {
  prefix: 'TRON_',
  omitsPrefix: true,
  family: {
    ...settlingFamilyShape(amountDigits),
    PRIVATE_KEY: privateKey.optional(),
    SPONSOR_ENERGY: z.enum(['true', 'false'], 'must be true or false').default('false'),
    SPONSOR_ENERGY_PER_HOUR: wholeNumber(1, 1_000_000_000_000).default(10_000_000),
    SPONSOR_BANDWIDTH_SUN_PER_HOUR: wholeNumber(1, 1_000_000_000_000).default(100_000_000),
    EXPIRY_MARGIN_SECONDS: wholeNumber(0, 600).default(6),
  },
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
  const isSponsoring = family.SPONSOR_ENERGY === 'true'
  if (isSponsoring && family.PRIVATE_KEY === undefined) {
    return { problems: ['TRON_PRIVATE_KEY: is required to delegate energy to payers'] }
  }
  const networks = [...reading.networks].flatMap(([name, network]) => {
    const known = findKnownNetwork(name)
    return known === null || network.RPC_URL === undefined ? [] : [assembleNetwork(known, network)]
  })
  if (networks.length === 0) return { settings: null }
  return {
    settings: {
      networks,
      rpcTimeoutMs: family.RPC_TIMEOUT_MS,
      expiryMarginSeconds: family.EXPIRY_MARGIN_SECONDS,
      crossCheckAmount: family.CROSS_CHECK_AMOUNT,
      sponsor:
        isSponsoring && family.PRIVATE_KEY !== undefined
          ? {
              privateKey: family.PRIVATE_KEY,
              energyPerHour: family.SPONSOR_ENERGY_PER_HOUR,
              bandwidthSunPerHour: family.SPONSOR_BANDWIDTH_SUN_PER_HOUR,
            }
          : null,
    },
  }
}

const assembleNetwork = (
  known: KnownNetwork,
  reading: z.infer<typeof networkShape>,
): TronNetworkSettings => ({
  ...assembleSettlingNetwork(reading, {
    network: `tron:${known.name}`,
    tokensVariable: `TRON_TOKENS_${known.name}`,
    known,
  }),
  name: known.name,
  chainId: known.chainId,
  apiKey: reading.API_KEY ?? null,
  maxFeeLimit: BigInt(reading.MAX_FEE_LIMIT) * BigInt(sunPerTrx),
})
