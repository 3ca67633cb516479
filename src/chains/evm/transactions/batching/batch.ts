import { decodeFunctionData, type Hex, isAddressEqual, parseTransaction } from 'viem'
import { multicallAbi, multicallAddress } from '../../abi/contracts.js'
import { encodeAggregate } from '../../abi/multicall.js'
import { asHex } from '../../abi/words.js'
import type { ContractCall } from '../settlementCall.js'

/** Several calls as one, through Multicall3. Each may fail by itself: one payer's empty account stops no other call. */
export const planBatch = (calls: readonly ContractCall[]): ContractCall => ({
  to: multicallAddress,
  data: encodeAggregate(calls.map(({ to, data }) => ({ target: to, data }))),
})

/** Whether recorded bytes carry several calls, so that the transaction's status proves nothing of each. */
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
