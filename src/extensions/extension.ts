import type { Requester } from '../ports/rateLimiter.js'
import type { JsonObject } from '../protocol/fields.js'
import type { Payment } from '../protocol/payment.js'
import type { Reason } from '../protocol/reasons.js'
import type { SettleResult } from '../protocol/results.js'

/** A malformed extension. Of the resource server: INVALID_REQUEST; of the payer: a refusal. */
export interface ExtensionProblem {
  readonly origin: 'requirements' | 'payload'
  /** Path below `extensions`, such as `bazaar.info`. */
  readonly path: string
  readonly message: string
  /** The refusal has it; default `invalid_extension`. */
  readonly reason?: Reason
}

export interface SettledPayment {
  readonly payment: Payment
  readonly result: SettleResult
  /** Account id, or `anonymous`. */
  readonly caller: string
  /** Whose share of limited work its listing uses; absent: that of the caller. */
  readonly requester?: Requester
  /** As in the log line of the request that settled. */
  readonly requestId?: string
}

/** One protocol extension that asks something of a facilitator. Keys of no extension pass untouched. */
export interface PaymentExtension {
  /** Every name of it, as in `/supported.extensions`. */
  readonly keys: readonly string[]
  /** Bounded, synchronous, never throws; null if the payment does not use it or nothing is malformed. */
  findProblem(payment: Payment): ExtensionProblem | null
  /** After a settle that succeeded or is pending: what the answer says of it; null: nothing. */
  onSettled?(settled: SettledPayment): Promise<ExtensionAnswer | null>
}

interface ExtensionAnswer {
  readonly key: string
  readonly answer: JsonObject
}
