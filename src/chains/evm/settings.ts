import { z } from 'zod'
import { Secret } from '../../platform/secret.js'
import { decimalNumber, wholeNumber } from '../../platform/wholeNumber.js'
import type { ChannelCareRules } from '../../schemes/channelCare.js'
import type { SettingsReading } from '../chain.js'
import {
  listFamilyVariables,
  nodeUrls,
  readFamilyVariables,
  smallestUnits,
  splitList,
} from '../common/familySettings.js'
import type { MinimumPaymentSettings } from '../common/minimumPayment.js'
import {
  findKnownNetwork,
  type KnownNetwork,
  knownNetworks,
  type PlausibleFees,
  plausibleFees,
  plausibleFeesElsewhere,
} from './networks.js'
import { type RefundReceiver, refundReceivers } from './refundReceivers.js'

/** A token that the operator offers; name and version only where the chain does not have them. */
export interface TokenSetting {
  readonly address: `0x${string}`
  readonly name?: string
  readonly version?: string
  readonly decimals?: number
}

export interface EvmNetworkSettings {
  readonly chainId: number
  readonly network: string
  readonly name: string
  /** Endpoints in order of preference; paths and queries often contain API keys. */
  readonly rpcUrls: readonly Secret[]
  readonly usesPublicRpc: boolean
  readonly tokens: readonly TokenSetting[]
  /** Whether tokens that are not listed are settled too. */
  readonly acceptsAnyToken: boolean
  /** Confirmations before a payment counts, including the transaction's own block. */
  readonly confirmations: number
  /** Blocks with this many blocks on top count as final. */
  readonly finalityDepth: number
  readonly pollIntervalMs: number
  /** Upper bound of gas costs per hour, in gwei of the native coin. */
  readonly gasBudgetGweiPerHour: number
  /** The same, beside it, of what would be lost by a wait: captures before deadlines, and claims against withdrawals. */
  readonly urgentGasGweiPerHour: number
  /** Upper bound of the price per gas, in wei; above it the network does not settle. */
  readonly maxFeePerGas: bigint | null
  /** The most of it that goes to block producers as a tip. */
  readonly maxPriorityFeePerGas: bigint | null
  /** What bounds both where the operator does not. */
  readonly plausibleFees: PlausibleFees
  readonly minimumPayment: MinimumPaymentSettings
}

export interface EvmSettings {
  readonly privateKeys: readonly Secret[]
  readonly networks: readonly EvmNetworkSettings[]
  readonly rpcTimeoutMs: number
  /** It bounds a call that runs code of a wallet. */
  readonly walletCallTimeoutMs: number
  /** Minimum remaining validity of an authorization. */
  readonly expiryMarginSeconds: number
  /** A transaction that is pending for longer than this is replaced at a higher price. */
  readonly replaceAfterSeconds: number
  readonly deploysSmartWallets: boolean
  /** Whether permits for the shared router are settled, which pays any recipient. */
  readonly takesSharedRouterPermits: boolean
  readonly smartWalletFactories: readonly `0x${string}`[]
  /** They sign captures for merchants without a key of their own. The first is advertised; empty: none. */
  readonly holdAuthorizerKeys: readonly Secret[]
  /** Payees of `auth-capture` whose refunds the operator pays from what its accounts hold and have allowed. */
  readonly refundReceivers: readonly RefundReceiver[]
  /** For how long, and for what rise of a ceiling in smallest units, one look at a channel answers for its vouchers. */
  readonly channelSnapshots: { readonly maxAgeMs: number; readonly maxRise: bigint }
  /**
   * Sign claims and refunds of channels that delegate both to this facilitator: new ones to the first, older ones to the
   * others. None: it signs for no receiver.
   */
  readonly channelAuthorizerKeys: readonly Secret[]
  /** When vouchers of channels that this facilitator signs for are claimed, and receivers paid. */
  readonly channelCare: ChannelCareRules
  /** From this amount on, in smallest units, a second endpoint must confirm the receipt. */
  readonly crossCheckAmount: bigint
  /** Warns when a signer can pay for fewer settlements than this. */
  readonly lowBalanceSettlements: number
  /** Our name at the end of calldata (ERC-8021); null for none. */
  readonly builderCode: string | null
}

/**
 * Factories of widely used smart wallets, at the same address on every chain: Coinbase Smart Wallet 1 and
 * 1.1, Safe 1.3.0 and 1.4.1. A factory's code runs in our transaction, so this list stays short.
 */
export const wellKnownFactories: readonly `0x${string}`[] = [
  '0x0BA5ED0c6AA8c49038F819E587E2633c4A9F428a',
  '0xba5ed110efdba3d005bfc882d75358acbbb85842',
  '0xa6B71E26C5e0845f74c812102Ca7114b6a896AB2',
  '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67',
]

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an EVM address')
  .transform((text): `0x${string}` => `0x${text.slice(2)}`)

const addresses = z.string().transform((text, context) => {
  if (text.trim() === 'none') return []
  const parsed = z.array(address).safeParse(splitList(text))
  if (parsed.success) return parsed.data
  context.addIssue({ code: 'custom', message: 'must be addresses, comma separated, or none' })
  return z.NEVER
})

const privateKeys = z.string().transform((text, context) => {
  const keys = splitList(text)
  if (keys.length === 0 || keys.some((key) => !/^(0x)?[0-9a-fA-F]{64}$/.test(key))) {
    context.addIssue({ code: 'custom', message: 'must be one or several 32-byte hex keys, comma separated' })
    return z.NEVER
  }
  const unique = new Set(keys.map((key) => (key.startsWith('0x') ? key : `0x${key}`).toLowerCase()))
  return [...unique].map((key) => new Secret(key))
})

const tokenForm =
  /^(?<address>0x[0-9a-fA-F]{40})(?::(?<name>[^:]{1,64}):(?<version>[^:]{1,16})(?::(?<decimals>\d{1,2}))?)?$/

const tokens = z.string().transform((text, context) => {
  const parts = splitList(text)
  const offered: TokenSetting[] = []
  for (const part of parts) {
    if (part === '*') continue
    const groups = tokenForm.exec(part)?.groups
    if (groups === undefined) {
      context.addIssue({
        code: 'custom',
        message: 'must list address or address:name:version[:decimals], or *',
      })
      return z.NEVER
    }
    const { name, version, decimals } = groups
    offered.push({
      address: `0x${(groups.address ?? '').slice(2)}`,
      ...(name === undefined ? {} : { name }),
      ...(version === undefined ? {} : { version }),
      ...(decimals === undefined ? {} : { decimals: Number(decimals) }),
    })
  }
  return { offered, acceptsAny: parts.includes('*') }
})

const chainIds = z.string().transform((text, context) => {
  const ids = splitList(text)
  if (ids.length === 0 || ids.some((id) => !/^[1-9][0-9]{0,14}$/.test(id))) {
    context.addIssue({ code: 'custom', message: 'must be chain ids, comma separated' })
    return z.NEVER
  }
  return ids.map(Number)
})

/** A decimal number of gwei, as wei. */
const gwei = z.string().transform((text, context) => {
  const [, whole = '', fraction = ''] = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text) ?? []
  const wei = BigInt(`${whole}${fraction.padEnd(9, '0')}`)
  if (whole !== '' && wei > 0n) return wei
  context.addIssue({ code: 'custom', message: 'must be a number of gwei above 0, such as 50 or 0.25' })
  return z.NEVER
})

const hourMs = 3_600_000

const familyShape = {
  EVM_PRIVATE_KEY: privateKeys.optional(),
  EVM_NETWORKS: chainIds.optional(),
  EVM_RPC_TIMEOUT_MS: wholeNumber(100, 60_000).default(5_000),
  EVM_WALLET_CALL_TIMEOUT_MS: wholeNumber(100, 60_000).default(1_000),
  EVM_EXPIRY_MARGIN_SECONDS: wholeNumber(0, 600).default(6),
  EVM_REPLACE_AFTER_SECONDS: wholeNumber(1, 3_600).default(30),
  DEPLOY_ERC4337_WITH_EIP6492: z.enum(['true', 'false'], 'must be true or false').default('false'),
  EVM_SHARED_ROUTER_PERMITS: z.enum(['true', 'false'], 'must be true or false').default('false'),
  EVM_SMART_WALLET_FACTORIES: addresses.default([...wellKnownFactories]),
  EVM_HOLD_AUTHORIZER_KEY: privateKeys.default([]),
  EVM_REFUND_RECEIVERS: refundReceivers.default([]),
  EVM_CHANNEL_SNAPSHOT_SECONDS: wholeNumber(0, 300).default(10),
  EVM_CHANNEL_SNAPSHOT_AMOUNT: smallestUnits(78).default(1_000_000n),
  EVM_CHANNEL_AUTHORIZER_KEY: privateKeys.default([]),
  EVM_CHANNEL_CLAIM_WORTH: wholeNumber(1, 1_000_000).default(20),
  EVM_CHANNEL_CLAIM_HOURS: wholeNumber(1, 8_760).default(24),
  EVM_CHANNEL_SWEEP_AMOUNT: smallestUnits(78).default(1_000_000n),
  EVM_CHANNEL_SWEEP_HOURS: wholeNumber(1, 8_760).default(24),
  EVM_BUILDER_CODE: z
    .string()
    .regex(/^[a-z0-9_]{1,32}$/, 'must have 1 to 32 of a-z, 0-9 and _')
    .optional(),
  EVM_CROSS_CHECK_AMOUNT: smallestUnits(78).default(1_000_000_000n),
  EVM_LOW_SETTLEMENTS_LEFT: wholeNumber(0, 1_000_000_000).default(100),
}

/** Settings per chain id, named by the prefix before the id. */
const networkShapes = {
  EVM_RPC_URL: nodeUrls.optional(),
  EVM_TOKENS: tokens.optional(),
  EVM_CONFIRMATIONS: wholeNumber(1, 1_000).default(1),
  EVM_FINALITY_DEPTH: wholeNumber(1, 100_000).optional(),
  EVM_POLL_INTERVAL_MS: wholeNumber(10, 60_000).optional(),
  EVM_GAS_BUDGET_GWEI_PER_HOUR: wholeNumber(1, 1_000_000_000_000).default(500_000_000),
  EVM_URGENT_GAS_GWEI_PER_HOUR: wholeNumber(0, 1_000_000_000_000).default(100_000_000),
  EVM_MAX_FEE_GWEI: gwei.optional(),
  EVM_MAX_TIP_GWEI: gwei.optional(),
  EVM_MIN_PAYMENT: smallestUnits(78).optional(),
  EVM_COIN_USD: decimalNumber(1_000_000).optional(),
}

const networkShape = z.object(networkShapes)
type NetworkReading = z.infer<typeof networkShape>

const variables = {
  prefix: 'EVM_',
  family: familyShape,
  perNetwork: networkShapes,
  networkId: { form: /[1-9][0-9]{0,14}/, label: 'chain id', example: '8453' },
}

/** Variable names, and prefixes of those that end in a chain id. */
export const evmVariables = listFamilyVariables(variables)

/** Problems name variables, never values. */
export const readEvmSettings = (
  environment: Readonly<Record<string, string>>,
): SettingsReading<EvmSettings> => {
  const reading = readFamilyVariables(variables, environment)
  if ('problems' in reading) return reading
  const { family } = reading
  const readings = new Map([...reading.networks].map(([id, network]) => [Number(id), network]))

  const { EVM_PRIVATE_KEY: keys, EVM_NETWORKS: named } = family
  const withUrl = [...readings].filter(([, { EVM_RPC_URL: urls }]) => urls !== undefined).map(([id]) => id)
  if (keys === undefined) {
    if (withUrl.length === 0 && named === undefined) return { settings: null }
    return { problems: ['EVM_PRIVATE_KEY: is required to settle on EVM networks'] }
  }

  const { EVM_CHANNEL_AUTHORIZER_KEY: channelAuthorizerKeys, EVM_HOLD_AUTHORIZER_KEY: holdAuthorizerKeys } =
    family
  // Gas wallets are replaced often; these keys must stay until every channel and hold that names them is over.
  const isGasWallet = (key: Secret): boolean => keys.some((other) => other.reveal() === key.reveal())
  if (channelAuthorizerKeys.some(isGasWallet)) {
    return { problems: ['EVM_CHANNEL_AUTHORIZER_KEY: must not be a key of EVM_PRIVATE_KEY'] }
  }
  if (holdAuthorizerKeys.some(isGasWallet)) {
    return { problems: ['EVM_HOLD_AUTHORIZER_KEY: must not be a key of EVM_PRIVATE_KEY'] }
  }

  const chosen = chooseNetworks(named, withUrl)
  const unreachable = chosen.filter((id) => !withUrl.includes(id) && findKnownNetwork(id) === null)
  if (unreachable.length > 0) {
    return {
      problems: unreachable.map((id) => `EVM_RPC_URL_${id}: is required for a network that is not built in`),
    }
  }

  const networks = chosen.map((chainId) =>
    assembleNetwork(chainId, readings.get(chainId) ?? networkShape.parse({}), findKnownNetwork(chainId)),
  )
  return {
    settings: {
      privateKeys: keys,
      networks,
      rpcTimeoutMs: family.EVM_RPC_TIMEOUT_MS,
      walletCallTimeoutMs: family.EVM_WALLET_CALL_TIMEOUT_MS,
      expiryMarginSeconds: family.EVM_EXPIRY_MARGIN_SECONDS,
      replaceAfterSeconds: family.EVM_REPLACE_AFTER_SECONDS,
      deploysSmartWallets: family.DEPLOY_ERC4337_WITH_EIP6492 === 'true',
      takesSharedRouterPermits: family.EVM_SHARED_ROUTER_PERMITS === 'true',
      smartWalletFactories: family.EVM_SMART_WALLET_FACTORIES,
      holdAuthorizerKeys,
      refundReceivers: family.EVM_REFUND_RECEIVERS,
      channelSnapshots: {
        maxAgeMs: 1_000 * family.EVM_CHANNEL_SNAPSHOT_SECONDS,
        maxRise: family.EVM_CHANNEL_SNAPSHOT_AMOUNT,
      },
      channelAuthorizerKeys,
      channelCare: {
        claimWorth: BigInt(family.EVM_CHANNEL_CLAIM_WORTH),
        claimAfterMs: hourMs * family.EVM_CHANNEL_CLAIM_HOURS,
        sweepAmount: family.EVM_CHANNEL_SWEEP_AMOUNT,
        sweepAfterMs: hourMs * family.EVM_CHANNEL_SWEEP_HOURS,
      },
      crossCheckAmount: family.EVM_CROSS_CHECK_AMOUNT,
      lowBalanceSettlements: family.EVM_LOW_SETTLEMENTS_LEFT,
      builderCode: family.EVM_BUILDER_CODE ?? null,
    },
  }
}

/** Takes the named networks, else those with an endpoint, else (with only a key) the built-in main networks. */
const chooseNetworks = (
  named: readonly number[] | undefined,
  withUrl: readonly number[],
): readonly number[] => {
  if (named !== undefined) return [...new Set(named)]
  if (withUrl.length > 0) return withUrl
  return knownNetworks.filter(({ isTestnet }) => !isTestnet).map(({ chainId }) => chainId)
}

const assembleNetwork = (
  chainId: number,
  reading: NetworkReading,
  known: KnownNetwork | null,
): EvmNetworkSettings => {
  const publicUrls = known === null ? [] : [new Secret(known.publicRpcUrl)]
  const offered = reading.EVM_TOKENS?.offered ?? []
  const usesDefaults =
    reading.EVM_TOKENS === undefined || (reading.EVM_TOKENS.acceptsAny && offered.length === 0)
  return {
    chainId,
    network: `eip155:${chainId}`,
    name: known?.name ?? `chain ${chainId}`,
    rpcUrls: reading.EVM_RPC_URL ?? publicUrls,
    usesPublicRpc: reading.EVM_RPC_URL === undefined,
    tokens: usesDefaults ? (known?.tokens ?? []) : offered,
    // A network that is not built in and has no list accepts any token.
    acceptsAnyToken: reading.EVM_TOKENS?.acceptsAny ?? known === null,
    confirmations: reading.EVM_CONFIRMATIONS,
    finalityDepth: reading.EVM_FINALITY_DEPTH ?? known?.finalityDepth ?? 64,
    pollIntervalMs: reading.EVM_POLL_INTERVAL_MS ?? known?.pollIntervalMs ?? 500,
    gasBudgetGweiPerHour: reading.EVM_GAS_BUDGET_GWEI_PER_HOUR,
    urgentGasGweiPerHour: reading.EVM_URGENT_GAS_GWEI_PER_HOUR,
    maxFeePerGas: reading.EVM_MAX_FEE_GWEI ?? null,
    maxPriorityFeePerGas: reading.EVM_MAX_TIP_GWEI ?? null,
    plausibleFees: known === null ? plausibleFeesElsewhere : plausibleFees,
    minimumPayment: {
      fixed: reading.EVM_MIN_PAYMENT ?? null,
      coinUsd: reading.EVM_COIN_USD ?? known?.coinUsd ?? null,
      stablecoins: (known?.tokens ?? []).map(({ address: asset, decimals }) => ({ asset, decimals })),
    },
  }
}
