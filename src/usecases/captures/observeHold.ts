import { withTimeout } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type {
  HeldBalances,
  HeldPayment,
  HeldPayments,
  HeldState,
  HoldSettlement,
  UnfinishedCapture,
} from '../../ports/heldPayments.js'
import { larger } from '../../protocol/amount.js'
import type { HeldPaymentDetails, HeldPaymentView, HeldStatus } from '../../protocol/heldPayments.js'
import type { HoldAgency } from '../../schemes/holdAgency.js'
import type { SchemeRegistry } from '../../schemes/registry.js'

const defaultDeadlineMs = 5_000

/** Throws SERVICE_UNAVAILABLE where the network of the hold is not served. */
export const getAgency = (
  registry: SchemeRegistry,
  { network }: Pick<HeldPayment, 'network'>,
): HoldAgency => {
  const scheme = registry.list().find(({ kind, agency }) => kind.network === network && agency !== undefined)
  if (scheme?.agency !== undefined) return scheme.agency
  throw new AppError('SERVICE_UNAVAILABLE', `${network} is not served at the moment`, {
    retryAfterSeconds: 60,
  })
}

/** Throws SERVICE_UNAVAILABLE if the chain does not answer in time. */
export const readHeldState = async (
  agency: HoldAgency,
  held: HeldPayment,
  deadlineMs = defaultDeadlineMs,
): Promise<HeldState> => {
  try {
    return await withTimeout(agency.readState(held), deadlineMs)
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('SERVICE_UNAVAILABLE', `${held.network} cannot be read at the moment`, {
      cause,
      retryAfterSeconds: 5,
    })
  }
}

// Each is a transaction that the account paid for; sums beyond them come from the chain.
const maxSettlements = 500

export interface ObservedHold {
  readonly held: HeldPayment
  /** The capture that was to return what is still held; null: there is none. */
  readonly unfinished: UnfinishedCapture | null
  readonly settlements: readonly HoldSettlement[]
}

/** Looks at the chain and the journal, and stores what a hold is by now; its events are written once. */
export type ObserveHold = (held: HeldPayment) => Promise<ObservedHold>

interface ObserveHoldDependencies {
  readonly store: Pick<HeldPayments, 'observe' | 'listSettlements' | 'findUnfinished'>
  readonly registry: SchemeRegistry
  readonly clock: Pick<Clock, 'now'>
  /** How long before the capture deadline the account is warned. */
  readonly warnedBeforeMs: number
  /** Limits a look at the chain; default: 5 s. */
  readonly readDeadlineMs?: number
}

export const createObserveHold =
  ({ store, registry, clock, warnedBeforeMs, readDeadlineMs }: ObserveHoldDependencies): ObserveHold =>
  async (held) => {
    const state = await readHeldState(getAgency(registry, held), held, readDeadlineMs)
    // After the chain: what was mined in between is found as open.
    const settlements = await store.listSettlements(held, maxSettlements)
    const unfinished = state.capturable > 0n ? await store.findUnfinished(held.id) : null
    const now = clock.now()
    const balances = sumUp(held, { state, settlements, now })
    const warnAt = held.captureDeadline.getTime() - warnedBeforeMs
    const seen: HeldPayment = { ...held, ...balances }
    const data = { ...viewHeldPayment(seen) }
    const isNear = balances.status === 'held' && now.getTime() >= warnAt
    const hasOpen = settlements.some(isOpen)
    const isUnfinished = unfinished !== null || isBehind(seen, settlements)
    const isNew = held.status !== balances.status
    const lookAt = findNextLook(seen, { now, warnAt, hasOpen, isUnfinished, isNew })
    const automatic = settlements.some(({ isAutomatic }) => isAutomatic)
    const isMoved = balances.status === 'captured' || balances.status === 'voided'
    const statusEvent = { type: `hold.${balances.status}`, data: isMoved ? { ...data, automatic } : data }
    const warning = isNear && !held.isWarned ? { type: 'hold.expiring', data } : null
    await store.observe(held, { ...balances, lookAt, statusEvent, warning })
    return { held: seen, settlements, unfinished }
  }

interface Seen {
  readonly state: HeldState
  readonly settlements: readonly HoldSettlement[]
  readonly now: Date
}

const sumConfirmed = (settlements: readonly HoldSettlement[], wanted: HoldSettlement['type']): bigint =>
  settlements
    .filter(({ type, state }) => type === wanted && state === 'confirmed')
    .reduce((sum, { amount }) => sum + amount, 0n)

/**
 * What is neither held nor refundable was refunded, as long as something is held. After that a void or the payer may have taken
 * the rest, and the journal says what was captured; a capture that the chain shows before the journal does counts too.
 * Settlements that were archived, which the hold itself is with the first ones, are known by what was seen before.
 */
const sumUp = (held: HeldPayment, { state, settlements, now }: Seen): HeldBalances => {
  const { capturable, refundable } = state
  const isArchived = state.isCollected && settlements.every(({ type }) => type !== 'hold')
  const listed = sumConfirmed(settlements, 'refund')
  const shown = larger(sumConfirmed(settlements, 'capture'), refundable + listed)
  const known = isArchived ? larger(shown, held.captured) : shown
  const captured = capturable > 0n ? held.amount - capturable : known
  const refunded = capturable > 0n || isArchived ? captured - refundable : listed
  const status = decideStatus(held, { state, settlements, now, captured, isArchived })
  return { status, capturable, refundable, captured, refunded }
}

/** A node is late, or a block was dropped: the journal knows more than the chain shows. */
const isBehind = ({ capturable, captured }: HeldBalances, settlements: readonly HoldSettlement[]): boolean =>
  capturable > 0n &&
  (sumConfirmed(settlements, 'capture') > captured ||
    settlements.some(({ type, state }) => type === 'void' && state === 'confirmed'))

export const isOpen = ({ state }: HoldSettlement): boolean => state === 'pending' || state === 'claimed'

const decideStatus = (
  { amount, captureDeadline, status }: HeldPayment,
  {
    state,
    settlements,
    now,
    captured,
    isArchived,
  }: Seen & { readonly captured: bigint; readonly isArchived: boolean },
): HeldStatus => {
  const isPast = now >= captureDeadline
  if (!state.isCollected) return settlements.some(({ type }) => type === 'hold') ? 'pending' : 'failed'
  if (state.capturable > 0n) return isPast ? 'expired' : 'held'
  if (isArchived && (status === 'captured' || status === 'voided' || status === 'reclaimed')) return status
  if (captured >= amount) return 'captured'
  if (settlements.some(({ type, state: of }) => type === 'void' && of === 'confirmed')) return 'voided'
  // A capture or a void that is open says later what became of the rest.
  if (settlements.some(isOpen)) return status === 'pending' ? 'held' : status
  return isPast ? 'reclaimed' : 'voided'
}

const [soonMs, seldomMs] = [30_000, 600_000]

interface LookFacts {
  readonly now: Date
  readonly warnAt: number
  /** Whether the outcome of a settlement is awaited. */
  readonly hasOpen: boolean
  /** Whether the rest is still to be returned, or the chain to show what was. */
  readonly isUnfinished: boolean
  readonly isNew: boolean
}

/**
 * Null: it is over, also at a second look, which a block that was dropped would change. An expired hold is looked at the more
 * seldom the longer the payer leaves it.
 */
const findNextLook = (
  { status, captureDeadline }: HeldPayment,
  { now, warnAt, hasOpen, isUnfinished, isNew }: LookFacts,
): Date | null => {
  const nowMs = now.getTime()
  if (hasOpen) return new Date(nowMs + soonMs)
  const deadlineMs = captureDeadline.getTime()
  switch (status) {
    case 'pending':
      return new Date(nowMs + soonMs)
    case 'held':
      if (isUnfinished) return new Date(nowMs + seldomMs)
      return new Date(Math.max(nowMs + soonMs, nowMs < warnAt ? warnAt : deadlineMs))
    case 'expired':
      return new Date(nowMs + Math.max(seldomMs, (nowMs - deadlineMs) / 4))
    case 'captured':
    case 'voided':
    case 'reclaimed':
      return isNew ? new Date(nowMs + seldomMs) : null
    case 'failed':
      return null
  }
}

// Escrows count to a year that neither RFC 3339 nor clients can write.
const latestInstant = new Date(Date.UTC(9999, 11, 31))

const formatInstant = (at: Date): string => (at > latestInstant ? latestInstant : at).toISOString()

export const viewHeldPayment = (held: HeldPayment): HeldPaymentView => {
  const { amount, captured, capturable, status } = held
  const rest = amount - captured - capturable
  return {
    network: held.network,
    paymentInfoHash: held.hash,
    status,
    payer: held.payer,
    payTo: held.payTo,
    asset: held.asset,
    amount: `${amount}`,
    capturableAmount: `${capturable}`,
    refundableAmount: `${held.refundable}`,
    capturedAmount: `${captured}`,
    voidedAmount: `${status === 'voided' ? rest : 0n}`,
    reclaimedAmount: `${status === 'reclaimed' ? rest : 0n}`,
    refundedAmount: `${held.refunded}`,
    captureDeadline: formatInstant(held.captureDeadline),
    atDeadline: held.atDeadline,
    refundDeadline: formatInstant(held.refundDeadline),
    createdAt: held.createdAt.toISOString(),
  }
}

export const viewDetails = ({ held, settlements }: ObservedHold): HeldPaymentDetails => ({
  ...viewHeldPayment(held),
  settlements: settlements.map(({ id, type, state, amount, transaction, isAutomatic, createdAt }) => ({
    id,
    type,
    status: state === 'claimed' ? 'pending' : state,
    amount: `${amount}`,
    transaction: transaction ?? '',
    automatic: isAutomatic,
    createdAt: createdAt.toISOString(),
  })),
})
