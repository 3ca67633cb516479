import { AppError } from '../../../errors.js'
import type { Clock } from '../../../ports/clock.js'
import type { FundsHold, HoldObstacle, Holds, Promisee, TakenBy } from '../../../ports/holds.js'
import type { QuotaClaim } from '../../../ports/quotas.js'
import type { Requester } from '../../../ports/rateLimiter.js'
import type { SettlementJournal } from '../../../ports/settlementJournal.js'
import type { Payment } from '../../../protocol/payment.js'
import type { SchemeRegistry } from '../../../schemes/registry.js'
import type { Authorized, Hold, Refusal, Verification } from '../../../schemes/scheme.js'
import { findPromisee } from '../settle/settlementContext.js'
import { checkNewRequirements, checkRequirements, findScheme } from './checkRequirements.js'

/**
 * Holds what an authorization needs until it is settled; passes all other verdicts. Refused as `insufficient_funds`
 * if the payer's other authorizations hold too much of the balance or the allowance, and as `duplicate_settlement` if the
 * authorization is held for another.
 */
export type HoldFunds = (
  payment: Payment,
  verdict: Verification,
  terms: HoldTerms,
) => Promise<Held | HoldRefusal>

export type HoldRefusal = Refusal & {
  /** Absent: the refusal has another cause than a hold of the authorization. */
  readonly takenBy?: TakenBy
}

export type Held = Authorized & {
  /** Undoes a hold of `settle` that no claim followed. Absent where nothing was held, or for another purpose. */
  readonly releaseUnclaimed?: () => Promise<void>
  /** As in `HoldResult`: there is nothing to look up in the journal. */
  readonly isUnclaimed?: true
}

interface HoldTerms {
  /** Account id, or `anonymous`. */
  readonly caller: string
  /** As in `FundsHold`. */
  readonly purpose: string
  /**
   * Whether the settlement is promised, as in `FundsHold`. `new`: if the budget has room, unless it is promised already;
   * `kept`: it was promised before. Default: `none`.
   */
  readonly promise?: 'none' | 'new' | 'kept'
  /** As in `FundsHold`. */
  readonly promisee?: Promisee
  /** When the hold ends by itself. Default: when the resource server stops to wait. */
  readonly until?: Date
}

interface HoldFundsDependencies {
  readonly holds: Pick<Holds, 'place' | 'needsPromise' | 'findTaker' | 'releaseUnclaimed'>
  readonly clock: Clock
}

/** Whether an authorization may have a hold, of its own scheme or of another one. */
export const canBeHeld = ({ hold, isHoldable }: Authorized): boolean =>
  hold !== undefined || isHoldable === true

/** Whether the account's funds are held for the payment, of which the verdict moves at most what is held. */
export type IsHeld = (payment: Payment, verdict: Authorized, caller: string) => Promise<boolean>

export const createIsHeld =
  (holds: Pick<Holds, 'covers'>): IsHeld =>
  async (payment, { authorizationId, amount }, caller) =>
    caller !== 'anonymous' &&
    (await holds.covers({ amount, ...describeHolding(payment, authorizationId, caller) }))

export const createHoldFunds =
  ({ holds, clock }: HoldFundsDependencies): HoldFunds =>
  async (payment, verdict, terms) => {
    const { caller, purpose, promise = 'none' } = terms
    const { promisee = { part: caller, customer: caller } } = terms
    if (!verdict.isValid || !canBeHeld(verdict)) return verdict
    const asking = { purpose, ...describeHolding(payment, verdict.authorizationId, caller) }
    if (!hasHold(verdict)) {
      const taker = await holds.findTaker(asking)
      return taker === null ? verdict : refuseTaken(verdict, taker)
    }
    const isBounded = verdict.checkPromise !== undefined
    const isNeeded = isBounded && promise === 'new' && (await holds.needsPromise(asking))
    const endPromise = isNeeded ? await verdict.checkPromise?.(promisee) : undefined
    const placing = holds.place(
      {
        isPromised: isNeeded || (isBounded && promise === 'kept'),
        promisee,
        ...describeHold(payment, verdict, terms, clock.now()),
      },
      verdict.hold,
    )
    const result = await placing.catch((error: unknown) => {
      endPromise?.(false)
      throw error
    })
    endPromise?.(result.state === 'held' && result.isNewPromise === true)
    if (result.state !== 'held') return refuseHold(verdict, result)
    return {
      ...verdict,
      ...(result.isPromised === true ? { isPromised: true } : {}),
      ...(result.promisee === undefined ? {} : { promisee: result.promisee }),
      ...(result.isUnclaimed === true ? { isUnclaimed: true } : {}),
      ...(purpose === 'settle' ? { releaseUnclaimed: () => holds.releaseUnclaimed(result.receipt) } : {}),
    }
  }

/** As `HoldFunds`, and holds nothing: no budget is asked, and nothing is promised. */
export type PreviewHold = (
  payment: Payment,
  verdict: Verification,
  terms: Pick<HoldTerms, 'caller' | 'purpose'>,
) => Promise<Verification>

export const createPreviewHold =
  ({
    holds,
    clock,
  }: {
    readonly holds: Pick<Holds, 'findObstacle' | 'findTaker'>
    readonly clock: Clock
  }): PreviewHold =>
  async (payment, verdict, terms) => {
    if (!verdict.isValid || !canBeHeld(verdict)) return verdict
    if (!hasHold(verdict)) {
      const { caller, purpose } = terms
      const holding = describeHolding(payment, verdict.authorizationId, caller)
      const taker = await holds.findTaker({ purpose, ...holding })
      return taker === null ? verdict : refuseTaken(verdict, taker)
    }
    const described = describeHold(payment, verdict, terms, clock.now())
    const obstacle = await holds.findObstacle(described, verdict.hold)
    return obstacle === null ? verdict : refuseHold(verdict, obstacle)
  }

type HeldVerdict = Authorized & { readonly hold: Hold }

const hasHold = (verdict: Authorized): verdict is HeldVerdict => verdict.hold !== undefined

const describeHold = (
  payment: Payment,
  verdict: HeldVerdict,
  { caller, purpose, until }: Pick<HoldTerms, 'caller' | 'purpose' | 'until'>,
  now: Date,
): FundsHold => {
  const { hold, payer, authorizationId, amount } = verdict
  const { network, maxTimeoutSeconds } = payment.requirements
  return {
    purpose,
    network,
    payer: foldHex(payer),
    spender: foldHex(hold.spender),
    amount,
    expiresAt: until ?? findEnd(verdict, maxTimeoutSeconds, now),
    ...describeHolding(payment, authorizationId, caller),
  }
}

const refuseTaken = ({ payer }: Authorized, by: TakenBy): HoldRefusal => ({
  isValid: false,
  payer,
  reason: 'duplicate_settlement',
  message: takenBy[by],
  takenBy: by,
})

/** Throws RATE_LIMITED where the payer has too many holds. */
const refuseHold = (verdict: HeldVerdict, obstacle: HoldObstacle): HoldRefusal => {
  const { payer, amount, hold } = verdict
  switch (obstacle.state) {
    case 'exceeds': {
      const message = describeExcess(amount, hold, obstacle)
      return { isValid: false, payer, reason: 'insufficient_funds', message }
    }
    case 'taken':
      return refuseTaken(verdict, obstacle.by)
    case 'too_many':
      throw new AppError('RATE_LIMITED', 'Too many authorizations of this payer wait to be settled', {
        operationalCode: 'SVC-2005',
        retryAfterSeconds,
      })
  }
}

const retryAfterSeconds = 10

export const takenBy: Readonly<Record<TakenBy, string>> = {
  account: 'This authorization is held for another account',
  recipient: 'An authorization with this nonce is reserved for another recipient',
  asset: 'An authorization with this nonce is reserved for another asset',
  stream: 'This authorization pays a stream that is open',
  settlement: 'This authorization is being settled',
}

/** At the latest when the resource server stops to wait, whatever the payer signed. Each verify and settle renews it. */
const findEnd = ({ expiresAt, hold }: Authorized, maxTimeoutSeconds: number, now: Date): Date => {
  const waitMs = Math.ceil(maxTimeoutSeconds) * 1_000
  const latest = now.getTime() + Math.min(waitMs, hold?.maxMs ?? waitMs)
  return new Date(Math.min(latest, expiresAt?.getTime() ?? latest))
}

/** Names an authorization as holds do. */
export const describeHolding = ({ requirements }: Payment, authorizationId: string, account: string) => ({
  authorizationId,
  account,
  asset: foldHex(requirements.asset),
  payTo: foldHex(requirements.payTo),
})

/** Hex addresses are case-insensitive, base58 is not. */
const foldHex = (address: string): string => (address.startsWith('0x') ? address.toLowerCase() : address)

const describeExcess = (
  amount: bigint,
  { balance, allowance }: Hold,
  { limit, heldByOthers }: Extract<HoldObstacle, { state: 'exceeds' }>,
): string => {
  const limiting = balance === null ? "The balance of the payer's account" : 'The allowance of the payer'
  const [name, available] = limit === 'balance' ? ["The payer's balance", balance] : [limiting, allowance]
  return `${name} is ${available}; other authorizations that are not settled yet hold ${heldByOthers} of it, which leaves too little for ${amount}`
}

/**
 * Verifies a payment whose amount is a maximum and holds the maximum for one purpose. Throws INVALID_REQUEST for malformed
 * requirements, and if the chain is unavailable or the budget has no room for the settlement. Has no deadline of its own.
 */
export type HoldAuthorization = (attempt: HoldAttempt) => Promise<Authorized | HoldRefusal>

interface HoldAttempt {
  readonly payment: Payment
  /** Account id, or `anonymous`. */
  readonly caller: string
  /** Names the customer. Default: the caller. */
  readonly quota?: QuotaClaim | null
  /** As in `VerifyOptions`. */
  readonly requester?: Requester | undefined
  /** As in `FundsHold`. */
  readonly purpose: string
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
  async ({ payment, caller, quota = null, requester, purpose, findEnd, isAwaited, isNew }) => {
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
    const terms = { caller, purpose, until: findEnd(verdict), promise, promisee } as const
    const held = await holdFunds(payment, verdict, terms)
    // After the hold: no settlement can start meanwhile.
    const isAsked = held.isValid && held.isUnclaimed !== true
    const settlement = isAsked ? await journal.findOpen(verdict.authorizationId) : null
    if (settlement === null) return held
    return { isValid: false, payer: verdict.payer, reason: 'duplicate_settlement' }
  }
