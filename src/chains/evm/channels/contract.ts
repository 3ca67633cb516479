import {
  type Abi,
  decodeFunctionResult,
  domainSeparator,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  parseAbi,
  toFunctionSelector,
} from 'viem'
import { setNewest } from '../../../concurrency/boundedMap.js'
import { addressWord, keccak, numberWord, paddedBytes } from '../abi/words.js'
import { type ContractPresence, createPresence } from '../rpc/presence.js'
import type { Rpc } from '../rpc/rpc.js'

/* x402's settlement of payment channels. Its addresses are the same on every chain. */

export const settlementAddress: Hex = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003'

/** They pull deposits for the settlement alone. */
export const collectors = {
  eip3009: '0x4020806089470a89826cB9fB1f4059150b550004',
  permit2: '0x4020425FAf3B746C082C2f942b4E5159887B0005',
} as const satisfies Readonly<Record<string, Hex>>

/** Whether a network has the settlement. */
export const createChannelPresence = (rpc: Pick<Rpc, 'getCode'>): ContractPresence =>
  createPresence(async () => (await rpc.getCode(settlementAddress)) !== '0x')

export const maxUint128 = 2n ** 128n - 1n
/** Bounds of the contract, in seconds. */
export const withdrawDelays = { least: 900, most: 2_592_000 } as const

/** What a channel's id is the hash of; addresses in EIP-55 form. */
export interface ChannelConfig {
  readonly payer: Hex
  /** The key that signs vouchers; zero: the payer's own account does, by ECDSA or EIP-1271. */
  readonly payerAuthorizer: Hex
  readonly receiver: Hex
  /** Signs claims and refunds. */
  readonly receiverAuthorizer: Hex
  readonly token: Hex
  /** Seconds between the announcement of a withdrawal and its execution. */
  readonly withdrawDelay: number
  readonly salt: Hex
}

/** A ceiling that the payer signed, and how much of it is claimed; cumulative, in smallest units. */
export interface VoucherClaim {
  readonly config: ChannelConfig
  readonly maxClaimable: bigint
  readonly signature: Hex
  readonly totalClaimed: bigint
}

const typeHash = (type: string): string => keccak(type).slice(2)
const hashWords = (words: string): string => keccak(Buffer.from(words, 'hex')).slice(2)

const configType = typeHash(
  'ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)',
)
const voucherType = typeHash('Voucher(bytes32 channelId,uint128 maxClaimableAmount)')
const refundType = typeHash('Refund(bytes32 channelId,uint256 nonce,uint128 amount)')
const entryType = 'ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)'
const entryTypeHash = typeHash(entryType)
const batchType = typeHash(`ClaimBatch(ClaimEntry[] claims)${entryType}`)

/** It is that of the settlement's EIP-712 messages. */
export const domainOf = (chainId: number) => ({
  name: 'x402 Batch Settlement',
  version: '1',
  chainId,
  verifyingContract: settlementAddress,
})

const separators = new Map<number, string>()

/** Chains are configured, so that the cache is bounded. */
const separatorOf = (chainId: number): string => {
  const known = separators.get(chainId)
  if (known !== undefined) return known
  const separator = domainSeparator({ domain: domainOf(chainId) }).slice(2)
  separators.set(chainId, separator)
  return separator
}

const digestOf = (chainId: number, struct: string): Hex =>
  `0x${hashWords(`1901${separatorOf(chainId)}${struct}`)}`

/** The config as the ABI encodes it: calldata of a deposit or a refund contains these words. */
export const configWords = (config: ChannelConfig): string =>
  addressWord(config.payer) +
  addressWord(config.payerAuthorizer) +
  addressWord(config.receiver) +
  addressWord(config.receiverAuthorizer) +
  addressWord(config.token) +
  numberWord(config.withdrawDelay) +
  config.salt.slice(2)

/** The EIP-712 hash of the config, which binds chain and contract. */
export const hashChannel = (chainId: number, config: ChannelConfig): Hex =>
  digestOf(chainId, hashWords(configType + configWords(config)))

const maxKnownIds = 10_000
/** Configs whose hash was computed, by it. */
const knownIds = new Map<string, ChannelConfig>()

/** Whether an id is the hash of the config. A channel sends it with every voucher, so that most are compared, not hashed. */
export const isIdOf = (chainId: number, channelId: Hex, config: ChannelConfig): boolean => {
  const key = `${chainId} ${channelId}`
  const known = knownIds.get(key)
  if (known !== undefined && isSameConfig(known, config)) return true
  if (hashChannel(chainId, config) !== channelId) return false
  setNewest(knownIds, key, config, maxKnownIds)
  return true
}

const isSameConfig = (left: ChannelConfig, right: ChannelConfig): boolean =>
  left.payer === right.payer &&
  left.payerAuthorizer === right.payerAuthorizer &&
  left.receiver === right.receiver &&
  left.receiverAuthorizer === right.receiverAuthorizer &&
  left.token === right.token &&
  left.withdrawDelay === right.withdrawDelay &&
  left.salt === right.salt

export const hashVoucher = (chainId: number, channelId: Hex, maxClaimable: bigint): Hex =>
  digestOf(chainId, hashWords(voucherType + channelId.slice(2) + numberWord(maxClaimable)))

export const hashRefund = (
  chainId: number,
  channelId: Hex,
  { nonce, amount }: { readonly nonce: bigint; readonly amount: bigint },
): Hex =>
  digestOf(chainId, hashWords(refundType + channelId.slice(2) + numberWord(nonce) + numberWord(amount)))

interface ClaimEntry {
  readonly channelId: Hex
  readonly maxClaimable: bigint
  readonly totalClaimed: bigint
}

/** Vouchers' signatures are outside the digest. */
export const hashClaims = (chainId: number, entries: readonly ClaimEntry[]): Hex => {
  const hashes = entries.map(({ channelId, maxClaimable, totalClaimed }) =>
    hashWords(entryTypeHash + channelId.slice(2) + numberWord(maxClaimable) + numberWord(totalClaimed)),
  )
  return digestOf(chainId, hashWords(batchType + hashWords(hashes.join(''))))
}

/** The token's nonce of a deposit by ERC-3009. */
export const hashDepositNonce = (channelId: Hex, salt: Hex): Hex =>
  `0x${hashWords(channelId.slice(2) + salt.slice(2))}`

export const settlementAbi = parseAbi([
  'struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'function deposit(ChannelConfig config, uint128 amount, address collector, bytes collectorData)',
  'struct Voucher { ChannelConfig channel; uint128 maxClaimableAmount; }',
  'struct VoucherClaim { Voucher voucher; bytes signature; uint128 totalClaimed; }',
  'function claimWithSignature(VoucherClaim[] claims, bytes authorizerSignature)',
  'function settle(address receiver, address token)',
  'function refundWithSignature(ChannelConfig config, uint128 amount, uint256 nonce, bytes receiverAuthorizerSignature)',
  'function multicall(bytes[] data) returns (bytes[] results)',
  'function channels(bytes32 channelId) view returns (uint128 balance, uint128 totalClaimed)',
  'function pendingWithdrawals(bytes32 channelId) view returns (uint128 amount, uint40 initiatedAt)',
  'function receivers(address receiver, address token) view returns (uint128 totalClaimed, uint128 totalSettled)',
  'function refundNonce(bytes32 channelId) view returns (uint256)',
  'event Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance)',
  'event Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed)',
  'event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount)',
  'event Refunded(bytes32 indexed channelId, address indexed sender, uint128 amount)',
  'event WithdrawInitiated(bytes32 indexed channelId, uint128 amount, uint40 finalizeAfter)',
])
const abi = settlementAbi

const claimSelector = toFunctionSelector(
  'claimWithSignature((((address,address,address,address,address,uint40,bytes32),uint128),bytes,uint128)[],bytes)',
)

const topicOf = (eventName: 'Deposited' | 'Claimed' | 'Settled' | 'Refunded' | 'WithdrawInitiated'): Hex => {
  const events: Abi = abi
  const [topic] = encodeEventTopics({ abi: events, eventName })
  if (typeof topic !== 'string') throw new Error(`${eventName} has no topic`)
  return topic
}

/** First topics of the settlement's events. */
export const topics = {
  deposited: topicOf('Deposited'),
  claimed: topicOf('Claimed'),
  settled: topicOf('Settled'),
  refunded: topicOf('Refunded'),
  withdrawInitiated: topicOf('WithdrawInitiated'),
} as const

export const encodeDeposit = (
  config: ChannelConfig,
  amount: bigint,
  { collector, collectorData }: { readonly collector: Hex; readonly collectorData: Hex },
): Hex =>
  encodeFunctionData({ abi, functionName: 'deposit', args: [config, amount, collector, collectorData] })

const bytesWords = (bytes: Hex): string =>
  numberWord((bytes.length - 2) / 2) + paddedBytes(bytes.slice(2).toLowerCase())

/** Written by hand: the general encoder takes ten times as long for 100 rows, which no other request may wait for. */
export const encodeClaim = (claims: readonly VoucherClaim[], authorizerSignature: Hex): Hex => {
  let offsets = ''
  let tuples = ''
  for (const { config, maxClaimable, signature, totalClaimed } of claims) {
    // Offsets count from the first offset.
    offsets += numberWord(claims.length * 32 + tuples.length / 2)
    // Ten words precede the signature: seven of the config, the ceiling, this offset and the total.
    tuples += configWords(config) + numberWord(maxClaimable) + numberWord(10 * 32)
    tuples += numberWord(totalClaimed) + bytesWords(signature)
  }
  const rows = numberWord(claims.length) + offsets + tuples
  const heads = numberWord(2 * 32) + numberWord(2 * 32 + rows.length / 2)
  return `${claimSelector}${heads}${rows}${bytesWords(authorizerSignature)}`
}

export const encodeSettle = (receiver: Hex, token: Hex): Hex =>
  encodeFunctionData({ abi, functionName: 'settle', args: [receiver, token] })

export const encodeRefund = (
  config: ChannelConfig,
  { amount, nonce, signature }: { readonly amount: bigint; readonly nonce: bigint; readonly signature: Hex },
): Hex =>
  encodeFunctionData({ abi, functionName: 'refundWithSignature', args: [config, amount, nonce, signature] })

/** All or nothing, in one transaction. */
export const encodeTogether = (calls: readonly Hex[]): Hex =>
  encodeFunctionData({ abi, functionName: 'multicall', args: [calls] })

export const decodeTogether = (answer: Hex | null | undefined): readonly Hex[] | null => {
  if (answer == null || answer === '0x') return null
  try {
    return decodeFunctionResult({ abi, functionName: 'multicall', data: answer })
  } catch {
    // Another contract than the published one answers something else.
    return null
  }
}
