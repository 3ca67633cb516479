import { decodeFunctionData, type Hex, isAddressEqual, parseTransaction } from 'viem'
import { multicallAbi, multicallAddress } from '../../abi/contracts.js'
import { asHex } from '../../abi/hex.js'
import { encodeAggregate } from '../../abi/multicall.js'
import type { Transfer } from '../../exact/call.js'

/** A call as part of a batch. */
export type BatchedCall = Pick<Transfer, 'to' | 'data'>

/**
 * Several transfers in one transaction, through Multicall3: whoever sends it, the token obeys the payers'
 * signatures. Each call may fail by itself, so one payer's empty account costs the others nothing.
 */
export const planBatch = (calls: readonly BatchedCall[]): BatchedCall => ({
  to: multicallAddress,
  data: encodeAggregate(calls.map(({ to, data }) => ({ target: to, data }))),
})

/** Whether recorded bytes carry several payments, so that the transaction's own success says nothing of each. */
export const isBatch = (bytes: string): boolean => {
  const { to, data } = parseTransaction(asHex(bytes))
  if (to == null || data === undefined || !isAddressEqual(to, multicallAddress)) return false
  return decodeCalls(data).filter(({ allowFailure }) => allowFailure).length > 1
}

const decodeCalls = (data: Hex): readonly { readonly allowFailure: boolean }[] => {
  try {
    return decodeFunctionData({ abi: multicallAbi, data }).args[0]
  } catch {
    return []
  }
}
