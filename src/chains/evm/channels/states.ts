import { encodeFunctionData, type Hex } from 'viem'
import { readWord, smaller } from '../abi/words.js'
import type { ContractCall } from '../transactions/settlementCall.js'
import { settlementAbi as abi, decodeTogether, encodeTogether, settlementAddress } from './contract.js'

/* What the settlement knows of channels and receivers. */

/** What the settlement knows of a channel, in one block; amounts in smallest units. */
export interface ChannelState {
  /** Deposits less refunds and withdrawals: what was claimed is still in it. */
  readonly balance: bigint
  readonly totalClaimed: bigint
  readonly withdrawal: bigint
  /** Unix seconds; 0: none is pending. */
  readonly withdrawRequestedAt: number
  readonly refundNonce: bigint
}

/** One call, so that all is read in one block. */
export const planStateRead = (...channelIds: readonly Hex[]): ContractCall => ({
  to: settlementAddress,
  data: encodeTogether(
    channelIds.flatMap((id) => [
      encodeFunctionData({ abi, functionName: 'channels', args: [id] }),
      encodeFunctionData({ abi, functionName: 'pendingWithdrawals', args: [id] }),
      encodeFunctionData({ abi, functionName: 'refundNonce', args: [id] }),
    ]),
  ),
})

/** Null for a call that failed, and for a contract that returns something else. */
export const decodeState = (answer: Hex | null | undefined): ChannelState | null =>
  decodeStates(answer, 1)?.[0] ?? null

/** The same of several channels: null if one of them is not known. */
export const decodeStates = (
  answer: Hex | null | undefined,
  count: number,
): readonly ChannelState[] | null => {
  const results = decodeTogether(answer)
  if (results === null || results.length !== 3 * count) return null
  const states = Array.from({ length: count }, (_, index) =>
    readState(results.slice(3 * index, 3 * index + 3)),
  )
  const known = states.filter((each) => each !== null)
  return known.length === count ? known : null
}

const readState = ([channel, withdrawal, nonce]: readonly Hex[]): ChannelState | null => {
  const [balance, totalClaimed] = readPair(channel)
  const [amount, initiatedAt] = readPair(withdrawal)
  const refundNonce = readWord(nonce)
  if (balance === null || totalClaimed === null || amount === null || initiatedAt === null) return null
  if (refundNonce === null) return null
  const withdrawRequestedAt = Number(smaller(initiatedAt, maxUint40))
  return { balance, totalClaimed, withdrawal: amount, withdrawRequestedAt, refundNonce }
}

const maxUint40 = 2n ** 40n - 1n

/** Balance and claimed total of each channel, in one block. */
export const planTotalsRead = (channelIds: readonly Hex[]): ContractCall => ({
  to: settlementAddress,
  data: encodeTogether(
    channelIds.map((id) => encodeFunctionData({ abi, functionName: 'channels', args: [id] })),
  ),
})

export interface ChannelTotals {
  readonly balance: bigint
  readonly totalClaimed: bigint
}

export const decodeTotals = (
  answer: Hex | null | undefined,
  count: number,
): readonly ChannelTotals[] | null => {
  const results = decodeTogether(answer)
  if (results === null || results.length !== count) return null
  const totals = results.map((result) => {
    const [balance, totalClaimed] = readPair(result)
    return balance === null || totalClaimed === null ? null : { balance, totalClaimed }
  })
  const known = totals.filter((each) => each !== null)
  return known.length === count ? known : null
}

/** What a receiver was credited and paid of one token, over all channels. */
export const planReceiverRead = (receiver: Hex, token: Hex): ContractCall => ({
  to: settlementAddress,
  data: encodeFunctionData({ abi, functionName: 'receivers', args: [receiver, token] }),
})

export interface ReceiverTotals {
  readonly totalClaimed: bigint
  readonly totalSettled: bigint
}

export const decodeReceiver = (answer: Hex | null | undefined): ReceiverTotals | null => {
  const [totalClaimed, totalSettled] = readPair(answer)
  return totalClaimed === null || totalSettled === null ? null : { totalClaimed, totalSettled }
}

const readPair = (answer: Hex | null | undefined): readonly [bigint | null, bigint | null] =>
  answer == null || answer.length !== 2 + 2 * 64
    ? [null, null]
    : [readWord(answer), readWord(`0x${answer.slice(66)}`)]
