import type { Reason } from '../../../protocol/reasons.js'
import type { Verification, VerifyOptions } from '../../../schemes/scheme.js'
import type { IsHeld } from '../verify/holdFunds.js'
import type { PauseGate } from '../verify/pauses.js'
import type { SettlementContext } from './settlementContext.js'

/** Verifies what is to be settled; throws SERVICE_UNAVAILABLE if it is paused. */
type VerifyToSettle = (context: SettlementContext, options: VerifyOptions) => Promise<Verification>

interface VerifyToSettleDependencies {
  readonly isHeld: IsHeld
  readonly pauses: PauseGate
}

/** These rules apply only to payments that were not admitted before. */
const rulesForNew: ReadonlySet<Reason> = new Set(['cross_check_unavailable', 'invalid_permit_spender'])

/** A payment that only a rule for new payments refuses is verified again as admitted, if the caller's /verify holds its funds. */
export const createVerifyToSettle =
  ({ isHeld, pauses }: VerifyToSettleDependencies): VerifyToSettle =>
  async ({ payment, scheme, caller, holdPurpose }, options) => {
    // A hold with its own purpose belongs to a stream, which must be able to close.
    const pause = holdPurpose === undefined ? pauses.find(payment.requirements, caller) : null
    if (pause !== null) await pauses.requireBegun(pause, payment, { scheme, caller, options })
    const verdict = await scheme.verify(payment, options)
    const isAsked = !verdict.isValid && rulesForNew.has(verdict.reason) && caller !== 'anonymous'
    if (!isAsked || options.isAdmitted === true) return verdict
    const admitted = await scheme.verify(payment, { ...options, isAdmitted: true })
    return admitted.isValid && (await isHeld(payment, admitted, caller)) ? admitted : verdict
  }
