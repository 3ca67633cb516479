import { decodeFunctionData, type Hex, isAddressEqual, parseTransaction } from 'viem'
import { multicallAbi, multicallAddress } from '../../abi/contracts.js'
import { encodeAggregate } from '../../abi/multicall.js'
import { asHex } from '../../abi/words.js'
import type { ContractCall } from '../settlementCall.js'

/** Through Multicall3; each call may fail without affecting the others. */
export const planBatch = (calls: readonly ContractCall[]): ContractCall => ({
  to: multicallAddress,
  data: encodeAggregate(calls.map(({ to, data }) => ({ target: to, data }))),
})

/** Whether the bytes carry several calls: then the transaction's status proves nothing about each. */
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
