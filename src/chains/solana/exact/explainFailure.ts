import { z } from 'zod'
import type { Reason } from '../../../protocol/reasons.js'

/** Why the cluster would not take a payment; `ours` when no payer is to blame. */
export type FailureReason =
  | { readonly reason: Reason; readonly message?: string }
  /** The node's own words are all that is known. */
  | { readonly reason: Reason; readonly message: string; readonly isGeneral: true }
  | { readonly isOurs: true }

const instructionError = z.object({
  InstructionError: z.tuple([z.int(), z.unknown()]),
})
const customError = z.object({ Custom: z.int() })

const transferIndex = 2

// SPL Token's TokenError, which Token-2022 shares.
const tokenErrors: Readonly<Record<number, Reason>> = {
  1: 'insufficient_funds',
  17: 'account_blocked',
}

/** Reads the error of a simulation, in the form in which nodes tell it. */
export const explainFailure = (error: unknown): FailureReason => {
  if (error === 'AlreadyProcessed') return { reason: 'duplicate_settlement' }
  if (error === 'BlockhashNotFound') return { reason: 'settle_exact_svm_block_height_exceeded' }
  // The fee payer is account 0 and ours: it has too little.
  if (error === 'AccountNotFound' || error === 'InsufficientFundsForFee') return { isOurs: true }
  const failed = instructionError.safeParse(error)
  if (!failed.success) {
    // The fee payer is the only account whose lamports change.
    if (isRentError(error)) return { isOurs: true }
    return simulationFailed(error)
  }
  const [index, told] = failed.data.InstructionError
  const custom = customError.safeParse(told)
  const known = custom.success && index === transferIndex ? tokenErrors[custom.data.Custom] : undefined
  return known === undefined ? simulationFailed(error) : { reason: known }
}

const isRentError = (error: unknown): boolean =>
  z.object({ InsufficientFundsForRent: z.object({ account_index: z.literal(0) }) }).safeParse(error).success

const maxTextLength = 160

const simulationFailed = (error: unknown): FailureReason => ({
  reason: 'invalid_exact_svm_transaction_simulation_failed',
  message: `The transfer fails when it is simulated: ${(JSON.stringify(error) ?? '').slice(0, maxTextLength)}`,
  isGeneral: true,
})
