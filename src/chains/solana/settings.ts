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
import { readAddress, readKeyBytes, splitKeys } from './encoding/keys.js'
import { findKnownNetwork, knownNetworks } from './networks.js'

export interface SolanaNetworkSettings extends SettlingNetworkSettings {
  readonly reference: string
  /** Upper bound of fees, in lamports. */
  readonly feeBudgetLamportsPerHour: number
}

export interface SolanaSettings extends SettlingSettings<SolanaNetworkSettings> {
  readonly privateKeys: readonly Secret[]
  readonly maxComputeUnits: bigint
  readonly maxPriorityFeeLamports: bigint
  /** It bounds payments whose caller has no API key; at most `maxPriorityFeeLamports`, which holds for all. */
  readonly maxAnonymousPriorityFeeLamports: bigint
  /** A payment is settled only if its blockhash remains valid for this many blocks. */
  readonly expiryMarginBlocks: number
  readonly lowBalanceSettlements: number
}

const privateKeys = z.string().transform((text, context) => {
  const keys = splitKeys(text)
  if (keys.length === 0 || keys.some((key) => readKeyBytes(key) === null)) {
    context.addIssue({
      code: 'custom',
      message: 'must be one or more 64-byte keys in base58 or as JSON arrays, comma separated',
    })
    return z.NEVER
  }
  return [...new Set(keys)].map((key) => new Secret(key))
})

const findByName = (name: string) => knownNetworks.find((known) => known.name === name)

const referenceOf = (name: string): string => findByName(name)?.reference ?? name

const clusterForm = /mainnet|devnet|[1-9A-HJ-NP-Za-km-z]{32}/
const wholeClusterForm = new RegExp(`^(${clusterForm.source})$`)

const clusters = listOf(
  (name) => wholeClusterForm.test(name),
  'must be mainnet, devnet or CAIP-2 references, comma separated',
).transform((names) => names.map(referenceOf))

const amountDigits = 20

const networkShapes = {
  ...settlingNetworkShape({
    tokens: tokenList({
      isAsset: (text) => readAddress(text) !== null,
      mayBeEmpty: false,
      message: 'must list mints in base58, or *',
    }),
    amountDigits,
    pollIntervalMs: 400,
  }),
  FEE_BUDGET_LAMPORTS_PER_HOUR: wholeNumber(1, 1_000_000_000_000).default(1_000_000_000),
}

const networkShape = z.object(networkShapes)

const variables = {
  prefix: 'SOLANA_',
  omitsPrefix: true,
  family: {
    ...settlingFamilyShape(amountDigits),
    PRIVATE_KEY: privateKeys.optional(),
    NETWORKS: clusters.optional(),
    MAX_COMPUTE_UNITS: wholeNumber(1_000, 1_400_000).default(400_000),
    MAX_PRIORITY_FEE_LAMPORTS: wholeNumber(0, 1_000_000_000).default(100_000),
    MAX_ANONYMOUS_PRIORITY_FEE_LAMPORTS: wholeNumber(0, 1_000_000_000).default(10_000),
    EXPIRY_MARGIN_BLOCKS: wholeNumber(0, 140).default(15),
    LOW_SETTLEMENTS_LEFT: wholeNumber(0, 1_000_000_000).default(1_000),
  },
  perNetwork: networkShapes,
  networkId: { form: clusterForm, label: 'cluster', example: 'mainnet' },
}

export const solanaVariables = listFamilyVariables(variables)

export const readSolanaSettings = (
  environment: Readonly<Record<string, string>>,
): SettingsReading<SolanaSettings> => {
  const reading = readFamilyVariables(variables, environment)
  if ('problems' in reading) return reading
  const { family } = reading
  const duplicates = [...reading.networks.keys()].filter(
    (name) => findByName(name) !== undefined && reading.networks.has(referenceOf(name)),
  )
  if (duplicates.length > 0) {
    return {
      problems: duplicates.map(
        (name) => `SOLANA_…_${name}: is configured by its reference as well; keep one of them`,
      ),
    }
  }
  const readings = new Map([...reading.networks].map(([name, network]) => [referenceOf(name), network]))
  const { PRIVATE_KEY: keys, NETWORKS: named } = family
  const withUrl = listWithUrl(readings)
  if (keys === undefined) {
    if (withUrl.length === 0 && named === undefined) return { settings: null }
    return { problems: ['SOLANA_PRIVATE_KEY: is required to settle on Solana'] }
  }
  const chosen = chooseNetworks({ named, withUrl, known: knownNetworks }, ({ reference }) => reference)
  const unreachable = chosen.filter((id) => !withUrl.includes(id) && findKnownNetwork(id) === null)
  if (unreachable.length > 0) {
    return {
      problems: unreachable.map(
        (id) => `SOLANA_RPC_URL_${id}: is required for a cluster that is not built in`,
      ),
    }
  }
  return {
    settings: {
      privateKeys: keys,
      networks: chosen.map((reference) =>
        assembleNetwork(reference, readings.get(reference) ?? networkShape.parse({})),
      ),
      rpcTimeoutMs: family.RPC_TIMEOUT_MS,
      maxComputeUnits: BigInt(family.MAX_COMPUTE_UNITS),
      maxPriorityFeeLamports: BigInt(family.MAX_PRIORITY_FEE_LAMPORTS),
      maxAnonymousPriorityFeeLamports: BigInt(family.MAX_ANONYMOUS_PRIORITY_FEE_LAMPORTS),
      expiryMarginBlocks: family.EXPIRY_MARGIN_BLOCKS,
      crossCheckAmount: family.CROSS_CHECK_AMOUNT,
      lowBalanceSettlements: family.LOW_SETTLEMENTS_LEFT,
    },
  }
}

const assembleNetwork = (reference: string, reading: z.infer<typeof networkShape>): SolanaNetworkSettings => {
  const known = findKnownNetwork(reference)
  return {
    ...assembleSettlingNetwork(reading, {
      network: `solana:${reference}`,
      tokensVariable: `SOLANA_TOKENS_${known?.name ?? reference}`,
      known,
    }),
    reference,
    feeBudgetLamportsPerHour: reading.FEE_BUDGET_LAMPORTS_PER_HOUR,
  }
}
