import type { QuotaClaim } from '../../../ports/quotas.js'
import type { Requester } from '../../../ports/rateLimiter.js'
import type { SettlementJournal } from '../../../ports/settlementJournal.js'
import type { Payment } from '../../../protocol/payment.js'
import type { SchemeRegistry } from '../../../schemes/registry.js'
import type { Authorized, Refusal } from '../../../schemes/scheme.js'
import { findPromisee } from '../settle/settlementContext.js'
import { checkNewRequirements, checkRequirements, findScheme } from './checkRequirements.js'
import type { HoldFunds } from './holdFunds.js'

/**
 * Verifies a payment whose amount is a maximum and holds the maximum for one holder. Throws INVALID_REQUEST for malformed
 * requirements, and if the chain is unavailable or the budget has no room for the settlement. Has no deadline of its own.
 */
export type HoldAuthorization = (attempt: HoldAttempt) => Promise<Authorized | Refusal>

interface HoldAttempt {
  readonly payment: Payment
  /** Account id, or `anonymous`. */
  readonly caller: string
  /** Names the customer. Default: the caller. */
  readonly quota?: QuotaClaim | null
  /** As in `VerifyOptions`. */
  readonly requester?: Requester | undefined
  /** As in `Reservation`. */
  readonly holder: string
  /** When the hold ends by itself. */
  readonly findEnd: (authorized: Authorized) => Date
  readonly isAwaited: () => boolean
  /** False for what was promised before. */
  readonly isNew: boolean
}

interface HoldAuthorizationDependencies {
  readonly registry: SchemeRegistry
  readonly journal: Pick<SettlementJournal, 'findOpen'>
  readonly holdFunds: HoldFunds
}

export const createHoldAuthorization =
  ({ registry, journal, holdFunds }: HoldAuthorizationDependencies): HoldAuthorization =>
  async ({ payment, caller, quota = null, requester, holder, findEnd, isAwaited, isNew }) => {
    const scheme = findScheme(registry, payment)
    if (typeof scheme === 'string') return { isValid: false, payer: null, reason: scheme }
    const check = isNew ? checkNewRequirements : checkRequirements
    check(payment, scheme)
    const verdict = await scheme.verify(payment, { isAwaited, isAdmitted: !isNew, requester })
    if (!verdict.isValid) return verdict
    if (verdict.hold === undefined) {
      return {
        isValid: false,
        payer: verdict.payer,
        reason: 'unsupported_scheme',
        message: `\`${payment.requirements.scheme}\` settles the whole amount; what is metered needs \`upto\``,
      }
    }
    if (verdict.hold.isGrantedAtSettle === true) {
      return {
        isValid: false,
        payer: verdict.payer,
        reason: 'permit2_allowance_required',
        message:
          'The payer must approve Permit2 before: a signature that grants it can end during the stream',
      }
    }
    const promise = isNew ? 'new' : 'kept'
    const promisee = findPromisee({ caller, quota, requester })
    const terms = { caller, holder, until: findEnd(verdict), promise, promisee } as const
    const held = await holdFunds(payment, verdict, terms)
    // After the hold: no settlement can start meanwhile.
    const settlement = held.isValid ? await journal.findOpen(verdict.authorizationId) : null
    if (settlement === null) return held
    return { isValid: false, payer: verdict.payer, reason: 'duplicate_settlement' }
  }
