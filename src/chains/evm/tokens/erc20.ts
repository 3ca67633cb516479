import { decodeErrorResult, encodeEventTopics, type Hex, hexToBigInt, pad, parseAbi } from 'viem'
import { networkUnavailable } from '../../common/networkUnavailable.js'
import { isSameAddress } from '../abi/address.js'
import { decodeAggregate, encodeAggregate, multicallAddress } from '../abi/multicall.js'
import { addressWord, readWord } from '../abi/words.js'
import type { CallFailure, Rpc } from '../rpc/rpc.js'
import type { Log, Receipt } from '../rpc/wireShapes.js'
import type { ContractCall, Judgement, RevertReason } from '../transactions/settlementCall.js'

/** Functions and events of tokens: ERC-20, both forms of EIP-3009, EIP-5267. */
export const tokenAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
])

// balanceOf(address)
const balanceOf = '0x70a08231'

const wordForm = /^0x[0-9a-fA-F]{64}$/

/** Calldata of `balanceOf`. */
export const encodeBalanceCall = (owner: Hex): Hex => `${balanceOf}${addressWord(owner)}`

/** Reads the latest block. An answer other than one number is none: the address has no such token. */
export const readBalance = async (
  { rpc, network }: { readonly rpc: Pick<Rpc, 'call'>; readonly network: string },
  { asset, owner }: { readonly asset: Hex; readonly owner: Hex },
): Promise<bigint> => {
  const answer = await rpc.call({ to: asset, data: encodeBalanceCall(owner) })
  if (answer.succeeds && wordForm.test(answer.value)) return BigInt(answer.value)
  throw networkUnavailable(network, new Error(`${asset} did not answer balanceOf`))
}

export interface ExpectedTransfer {
  readonly asset: Hex
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
}

export const [transferTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer' })

/** Whether the token logged exactly this transfer. */
export const isTransfer = (log: Log, { asset, from, to, value }: ExpectedTransfer): boolean =>
  isSameAddress(log.address, asset) &&
  log.topics[0] === transferTopic &&
  log.topics[1]?.toLowerCase() === pad(from).toLowerCase() &&
  log.topics[2]?.toLowerCase() === pad(to).toLowerCase() &&
  log.data.length === 66 &&
  hexToBigInt(log.data) === value

/** Judges a transaction of ours that carries only this payment, by its status and the token's Transfer. */
export const judgeReceipt = (receipt: Receipt, expected: ExpectedTransfer): Judgement => {
  if (!receipt.status) return 'reverted'
  return receipt.logs.some((log) => isTransfer(log, expected)) ? 'paid' : 'unpaid'
}

/**
 * Plans a transfer between two reads of the recipient's balance, for tokens that are not listed: it detects transfer
 * fees and transfers without effect.
 */
export const planCreditProbe = (asset: Hex, payTo: Hex, { to, data }: ContractCall): ContractCall => {
  const balance = { target: asset, data: encodeBalanceCall(payTo) }
  return { to: multicallAddress, data: encodeAggregate([balance, { target: to, data }, balance]) }
}

/** Refuses a transfer that credits another amount in its probe; null without one, and while the credit is unknown. */
export const findCreditMismatch = (probe: Hex | null, amount: bigint): RevertReason | null => {
  const credit = probe === null ? null : decodeCredit(probe)
  return credit === null || credit === amount ? null : { reason: 'invalid_exact_evm_transfer_event_mismatch' }
}

/** By how much the recipient's balance grew in a probe, or null when that is unknown. */
const decodeCredit = (answer: Hex): bigint | null => {
  const results = decodeAggregate(answer, 3)
  if (results === null || results.some(({ succeeds }) => !succeeds)) return null
  const [before, , after] = results.map(({ data }) => readWord(data))
  return before == null || after == null ? null : after - before
}

const standardErrors = parseAbi(['error Error(string message)', 'error Panic(uint256 code)'])

/** Takes one short line from the revert data, else from the node's message. */
export const readRevertText = ({ data, message }: CallFailure): string => {
  const text = (data === null ? null : decodeRevertData(data)) ?? message
  // Contracts and nodes are not trusted: the text becomes printable and short, without URLs.
  return text
    .replace(/[^\x20-\x7e]/g, ' ')
    .replace(/https?:\/\/\S+/g, '')
    .slice(0, 160)
    .trim()
}

const decodeRevertData = (data: Hex): string | null => {
  try {
    const { errorName, args } = decodeErrorResult({ abi: standardErrors, data })
    return errorName === 'Error' ? String(args[0]) : `panic ${args[0]}`
  } catch {
    return null
  }
}
