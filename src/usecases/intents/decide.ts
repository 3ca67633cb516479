import { AppError } from '../../errors.js'
import type {
  Intent,
  IntentChange,
  IntentPayment,
  IntentPlan,
  SelectedRoute,
} from '../../ports/intentStore.js'
import type { Settlement } from '../../ports/settlementJournal.js'
import type { IntentRequirements, IntentStatus } from '../../protocol/intents.js'
import { eventOf, isOverdue } from './viewIntent.js'

export type IntentCommand =
  | { readonly type: 'route'; readonly selected: SelectedRoute }
  | { readonly type: 'refresh'; readonly plan: IntentPlan }
  | { readonly type: 'cancel' }
  /** Asks whether a payment may be executed; changes nothing. Null: it does not fit the selected route. */
  | { readonly type: 'execute'; readonly authorizationId: string | null }
  /** A settlement was claimed for what was required; nothing is sent yet. */
  | { readonly type: 'bind'; readonly payment: IntentPayment; readonly requirements: IntentRequirements }
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
      return checkExecution(intent, command.authorizationId, now)
    case 'bind':
      return bind(intent, command.payment, command.requirements, now)
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
  return change({ ...intent, status: 'routed', selected: { ...selected, route: planned } }, now)
}

/** A selected route that is no longer offered is selected no more. */
const refresh = (intent: Intent, plan: IntentPlan, now: Date): IntentChange => {
  requireOpen(intent, now)
  const { selected } = intent
  const planned = plan.routes.find(({ id }) => id === selected?.route.id)
  const isKept = selected !== null && planned !== undefined
  return {
    intent: {
      ...intent,
      plan,
      status: isKept ? 'routed' : 'pending',
      selected: isKept ? { ...selected, route: planned } : null,
    },
    event: null,
  }
}

const checkExecution = (intent: Intent, authorizationId: string | null, now: Date): IntentChange => {
  // A repeated request joins its settlement, and is answered its result.
  if (intent.payment !== null && intent.payment.authorizationId === authorizationId) return unchanged(intent)
  requireOpen(intent, now)
  if (intent.selected === null) {
    throw new AppError('NO_ROUTE_SELECTED', 'Select a route first, and sign what it requires')
  }
  if (intent.plan.validUntil <= now) throw routeExpired()
  return unchanged(intent)
}

const bind = (
  intent: Intent,
  payment: IntentPayment,
  requirements: IntentRequirements,
  now: Date,
): IntentChange => {
  if (intent.payment?.settlementId === payment.settlementId) return unchanged(intent)
  // Not `requireOpen`: it began in time.
  if (intent.status !== 'routed') throw notPending(intent.status)
  if (!isSame({ requirements }, intent.selected)) {
    throw new AppError('INTENT_NOT_PENDING', 'Another route was selected meanwhile; sign what it requires')
  }
  return change({ ...intent, status: 'executing', payment }, now)
}

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
      // Nothing was sent: the payer may sign again.
      return broadcasts.length === 0
        ? change({ ...intent, status: 'routed', payment: null }, now)
        : change({ ...intent, status: 'failed', transaction: transaction ?? '', reason, closedAt: now }, now)
  }
}

/** Throws unless a payment of it can still be started. */
export const requireOpen = (intent: Intent, now: Date): void => {
  if (intent.status === 'expired' || isOverdue(intent, now)) {
    throw new AppError('INTENT_EXPIRED', 'The intent expired; create another one')
  }
  if (intent.status !== 'pending' && intent.status !== 'routed') throw notPending(intent.status)
}

const notPending = (status: IntentStatus): AppError =>
  new AppError(
    'INTENT_NOT_PENDING',
    status === 'executing' ? 'Another payment of the intent is being settled' : `The intent is ${status}`,
  )

const routeExpired = (): AppError => new AppError('ROUTE_EXPIRED', 'The route is too old; refresh the intent')

export const unknownRoute = (): AppError => new AppError('NOT_FOUND', 'The intent has no route with this id')
