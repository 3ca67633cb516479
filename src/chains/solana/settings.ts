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
import { readAddress } from './encoding/base58.js'
import { readKeyBytes, splitKeys } from './encoding/privateKey.js'
import { findKnownNetwork, type KnownNetwork, knownNetworks } from './networks.js'

export interface SolanaNetworkSettings {
  readonly network: string
  readonly reference: string
  readonly name: string
  /** For messages. */
  readonly tokensVariable: string
  readonly rpcUrls: readonly Secret[]
  readonly usesPublicRpc: boolean
  readonly tokens: readonly string[]
  /** They describe the same tokens, in the same order. */
  readonly tokenFacts: readonly TokenFacts[]
  readonly acceptsAnyToken: boolean
  readonly pollIntervalMs: number
  /** Upper bound of fees, in lamports. */
  readonly feeBudgetLamportsPerHour: number
  readonly minimumPayment: MinimumPaymentSettings
}

export interface SolanaSettings {
  readonly privateKeys: readonly Secret[]
  readonly networks: readonly SolanaNetworkSettings[]
  readonly rpcTimeoutMs: number
  readonly maxComputeUnits: bigint
  readonly maxPriorityFeeLamports: bigint
  /** It bounds payments whose caller has no API key; at most `maxPriorityFeeLamports`, which holds for all. */
  readonly maxAnonymousPriorityFeeLamports: bigint
  /** A payment is settled only if its blockhash remains valid for this many blocks. */
  readonly expiryMarginBlocks: number
  /** From this amount, in smallest units, a second endpoint must confirm a payment. */
  readonly crossCheckAmount: bigint
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

const tokens = z.string().transform((text, context) => {
  const parts = splitList(text)
  const listed = parts.filter((part) => part !== '*').map(readTokenFacts)
  if (parts.length === 0 || listed.some(({ asset }) => readAddress(asset) === null)) {
    context.addIssue({ code: 'custom', message: 'must list mints in base58, or *' })
    return z.NEVER
  }
  return { listed, acceptsAny: parts.includes('*') }
})

const clusterNames: Readonly<Record<string, string>> = {
  mainnet: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
}

const referenceOf = (name: string): string => clusterNames[name] ?? name

const clusterForm = /mainnet|devnet|[1-9A-HJ-NP-Za-km-z]{32}/

const clusters = z.string().transform((text, context) => {
  const names = splitList(text)
  const form = new RegExp(`^(${clusterForm.source})$`)
  if (names.length === 0 || names.some((name) => !form.test(name))) {
    context.addIssue({
      code: 'custom',
      message: 'must be mainnet, devnet or CAIP-2 references, comma separated',
    })
    return z.NEVER
  }
  return names.map(referenceOf)
})

const familyShape = {
  SOLANA_PRIVATE_KEY: privateKeys.optional(),
  SOLANA_NETWORKS: clusters.optional(),
  SOLANA_RPC_TIMEOUT_MS: wholeNumber(100, 60_000).default(5_000),
  SOLANA_MAX_COMPUTE_UNITS: wholeNumber(1_000, 1_400_000).default(400_000),
  SOLANA_MAX_PRIORITY_FEE_LAMPORTS: wholeNumber(0, 1_000_000_000).default(100_000),
  SOLANA_MAX_ANONYMOUS_PRIORITY_FEE_LAMPORTS: wholeNumber(0, 1_000_000_000).default(10_000),
  SOLANA_EXPIRY_MARGIN_BLOCKS: wholeNumber(0, 140).default(15),
  SOLANA_CROSS_CHECK_AMOUNT: smallestUnits(20).default(1_000_000_000n),
  SOLANA_LOW_RUNWAY_SETTLES: wholeNumber(0, 1_000_000_000).default(1_000),
}

const networkShapes = {
  SOLANA_RPC_URL: nodeUrls.optional(),
  SOLANA_TOKENS: tokens.optional(),
  SOLANA_POLL_INTERVAL_MS: wholeNumber(10, 60_000).default(400),
  SOLANA_FEE_BUDGET_LAMPORTS_PER_HOUR: wholeNumber(1, 1_000_000_000_000).default(1_000_000_000),
  SOLANA_MIN_PAYMENT: smallestUnits(20).optional(),
  SOLANA_COIN_USD: decimalNumber(1_000_000).optional(),
}

const networkShape = z.object(networkShapes)
type NetworkReading = z.infer<typeof networkShape>

const variables = {
  prefix: 'SOLANA_',
  family: familyShape,
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
    (name) => clusterNames[name] !== undefined && reading.networks.has(referenceOf(name)),
  )
  if (duplicates.length > 0) {
    return {
      problems: duplicates.map(
        (name) => `SOLANA_…_${name}: is configured by its reference as well; keep one of them`,
      ),
    }
  }
  const readings = new Map([...reading.networks].map(([name, network]) => [referenceOf(name), network]))

  const { SOLANA_PRIVATE_KEY: keys, SOLANA_NETWORKS: requested } = family
  const withUrl = [...readings]
    .filter(([, network]) => network.SOLANA_RPC_URL !== undefined)
    .map(([id]) => id)
  if (keys === undefined) {
    if (withUrl.length === 0 && requested === undefined) return { settings: null }
    return { problems: ['SOLANA_PRIVATE_KEY: is required to settle on Solana'] }
  }
  const chosen = chooseNetworks(requested, withUrl)
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
        assembleNetwork(
          reference,
          readings.get(reference) ?? networkShape.parse({}),
          findKnownNetwork(reference),
        ),
      ),
      rpcTimeoutMs: family.SOLANA_RPC_TIMEOUT_MS,
      maxComputeUnits: BigInt(family.SOLANA_MAX_COMPUTE_UNITS),
      maxPriorityFeeLamports: BigInt(family.SOLANA_MAX_PRIORITY_FEE_LAMPORTS),
      maxAnonymousPriorityFeeLamports: BigInt(family.SOLANA_MAX_ANONYMOUS_PRIORITY_FEE_LAMPORTS),
      expiryMarginBlocks: family.SOLANA_EXPIRY_MARGIN_BLOCKS,
      crossCheckAmount: family.SOLANA_CROSS_CHECK_AMOUNT,
      lowBalanceSettlements: family.SOLANA_LOW_RUNWAY_SETTLES,
    },
  }
}

/** The clusters named, or those with an endpoint, or (with only a key) mainnet. */
const chooseNetworks = (
  requested: readonly string[] | undefined,
  withUrl: readonly string[],
): readonly string[] => {
  if (requested !== undefined) return [...new Set(requested)]
  if (withUrl.length > 0) return withUrl
  return knownNetworks.filter(({ isTestnet }) => !isTestnet).map(({ reference }) => reference)
}

const findClusterName = (reference: string): string | undefined =>
  Object.keys(clusterNames).find((name) => clusterNames[name] === reference)

const assembleNetwork = (
  reference: string,
  reading: NetworkReading,
  known: KnownNetwork | null,
): SolanaNetworkSettings => {
  const publicUrls = known === null ? [] : [new Secret(known.publicRpcUrl)]
  const { listed = [], acceptsAny = known === null } = reading.SOLANA_TOKENS ?? {}
  const builtIn = known?.tokens.map(({ mint: asset, ...facts }) => ({ ...facts, asset })) ?? []
  const tokens = listed.length > 0 ? listed.map((token) => completeTokenFacts(token, builtIn)) : builtIn
  return {
    network: `solana:${reference}`,
    reference,
    name: known?.name ?? `cluster ${reference}`,
    tokensVariable: `SOLANA_TOKENS_${findClusterName(reference) ?? reference}`,
    rpcUrls: reading.SOLANA_RPC_URL ?? publicUrls,
    usesPublicRpc: reading.SOLANA_RPC_URL === undefined,
    tokens: tokens.map(({ asset }) => asset),
    tokenFacts: tokens,
    // A cluster that is not built in accepts any mint unless mints are listed.
    acceptsAnyToken: acceptsAny,
    pollIntervalMs: reading.SOLANA_POLL_INTERVAL_MS,
    feeBudgetLamportsPerHour: reading.SOLANA_FEE_BUDGET_LAMPORTS_PER_HOUR,
    minimumPayment: {
      fixed: reading.SOLANA_MIN_PAYMENT ?? null,
      coinUsd: reading.SOLANA_COIN_USD ?? known?.coinUsd ?? null,
      stablecoins: (known?.tokens ?? []).map(({ mint: asset, decimals }) => ({ asset, decimals })),
    },
  }
}
