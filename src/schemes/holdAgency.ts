import type { AgentHold, HeldState, HoldMove } from '../ports/heldPayments.js'
import type { Payment } from '../protocol/payment.js'

/** Signs for merchants who have no key of their own that decides what becomes of a hold. */
export interface HoldAgency {
  /** Null unless the payment asks for a hold that names a key of ours. The payment may be wrong in every other respect. */
  find(payment: Payment): AgentHold | null
  /** Throws only if the chain is unavailable. */
  readState(hold: AgentHold): Promise<HeldState>
  /** The request for /settle, which is the same each time. Null: the key that the payer named is not configured any more. */
  sign(hold: AgentHold, move: HoldMove): Promise<Payment | null>
}
