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
  /**
   * The calls that calldata sent to it carries; null unless they are several, or one whose failure does not revert the
   * transaction.
   */
  listCalls(data: Hex): readonly CarriedCall[] | null
}

export interface CarriedCall {
  /** As the contract makes it. */
  readonly made: ContractCall
  /** The same in a transaction of its own. */
  readonly alone: ContractCall
}

export type BatchedCall = Pick<SettlementCall, 'id' | 'to' | 'data'>

export interface Batch extends ContractCall {
  /** Which calls succeeded, in the order that was given; null for the answer of something else. */
  readResults(answer: Hex): readonly boolean[] | null
}

/** The calls of recorded bytes; null where the status of the transaction proves its one call. */
export const listBatchedCalls = (
  bytes: string,
  contracts: readonly BatchContract[],
): readonly CarriedCall[] | null => {
  const { to, data } = parseTransaction(asHex(bytes))
  if (to == null || data === undefined) return null
  return contracts.find(({ address }) => isAddressEqual(to, address))?.listCalls(data) ?? null
}
