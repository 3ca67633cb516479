import { z } from 'zod'
import type { Reason } from '../../../protocol/reasons.js'

/** Why a simulation failed. `isOurs`: the fee payer lacks funds, not a payer's error. */
export type FailureReason =
  | { readonly reason: Reason; readonly message?: string; readonly isFinal?: true }
  | { readonly reason: Reason; readonly message: string; readonly isGeneral: true }
  | { readonly isOurs: true }

const instructionError = z.object({
  InstructionError: z.tuple([z.int(), z.unknown()]),
})
const customError = z.object({ Custom: z.int() })

const transferIndex = 2

// TokenError of SPL Token and Token-2022.
const tokenErrors: Readonly<Record<number, Reason>> = {
  1: 'insufficient_funds',
  17: 'account_blocked',
}

/** Maps the `err` of simulateTransaction to a reason. */
export const explainFailure = (error: unknown): FailureReason => {
  if (error === 'AlreadyProcessed') {
    return { reason: 'duplicate_settlement', message: 'The transaction is on chain already', isFinal: true }
  }
  if (error === 'BlockhashNotFound') return { reason: 'settle_exact_svm_block_height_exceeded' }
  // Account 0 is the fee payer: it lacks funds.
  if (error === 'AccountNotFound' || error === 'InsufficientFundsForFee') return { isOurs: true }
  const failed = instructionError.safeParse(error)
  if (!failed.success) {
    // Only the fee payer's lamports change.
    if (isRentError(error)) return { isOurs: true }
    return simulationFailed(error)
  }
  const [index, detail] = failed.data.InstructionError
  const custom = customError.safeParse(detail)
  const reason = custom.success && index === transferIndex ? tokenErrors[custom.data.Custom] : undefined
  return reason === undefined ? simulationFailed(error) : { reason: reason }
}

const isRentError = (error: unknown): boolean =>
  z.object({ InsufficientFundsForRent: z.object({ account_index: z.literal(0) }) }).safeParse(error).success

const maxTextLength = 160

const simulationFailed = (error: unknown): FailureReason => ({
  reason: 'invalid_exact_svm_transaction_simulation_failed',
  message: `The transfer fails when it is simulated: ${(JSON.stringify(error) ?? '').slice(0, maxTextLength)}`,
  isGeneral: true,
})
