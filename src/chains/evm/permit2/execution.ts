import type { Hex } from 'viem'
import type { Receipt, Transaction } from '../rpc/wireShapes.js'
import type { ExpectedTransfer } from '../tokens/erc20.js'
import type { FailureReasons } from '../transactions/settlementCall.js'

/** One execution of a permit, and what proves it. */
export interface PermitExecution {
  /** The payment's identity. */
  readonly id: string
  readonly nonce: bigint
  readonly transfer: ExpectedTransfer
  /** What every calldata contains that executes it directly or through another contract. */
  readonly words: string
  /** The router that may have executed it beside other payments; null for none. */
  readonly router: Hex | null
  /** The only account that may send it; absent: any of ours. */
  readonly sender?: Hex | null
  readonly reasons: FailureReasons
  /** Judges a transaction with a transfer of these terms, by any sender; `unpaid`: it did not execute this permit. */
  judgeTransaction(
    receipt: Receipt,
    transaction: Pick<Transaction, 'to' | 'input'>,
  ): 'paid' | 'unpaid' | 'unknown'
}
