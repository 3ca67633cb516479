import { type Hex, isAddressEqual, parseTransaction } from 'viem'
import { asHex } from '../../abi/words.js'
import type { ContractCall, SettlementCall } from '../settlementCall.js'

/** A contract that makes many calls in one transaction; each may fail without affecting the others. */
export interface BatchContract {
  readonly address: Hex
  /** False while no node answers. */
  isDeployed(): Promise<boolean>
  canCarry(call: ContractCall): boolean
  /** Only of calls that it can carry. */
  plan(calls: readonly BatchedCall[]): Batch
  /** Whether calldata sent to it carries several calls, or one whose failure does not revert the transaction. */
  isBatch(data: Hex): boolean
}

export type BatchedCall = Pick<SettlementCall, 'id' | 'to' | 'data'>

export interface Batch extends ContractCall {
  /** Which calls succeeded, in the order that was given; null for the answer of something else. */
  readResults(answer: Hex): readonly boolean[] | null
}

/** Whether the status of a transaction proves nothing about each of its calls. */
export const isBatch = (bytes: string, contracts: readonly BatchContract[]): boolean => {
  const { to, data } = parseTransaction(asHex(bytes))
  if (to == null || data === undefined) return false
  return contracts.some((contract) => isAddressEqual(to, contract.address) && contract.isBatch(data))
}
