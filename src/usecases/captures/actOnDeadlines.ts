import { AppError } from '../../errors.js'
import { createFailureLog } from '../../failureLog.js'
import type { AccountStore } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { ActionOutcome, HeldPayment, HeldPayments } from '../../ports/heldPayments.js'
import type { Logger } from '../../ports/logger.js'
import { getTier, type Tiers } from '../../protocol/tiers.js'
import { isOpen, type ObservedHold, type ObserveHold, viewHeldPayment } from './observeHold.js'
import type { CaptureUseCases, MoveRequest } from './useCases.js'

/* Captures or voids what is held shortly before its capture deadline, where its account asks for that. */

interface ActOnDeadlinesDependencies {
  readonly store: Pick<
    HeldPayments,
    'listDeadlineNetworks' | 'leaseDeadlines' | 'hasReverted' | 'hurryMove' | 'beginAction' | 'endAction'
  >
  readonly accounts: Pick<AccountStore, 'find'>
  readonly tiers: Tiers
  readonly observe: ObserveHold
  readonly moveHold: CaptureUseCases['moveHold']
  /** How long before the deadline at the latest; half of a hold's life, if that is less. */
  readonly actsBeforeMs: number
  /** How long a settlement waits for its outcome at most. */
  readonly waitMs: number
  readonly clock: Clock
  readonly logger: Logger
}

interface ActOnDeadlines {
  /** One round. */
  run(stopped: AbortSignal): Promise<void>
  /** Waits for what a round left under way. */
  close(): Promise<void>
}

/**
 * Of one network, also where several instances act. They are transactions of one account, of which nodes keep 16 that are not mined:
 * the other half is left to payments and requests, however many holds end at once.
 */
const actionsAtOnce = 8
/** How long a round waits for what is under way; then the next one fills the places that became free. */
const roundMs = 1_000
/** Between the ends and the starts of rounds. */
export const deadlineRoundEveryMs = 5_000
const [minPauseMs, maxPauseMs] = [5_000, 300_000]
/** A pause takes at most this part of the time that is left. */
const maxPartOfTimeLeft = 1 / 8

/** Of the time between the beginning and the deadline. */
const latePart = 1 / 2

/** Each network has places of its own, so that one whose chain does not answer delays no other. */
export const createActOnDeadlines = ({
  store,
  accounts,
  tiers,
  observe,
  moveHold,
  actsBeforeMs,
  waitMs,
  clock,
  logger,
}: ActOnDeadlinesDependencies): ActOnDeadlines => {
  /** Earlier by this for each hold of the same account before it: a place is taken until the outcome is known or the wait ends. */
  const queueMs = Math.ceil((waitMs + roundMs + deadlineRoundEveryMs) / actionsAtOnce)
  // Longer than an attempt, which reads the chain before and after it settles. Should one take longer, a second one joins it.
  const leaseMs = waitMs + 35_000
  const running = new Map<string, Set<Promise<void>>>()
  const failures = createFailureLog({
    logger,
    event: 'hold.deadline_action_failed',
    recovered: 'hold.deadline_action_recovered',
    now: () => clock.now().getTime(),
  })

  const findPause = ({ captureDeadline }: HeldPayment): Date => {
    const now = clock.now().getTime()
    const part = (captureDeadline.getTime() - now) * maxPartOfTimeLeft
    return new Date(now + Math.min(maxPauseMs, Math.max(minPauseMs, part)))
  }

  /** Null: the account is gone, and its API key could not ask for it either. */
  const writeRequest = async (held: HeldPayment): Promise<Omit<MoveRequest, 'asked'> | null> => {
    const { id, accountId, network, hash, capturable, refundable, atDeadline } = held
    const account = await accounts.find(accountId)
    if (account === null || account.status !== 'active') return null
    const state = atDeadline === 'void' ? 'void' : `${capturable}-${refundable}`
    return {
      accountId,
      network,
      paymentInfoHash: hash,
      quota: { accountId, customer: account.customer, tier: getTier(tiers, account.tier) },
      // A share of its own: what payers have the account settle does not use it up.
      requester: { name: `holds of ${accountId}`, site: null },
      // Balances never recur: after a crash it is the same request, and after another capture a new one. No client has such a key.
      idempotencyKey: `deadline ${id} ${state}`,
      isAutomatic: true,
      isUrgent: await isUrgent(held),
      onClaimed: async () => {
        if (await store.beginAction(id, atDeadline)) return
        throw new AppError('REQUEST_IN_PROGRESS', 'The account has changed what is done at the deadline')
      },
    }
  }

  /**
   * When it is late, neither limits nor the gas that others have used hold it up: what is not captured falls back to the payer.
   * Once, if it fails on the chain, which costs gas each time.
   */
  const isUrgent = async ({ id, createdAt, captureDeadline }: HeldPayment): Promise<boolean> => {
    const endsAt = captureDeadline.getTime()
    const leadMs = Math.min(actsBeforeMs, (endsAt - createdAt.getTime()) / 2)
    const lateForMs = clock.now().getTime() - (endsAt - leadMs * latePart)
    return lateForMs >= 0 && !(await store.hasReverted(id, lateForMs))
  }

  const act = async (held: HeldPayment): Promise<ActionOutcome> => {
    const { atDeadline, capturable: amount } = held
    const request = await writeRequest(held)
    if (request === null || atDeadline === 'nothing') return 'none'
    const { status, errorReason, errorMessage } = await moveHold({
      ...request,
      asked:
        atDeadline === 'void'
          ? { type: 'void' }
          : { type: 'capture', amount, fee: null, feeReceiver: null, voidsRemainder: false },
    })
    if (status !== 'failed') {
      failures.succeeded(held.network)
      return 'made'
    }
    report(held, { reason: errorReason, message: errorMessage })
    return describeFailure(held, { errorReason, errorMessage })
  }

  const report = ({ network, hash, accountId: account, atDeadline }: HeldPayment, problem: object): void =>
    failures.failed(network, { network, paymentInfoHash: hash, account, atDeadline, ...problem })

  /** It was sent before it was late: what others have spent must not keep it unmined until the payer can take back what is held. */
  const hurry = async ({ held, settlements }: ObservedHold): Promise<void> => {
    const open = settlements.filter(
      (each) => (each.type === 'capture' || each.type === 'void') && isOpen(each),
    )
    if (open.length === 0 || !(await isUrgent(held))) return
    for (const { id } of open) await store.hurryMove({ settlementId: id, accountId: held.accountId })
  }

  const tryToAct = async (leased: HeldPayment): Promise<ActionOutcome> => {
    try {
      const observed = await observe(leased)
      // What a request of the account, or an earlier round, leaves is acted on afterwards.
      if (isUnderWay(observed)) await hurry(observed)
      else if (observed.held.status === 'held') return await act(observed.held)
      return 'none'
    } catch (error) {
      // The account has another choice now, or another process acts: the next round sees which.
      if (error instanceof AppError && error.code === 'REQUEST_IN_PROGRESS') return 'none'
      report(leased, { error })
      return describeFailure(leased, readError(error))
    }
  }

  const attend = async (leased: HeldPayment): Promise<void> => {
    const outcome = await tryToAct(leased)
    await store
      .endAction(leased.id, { actAt: findPause(leased), outcome })
      // The lease ends by itself.
      .catch((error: unknown) => report(leased, { error }))
  }

  const listRunning = () => [...running.values()].flatMap((places) => [...places])

  const fillPlaces = async (network: string): Promise<void> => {
    const places = running.get(network) ?? new Set()
    running.set(network, places)
    const limit = actionsAtOnce - places.size
    if (limit === 0) return
    const now = clock.now()
    const leasedUntil = new Date(now.getTime() + leaseMs)
    const terms = {
      now,
      leadMs: actsBeforeMs,
      queueMs,
      network,
      leasedUntil,
      limit,
      atOnce: actionsAtOnce,
    }
    for (const leased of await store.leaseDeadlines(terms)) {
      const work = attend(leased).finally(() => places.delete(work))
      places.add(work)
    }
  }

  return {
    run: async (stopped) => {
      const terms = { now: clock.now(), leadMs: actsBeforeMs, queueMs }
      for (const network of await store.listDeadlineNetworks(terms)) {
        if (stopped.aborted) return
        await fillPlaces(network)
      }
      const ended = new AbortController()
      const all = Promise.all(listRunning()).finally(() => ended.abort())
      await Promise.race([all, clock.sleep(roundMs, ended.signal)])
    },
    close: async () => {
      await Promise.all(listRunning())
    },
  }
}

interface Failure {
  readonly errorReason?: string | undefined
  readonly errorMessage?: string | undefined
}

/** As a request would be answered: texts of libraries reach no account. */
const readError = (error: unknown): Failure =>
  error instanceof AppError
    ? { errorReason: error.reason ?? undefined, errorMessage: error.message }
    : { errorMessage: 'Internal error' }

const describeFailure = (held: HeldPayment, { errorReason, errorMessage }: Failure): ActionOutcome => ({
  failure: {
    type: 'hold.deadline_action_failed',
    data: {
      ...viewHeldPayment(held),
      ...(errorReason === undefined ? {} : { errorReason }),
      ...(errorMessage === undefined ? {} : { errorMessage }),
    },
  },
})

/** Also a capture that still has to return the rest. */
const isUnderWay = ({ settlements, unfinished }: ObservedHold): boolean =>
  unfinished !== null || settlements.some((each) => each.type !== 'hold' && isOpen(each))
