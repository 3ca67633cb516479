import { AppError } from '../../errors.js'
import type {
  Intent,
  IntentChange,
  IntentPayment,
  IntentPlan,
  SelectedRoute,
} from '../../ports/intentStore.js'
import type { Settlement } from '../../ports/settlementJournal.js'
import type { IntentRoute, IntentStatus, RouteProblem } from '../../protocol/intents.js'
import { eventOf, isOverdue } from './viewIntent.js'

export type IntentCommand =
  | { readonly type: 'route'; readonly selected: SelectedRoute }
  | { readonly type: 'refresh'; readonly plan: IntentPlan }
  | { readonly type: 'cancel' }
  /** Asks whether a payment may be executed; changes nothing. Null: it does not fit the route. */
  | {
      readonly type: 'execute'
      readonly authorizationId: string | null
      /** That the payment pays. Default: the selected one. */
      readonly paid?: SelectedRoute | null
    }
  /** A settlement was claimed for what was required; nothing is sent yet. */
  | { readonly type: 'bind'; readonly payment: IntentPayment; readonly paid: SelectedRoute }
  /** The settlement as the journal has it now. */
  | { readonly type: 'finish'; readonly settlement: Settlement }
  | { readonly type: 'expire' }

/** The one table of states and commands. Pure. Throws what the caller is answered; then nothing changes. */
export const decide = (intent: Intent, command: IntentCommand, now: Date): IntentChange => {
  switch (command.type) {
    case 'route':
      return route(intent, command.selected, now)
    case 'refresh':
      return refresh(intent, command.plan, now)
    case 'cancel':
      if (intent.status === 'cancelled') return unchanged(intent)
      requireOpen(intent, now)
      return change({ ...intent, status: 'cancelled', closedAt: now }, now)
    case 'execute':
      return checkExecution(intent, command, now)
    case 'bind':
      return bind(intent, command, now)
    case 'finish':
      return finish(intent, command.settlement, now)
    case 'expire':
      return isOverdue(intent, now)
        ? change({ ...intent, status: 'expired', closedAt: now }, now)
        : unchanged(intent)
  }
}

const unchanged = (intent: Intent): IntentChange => ({ intent, event: null })

/** With the event that is named after the new status. */
const change = (intent: Intent, now: Date): IntentChange => ({
  intent,
  event: eventOf(intent.status, intent, now),
})

const route = (intent: Intent, selected: SelectedRoute, now: Date): IntentChange => {
  requireOpen(intent, now)
  const planned = intent.plan.routes.find(({ id }) => id === selected.route.id)
  if (planned === undefined) throw unknownRoute()
  if (intent.plan.validUntil <= now) throw routeExpired()
  if (planned.id === intent.selected?.route.id && isSame(selected, intent.selected)) return unchanged(intent)
  return change(
    {
      ...intent,
      status: 'routed',
      selected: { ...selected, route: planned },
      endsAt: findEnd(intent, planned),
    },
    now,
  )
}

/** Whether the intent has ended unpaid, or can only be executed, and a transfer from before can still pay it on the route. */
export const isLate = (
  { status, expiresAt }: Pick<Intent, 'status' | 'expiresAt'>,
  { route: selected }: Pick<SelectedRoute, 'route'>,
  now: Date,
): boolean =>
  isSentByPayer(selected) &&
  (status === 'cancelled' || status === 'expired' || (isUnpaid(status) && expiresAt <= now))

/** Latest block time of a transfer that pays the intent; null while any is in time. */
export const findPaidBefore = (intent: Intent, now: Date): Date | null => {
  if (intent.status === 'cancelled') return intent.closedAt
  return intent.status === 'expired' || isOverdue(intent, now) ? intent.endsAt : null
}

/** A selected route that is no longer offered is selected no more, unless the payer may have sent the funds. */
const refresh = (intent: Intent, plan: IntentPlan, now: Date): IntentChange => {
  requireOpen(intent, now)
  const kept = findKept(intent.selected, plan)
  return {
    intent: {
      ...intent,
      plan,
      status: kept === null ? 'pending' : 'routed',
      selected: kept,
      endsAt: findEnd(intent, kept?.route ?? null),
    },
    event: null,
  }
}

const findKept = (selected: SelectedRoute | null, plan: IntentPlan): SelectedRoute | null => {
  if (selected === null) return null
  const planned = plan.routes.find(({ id }) => id === selected.route.id)
  if (planned !== undefined) return { ...selected, route: planned }
  return isSentByPayer(selected.route) && !isImpossible(selected, plan) ? selected : null
}

/** They can pass, or are what the payment itself caused: the balance was spent on it. */
const passingProblems: readonly string[] = [
  'network_unavailable',
  'balance_unknown',
  'insufficient_balance',
  'payment_below_minimum',
] satisfies readonly RouteProblem[]

const isImpossible = ({ route: selected }: SelectedRoute, { unavailable }: IntentPlan): boolean =>
  unavailable.some(
    ({ network, scheme = selected.scheme, asset = selected.asset, reason }) =>
      network === selected.network &&
      scheme === selected.scheme &&
      asset === selected.asset &&
      !passingProblems.includes(reason),
  )

const checkExecution = (
  intent: Intent,
  { authorizationId, paid = intent.selected }: Extract<IntentCommand, { type: 'execute' }>,
  now: Date,
): IntentChange => {
  // A repeated request joins its settlement, and is answered its result.
  if (intent.payment !== null && intent.payment.authorizationId === authorizationId) return unchanged(intent)
  if (paid !== null && isLate(intent, paid, now)) return unchanged(intent)
  requireUnended(intent, intent.endsAt, now)
  if (intent.selected === null) {
    throw new AppError('NO_ROUTE_SELECTED', 'Select a route first, and sign what it requires')
  }
  if (intent.plan.validUntil <= now && !isSentByPayer(intent.selected.route)) throw routeExpired()
  return unchanged(intent)
}

/** A late payment selects its route: any other one cannot be paid any more, and strangers may know the intent. */
const bind = (
  intent: Intent,
  { payment, paid }: Extract<IntentCommand, { type: 'bind' }>,
  now: Date,
): IntentChange => {
  if (intent.payment?.settlementId === payment.settlementId) return unchanged(intent)
  // `requireOpen` would refuse what began in time.
  const isAfterEnd = isLate(intent, paid, now)
  if (intent.status !== 'routed' && !isAfterEnd) throw notPending(intent.status)
  if (!isAfterEnd && !isSame(paid, intent.selected)) {
    throw new AppError('INTENT_NOT_PENDING', 'Another route was selected meanwhile; sign what it requires')
  }
  const cancelledAt = intent.status === 'cancelled' ? intent.closedAt : null
  const selected = isSame(paid, intent.selected) ? intent.selected : paid
  return change({ ...intent, status: 'executing', selected, payment, closedAt: null, cancelledAt }, now)
}

const isPaidByPayer = ({ selected }: Intent): boolean => selected !== null && isSentByPayer(selected.route)

type Requiring = Pick<SelectedRoute, 'requirements'>

const isSame = (left: Requiring, right: Requiring | null): boolean =>
  JSON.stringify(left.requirements) === JSON.stringify(right?.requirements)

const finish = (intent: Intent, settlement: Settlement, now: Date): IntentChange => {
  if (intent.status !== 'executing' || intent.payment?.settlementId !== settlement.id)
    return unchanged(intent)
  const { transaction, reason, settledAmount, broadcasts } = settlement
  switch (settlement.state) {
    case 'claimed':
    case 'pending':
      return unchanged(intent)
    case 'confirmed':
      return change(
        { ...intent, status: 'completed', transaction: transaction ?? '', settledAmount, closedAt: now },
        now,
      )
    case 'failed':
      // Nothing was sent, so that the payer may sign again; or only this proof of a transfer was wrong.
      return broadcasts.length === 0 || isPaidByPayer(intent)
        ? change({ ...intent, ...withoutPayment(intent), payment: null }, now)
        : change({ ...intent, status: 'failed', transaction: transaction ?? '', reason, closedAt: now }, now)
  }
}

/** Restores the state before the payment; an intent that expired meanwhile is shown as expired. */
const withoutPayment = ({ cancelledAt }: Intent): Pick<Intent, 'status' | 'closedAt'> =>
  cancelledAt === null ? { status: 'routed', closedAt: null } : { status: 'cancelled', closedAt: cancelledAt }

/** Throws unless a payment of it can still be prepared. */
export const requireOpen = (intent: Intent, now: Date): void => requireUnended(intent, intent.expiresAt, now)

/** Throws the error of requests that come after `end`. */
export const requireUnended = ({ status }: Intent, end: Date, now: Date): void => {
  if (status === 'expired' || (isUnpaid(status) && end <= now)) {
    throw new AppError('INTENT_EXPIRED', 'The intent expired; create another one')
  }
  if (!isUnpaid(status)) throw notPending(status)
}

const isUnpaid = (status: IntentStatus): boolean => status === 'pending' || status === 'routed'

const notPending = (status: IntentStatus): AppError =>
  new AppError(
    'INTENT_NOT_PENDING',
    status === 'executing' ? 'Another payment of the intent is being settled' : `The intent is ${status}`,
  )

const routeExpired = (): AppError => new AppError('ROUTE_EXPIRED', 'The route is too old; refresh the intent')

export const unknownRoute = (): AppError => new AppError('NOT_FOUND', 'The intent has no route with this id')

type Way = Pick<IntentRoute, 'scheme'>

/** Under `exact-direct` the payer sends the transfer itself: the funds have moved before the intent is executed. */
export const isSentByPayer = ({ scheme }: Way): boolean => scheme === 'exact-direct'

/** For transfers to become final, and for nodes to recover. */
const graceSeconds = 900

/** When an intent with this selected route expires: a transfer that was sent in time can still be executed later. */
export const findEnd = ({ expiresAt }: Pick<Intent, 'expiresAt'>, route: Way | null): Date =>
  route !== null && isSentByPayer(route) ? new Date(expiresAt.getTime() + graceSeconds * 1_000) : expiresAt
