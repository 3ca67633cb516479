import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.js'
import type { Intent } from '../../../src/ports/intentStore.js'
import { type IntentStatus, intentStatuses, type UnavailableRoute } from '../../../src/protocol/intents.js'
import { decide, type IntentCommand } from '../../../src/usecases/intents/decide.js'
import { intentOf, requirementsOf, routeOf } from '../../support/intentOf.js'
import { settlement } from '../../support/memoryJournal.js'

const inTime = new Date('2026-01-01T00:01:00Z')
const routesExpired = new Date('2026-01-01T00:05:00Z')
const expired = new Date('2026-01-01T01:00:00Z')

const paidBy = (authorizationId: string | null): IntentCommand => ({ type: 'execute', authorizationId })
const selected = { route: routeOf(), requirements: requirementsOf() }
const inGrace = new Date('2026-01-01T01:14:59Z')
const graceOver = new Date('2026-01-01T01:15:00Z')
const directRoute = routeOf({ id: 'route_direct', scheme: 'exact-direct' })
const direct = { route: directRoute, requirements: requirementsOf(directRoute) }
const plan = intentOf().plan
const payment = { settlementId: 'another', authorizationId: 'toy:1/nonce-2' }
const bind: IntentCommand = { type: 'bind', payment, paid: selected }

/** The new status and the event, or the error. */
const outcomeOf = (intent: Intent, command: IntentCommand, now: Date = inTime): string => {
  try {
    const { intent: after, event } = decide(intent, command, now)
    if (after === intent) return 'unchanged'
    return `${after.status}${event === null ? '' : `, ${event.type}`}`
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}

const own = (intent: Intent, changes: Parameters<typeof settlement>[0]): IntentCommand => ({
  type: 'finish',
  settlement: settlement({ id: intent.payment?.settlementId ?? 'none', ...changes }),
})
const broadcasts = [{ transaction: 'tx-1', bytes: 'b' }]

interface Row {
  readonly command: (intent: Intent) => IntentCommand
  readonly now?: Date
  readonly expected: Readonly<Record<IntentStatus, string>>
}

const ended = { completed: 'INTENT_NOT_PENDING', failed: 'INTENT_NOT_PENDING', expired: 'INTENT_EXPIRED' }
const closed = { ...ended, executing: 'INTENT_NOT_PENDING', cancelled: 'INTENT_NOT_PENDING' }
const refused = { pending: 'INTENT_NOT_PENDING', routed: 'INTENT_NOT_PENDING', ...closed }
const paid = { executing: 'unchanged', completed: 'unchanged', failed: 'unchanged' }
const untouched = {
  pending: 'unchanged',
  routed: 'unchanged',
  ...paid,
  expired: 'unchanged',
  cancelled: 'unchanged',
}

/** The table of docs/intents.md. */
const table: Readonly<Record<string, Row>> = {
  'route selects a route': {
    command: () => ({
      type: 'route',
      selected: { ...selected, requirements: { ...requirementsOf(), extra: { a: 1 } } },
    }),
    expected: { pending: 'routed, intent.routed', routed: 'routed, intent.routed', ...closed },
  },
  'route of a route that was not offered': {
    command: () => ({ type: 'route', selected: { ...selected, route: routeOf({ id: 'route_2' }) } }),
    expected: { pending: 'NOT_FOUND', routed: 'NOT_FOUND', ...closed },
  },
  'route after the routes expired': {
    command: () => ({ type: 'route', selected }),
    now: routesExpired,
    expected: { pending: 'ROUTE_EXPIRED', routed: 'ROUTE_EXPIRED', ...closed },
  },
  'route after the intent expired': {
    command: () => ({ type: 'route', selected }),
    now: expired,
    expected: { pending: 'INTENT_EXPIRED', routed: 'INTENT_EXPIRED', ...closed },
  },
  'refresh that finds the selected route': {
    command: () => ({ type: 'refresh', plan }),
    expected: { pending: 'pending', routed: 'routed', ...closed },
  },
  'refresh that does not find the selected route': {
    command: () => ({ type: 'refresh', plan: { ...plan, routes: [] } }),
    expected: { pending: 'pending', routed: 'pending', ...closed },
  },
  'refresh after the intent expired': {
    command: () => ({ type: 'refresh', plan }),
    now: expired,
    expected: { pending: 'INTENT_EXPIRED', routed: 'INTENT_EXPIRED', ...closed },
  },
  cancel: {
    command: () => ({ type: 'cancel' }),
    expected: {
      ...closed,
      pending: 'cancelled, intent.cancelled',
      routed: 'cancelled, intent.cancelled',
      cancelled: 'unchanged',
    },
  },
  'cancel after the intent expired': {
    command: () => ({ type: 'cancel' }),
    now: expired,
    expected: { ...closed, pending: 'INTENT_EXPIRED', routed: 'INTENT_EXPIRED', cancelled: 'unchanged' },
  },
  'execute with a first or the same payment': {
    command: () => paidBy('toy:1/nonce-1'),
    expected: { ...closed, ...paid, pending: 'NO_ROUTE_SELECTED', routed: 'unchanged' },
  },
  'execute with another payment': {
    command: () => paidBy('toy:1/nonce-2'),
    expected: { pending: 'NO_ROUTE_SELECTED', routed: 'unchanged', ...closed },
  },
  'execute with a payment that does not fit': {
    command: () => paidBy(null),
    expected: { pending: 'NO_ROUTE_SELECTED', routed: 'unchanged', ...closed },
  },
  'execute after the routes expired': {
    command: () => paidBy('toy:1/nonce-2'),
    now: routesExpired,
    expected: { pending: 'NO_ROUTE_SELECTED', routed: 'ROUTE_EXPIRED', ...closed },
  },
  'execute after the intent expired': {
    command: () => paidBy('toy:1/nonce-1'),
    now: expired,
    expected: { ...closed, ...paid, pending: 'INTENT_EXPIRED', routed: 'INTENT_EXPIRED' },
  },
  'a payment is claimed': {
    command: () => bind,
    expected: { ...refused, expired: 'INTENT_NOT_PENDING', routed: 'executing, intent.executing' },
  },
  'its own payment is claimed, again after a lost answer': {
    command: (intent) => ({
      ...bind,
      payment: { ...payment, settlementId: intent.payment?.settlementId ?? 'none' },
    }),
    expected: { ...refused, ...paid, expired: 'INTENT_NOT_PENDING', routed: 'executing, intent.executing' },
  },
  'its payment is confirmed': {
    command: (intent) => own(intent, { state: 'confirmed', transaction: 'tx-1', broadcasts }),
    expected: { ...untouched, executing: 'completed, intent.completed' },
  },
  'its payment failed after it was sent': {
    command: (intent) => own(intent, { state: 'failed', reason: 'transaction_failed', broadcasts }),
    expected: { ...untouched, executing: 'failed, intent.failed' },
  },
  'its payment ended before anything was sent': {
    command: (intent) => own(intent, { state: 'failed', reason: 'settlement_abandoned', broadcasts: [] }),
    expected: { ...untouched, executing: 'routed, intent.routed' },
  },
  'its payment is open': {
    command: (intent) => own(intent, { state: 'pending', broadcasts }),
    expected: untouched,
  },
  'another settlement is confirmed': {
    command: () => ({ type: 'finish', settlement: settlement({ state: 'confirmed', broadcasts }) }),
    expected: untouched,
  },
  'its time is over': {
    command: () => ({ type: 'expire' }),
    now: expired,
    expected: { ...untouched, pending: 'expired, intent.expired', routed: 'expired, intent.expired' },
  },
  'its time is not over': { command: () => ({ type: 'expire' }), expected: untouched },
}

describe('an intent', () => {
  it.each(
    Object.entries(table).flatMap(([name, { command, now, expected }]) =>
      intentStatuses.map((status) => ({ status, name, command, now, expected: expected[status] })),
    ),
  )('that is $status: $name: $expected', ({ status, command, now, expected }) => {
    const intent = intentOf({ status })
    expect(outcomeOf(intent, command(intent), now)).toBe(expected)
  })

  /** Of a routed intent whose payer sends the transfer itself. */
  const directTable: readonly (readonly [string, IntentCommand, Date, string])[] = [
    ['route after it expired', { type: 'route', selected: direct }, expired, 'INTENT_EXPIRED'],
    ['refresh after it expired', { type: 'refresh', plan }, expired, 'INTENT_EXPIRED'],
    ['cancel after it expired', { type: 'cancel' }, expired, 'INTENT_EXPIRED'],
    ['execute after the routes expired', paidBy('toy:1/tx-1'), routesExpired, 'unchanged'],
    ['execute after it expired', paidBy('toy:1/tx-1'), inGrace, 'unchanged'],
    ['execute 15 minutes later', paidBy('toy:1/tx-1'), graceOver, 'unchanged'],
    ['its time is over', { type: 'expire' }, inGrace, 'unchanged'],
    ['its time was over 15 minutes ago', { type: 'expire' }, graceOver, 'expired, intent.expired'],
  ]
  it.each(directTable)('of exact-direct: %s', (_name, command, now, expected) => {
    const offered = { ...intentOf(), plan: { ...plan, routes: [directRoute] } }
    const { intent } = decide(offered, { type: 'route', selected: direct }, inTime)
    expect(outcomeOf(intent, command, now)).toBe(expected)
  })

  it.each(['cancelled', 'expired'] as const)('of exact-direct that is %s can still be executed', (status) => {
    const closedAt = inTime
    const intent = intentOf({ status, selected: direct, closedAt })
    expect(outcomeOf(intent, paidBy('toy:1/tx-1'), graceOver)).toBe('unchanged')
    const bound = decide(intent, { ...bind, paid: direct }, graceOver).intent
    expect(bound).toMatchObject({ status: 'executing', closedAt: null })
    // Of another route, too: the payment selects it.
    const unselected = { ...intent, selected }
    expect(decide(unselected, { ...bind, paid: direct }, graceOver).intent).toEqual(bound)
    const failed = own(bound, { state: 'failed', reason: 'transaction_failed', broadcasts })
    const after = decide(bound, failed, graceOver).intent
    // What expired is written down as expired by the job.
    expect(after).toMatchObject(
      status === 'cancelled' ? { status, closedAt, payment: null } : { status: 'routed', payment: null },
    )
  })

  it('of exact-direct ends at its time again if another route is selected', () => {
    const offered = { ...intentOf(), plan: { ...plan, routes: [directRoute, routeOf()] } }
    const { intent } = decide(offered, { type: 'route', selected: direct }, inTime)
    expect(intent.endsAt).toEqual(graceOver)
    expect(decide(intent, { type: 'route', selected }, inTime).intent.endsAt).toEqual(expired)
  })

  const { network, asset } = directRoute
  it.each<[string, Partial<UnavailableRoute>, IntentStatus]>([
    ['the balance is too low', { reason: 'insufficient_balance' }, 'routed'],
    ['the balance is not known', { reason: 'balance_unknown' }, 'routed'],
    ['the network is down', { reason: 'network_unavailable' }, 'routed'],
    ['nothing says why', { network: 'toy:2', reason: 'unsupported_asset' }, 'routed'],
    ['another token is not settled', { asset: 'lead', reason: 'unsupported_asset' }, 'routed'],
    ['another scheme is not possible', { scheme: 'exact', reason: 'unsupported_asset' }, 'routed'],
    ['the token is not settled', { reason: 'unsupported_asset' }, 'pending'],
    ['the network is not served', { asset: undefined, reason: 'network_not_served' }, 'pending'],
  ])('of exact-direct, without its route after a refresh because %s: %s', (_name, problem, status) => {
    const unavailable = [{ network, scheme: 'exact-direct', asset, reason: '', message: '', ...problem }]
    const intent = intentOf({ status: 'routed', selected: direct })
    const refreshed = decide(intent, { type: 'refresh', plan: { ...plan, routes: [], unavailable } }, inTime)
    expect(refreshed.intent).toMatchObject({
      status,
      selected: status === 'routed' ? direct : null,
      endsAt: status === 'routed' ? graceOver : expired,
    })
  })

  it('of exact-direct is routed again when its proof turned out to be wrong', () => {
    const intent = intentOf({ status: 'executing', selected: direct })
    const failed = own(intent, { state: 'failed', reason: 'transaction_failed', broadcasts })
    expect(decide(intent, failed, inTime)).toMatchObject({
      intent: { status: 'routed', payment: null, transaction: null, reason: null, closedAt: null },
      event: { type: 'intent.routed' },
    })
  })

  it('selects a route once: repeating it changes nothing', () => {
    const { intent } = decide(intentOf(), { type: 'route', selected }, inTime)
    expect(intent).toMatchObject({ status: 'routed', selected })
    expect(outcomeOf(intent, { type: 'route', selected })).toBe('unchanged')
  })

  it('is not paid by a payment of a route that is no longer selected', () => {
    const other = { ...selected, requirements: { ...requirementsOf(), payTo: 'carol' } }
    const intent = intentOf({ status: 'routed', selected: other })
    expect(outcomeOf(intent, bind)).toBe('INTENT_NOT_PENDING')
  })

  it('is paid although it expired while its payment was verified', () => {
    expect(outcomeOf(intentOf({ status: 'routed' }), bind, expired)).toBe('executing, intent.executing')
  })

  it('keeps what was settled, and repeats it in its event', () => {
    const intent = intentOf({ status: 'executing', transaction: null })
    const { intent: after, event } = decide(
      intent,
      own(intent, { state: 'confirmed', transaction: 'tx-9', settledAmount: 10_001n, broadcasts }),
      inTime,
    )
    expect(after).toMatchObject({ transaction: 'tx-9', settledAmount: 10_001n, closedAt: inTime })
    expect(event?.data).toMatchObject({
      id: intent.id,
      status: 'completed',
      transaction: 'tx-9',
      settledAmount: '10001',
      settlementId: intent.payment?.settlementId,
    })
  })
})
