import { z } from 'zod'
import { Secret } from '../../platform/secret.js'
import { wholeNumber } from '../../platform/wholeNumber.js'
import type { SettingsReading } from '../chain.js'
import { listFamilyVariables, listOf, readFamilyVariables } from '../common/familySettings.js'
import {
  assembleSettlingNetwork,
  chooseNetworks,
  listWithUrl,
  type SettlingNetworkSettings,
  type SettlingSettings,
  settlingFamilyShape,
  settlingNetworkShape,
  tokenList,
} from '../common/settling/settings.js'
import { findKnownNetwork, type KnownNetwork, knownNetworks } from './networks.js'

/** Endpoints are those of toncenter's API v2. */
export interface TonNetworkSettings
  extends SettlingNetworkSettings,
    Pick<KnownNetwork, 'name' | 'globalId' | 'zeroState'> {
  readonly apiKey: Secret | null
  /** Upper bound of nanoTON attached by relaying and burnt for its fees. */
  readonly relayBudgetPerHour: number
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

export interface TonSettings extends SettlingSettings<TonNetworkSettings> {
  /** 24 words; the key of all relay wallets is derived from them. */
  readonly mnemonic: Secret
  /** Number of relay wallets; each has one message in flight. */
  readonly relayWallets: number
  readonly relayLimits: RelayLimits
  readonly expiryMarginSeconds: number
  readonly lowBalanceSettlements: number
}

const mnemonic = z.string().transform((text, context) => {
  const words = text.trim().split(/\s+/)
  if (words.length === 24 && words.every((word) => /^[a-z]+$/.test(word))) return new Secret(words.join(' '))
  context.addIssue({ code: 'custom', message: 'must be 24 lower-case words, separated by spaces' })
  return z.NEVER
})

const networkNames = listOf(
  (name) => findKnownNetwork(name) !== null,
  'must be mainnet or testnet, or both, comma separated',
)

const addressForm = /^(?:-1|0):[0-9a-fA-F]{64}$|^[A-Za-z0-9_+/-]{48}$/

const amountDigits = 78

const networkShapes = {
  ...settlingNetworkShape({
    tokens: tokenList({
      isAsset: (text) => addressForm.test(text),
      mayBeEmpty: true,
      message: 'must list addresses of jetton masters, or *',
    }),
    amountDigits,
    pollIntervalMs: 1_000,
  }),
  API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{1,512}$/, 'must be printable characters without spaces')
    .transform((key) => new Secret(key))
    .optional(),
  RELAY_BUDGET_NANOTON_PER_HOUR: wholeNumber(1, 1_000_000_000_000_000).default(50_000_000_000),
}

const networkShape = z.object(networkShapes)

const variables = {
  prefix: 'TON_',
  omitsPrefix: true,
  family: {
    ...settlingFamilyShape(amountDigits),
    MNEMONIC: mnemonic.optional(),
    NETWORKS: networkNames.optional(),
    RELAY_WALLETS: wholeNumber(1, 64).default(2),
    MIN_RELAY_NANOTON: wholeNumber(0, 1_000_000_000).default(30_000_000),
    MAX_RELAY_NANOTON: wholeNumber(20_000_000, 1_000_000_000).default(60_000_000),
    // What published clients attach.
    MAX_UNRETURNED_NANOTON: wholeNumber(0, 1_000_000_000).default(30_000_000),
    MAX_FORWARD_NANOTON: wholeNumber(0, 1_000_000_000).default(1),
    EXPIRY_MARGIN_SECONDS: wholeNumber(0, 600).default(15),
    LOW_SETTLEMENTS_LEFT: wholeNumber(0, 1_000_000_000).default(100),
  },
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
  const { MNEMONIC: words, NETWORKS: named } = family
  const withUrl = listWithUrl(readings)
  if (words === undefined) {
    if (withUrl.length === 0 && named === undefined) return { settings: null }
    return { problems: ['TON_MNEMONIC: is required to settle on TON'] }
  }
  const chosen = chooseNetworks({ named, withUrl, known: knownNetworks }, ({ name }) => name)
  return {
    settings: {
      mnemonic: words,
      networks: knownNetworks
        .filter(({ name }) => chosen.includes(name))
        .map((known) => assembleNetwork(known, readings.get(known.name) ?? networkShape.parse({}))),
      rpcTimeoutMs: family.RPC_TIMEOUT_MS,
      relayWallets: family.RELAY_WALLETS,
      relayLimits: {
        least: BigInt(family.MIN_RELAY_NANOTON),
        most: BigInt(family.MAX_RELAY_NANOTON),
        mostUnreturned: BigInt(family.MAX_UNRETURNED_NANOTON),
        mostForwarded: BigInt(family.MAX_FORWARD_NANOTON),
      },
      expiryMarginSeconds: family.EXPIRY_MARGIN_SECONDS,
      crossCheckAmount: family.CROSS_CHECK_AMOUNT,
      lowBalanceSettlements: family.LOW_SETTLEMENTS_LEFT,
    },
  }
}

const assembleNetwork = (known: KnownNetwork, reading: z.infer<typeof networkShape>): TonNetworkSettings => ({
  ...assembleSettlingNetwork(reading, {
    network: `ton:${known.name}`,
    tokensVariable: `TON_TOKENS_${known.name}`,
    known,
  }),
  name: known.name,
  globalId: known.globalId,
  zeroState: known.zeroState,
  apiKey: reading.API_KEY ?? null,
  relayBudgetPerHour: reading.RELAY_BUDGET_NANOTON_PER_HOUR,
})
