import { setNewest } from '../../concurrency/boundedMap.js'
import { sleep } from '../../concurrency/deadline.js'
import type { Logger } from '../../ports/logger.js'
import type {
  AttemptOutcome,
  LeasedDelivery,
  WebhookCounter,
  WebhookOutbox,
  WebhookResponse,
} from '../../ports/webhookOutbox.js'
import type { SendWebhook } from './endpoint.js'

export interface DeliverWebhooksDependencies {
  readonly outbox: WebhookOutbox
  readonly sendWebhook: SendWebhook
  readonly counter: WebhookCounter
  readonly logger: Logger
  /** Must exceed the longest attempt: after it the delivery counts as abandoned. Default 30 s. */
  readonly leaseMs?: number
  /** Concurrent attempts at receivers that answer quickly, or are new; default 128. */
  readonly concurrency?: number
  /** Concurrent attempts at slow receivers, in addition; default 512. */
  readonly slowConcurrency?: number
  /** A receiver that has not answered for this long is slow; default 1 s. */
  readonly slowAfterMs?: number
  /** Concurrent attempts per account; default 4. A slow receiver gets one at a time. */
  readonly concurrencyPerAccount?: number
  /** Interval at which new deliveries are leased while others are in flight; default 500 ms. */
  readonly pollMs?: number
  /** 0 to 1, for the jitter of retries. */
  readonly random?: () => number
}

/**
 * Accounts take turns, and receivers that hang have slots of their own: neither a backlog nor a slow receiver delays the
 * first attempt for another account. A round ends when nothing is due, and nothing is in flight, of any round of this process.
 */
export const createDeliverWebhooks = (dependencies: DeliverWebhooksDependencies) => {
  const { outbox, sendWebhook, counter, logger, leaseMs = 30_000, pollMs = 500 } = dependencies
  const { concurrency = 128, slowConcurrency = 512, slowAfterMs = 1_000 } = dependencies
  const { concurrencyPerAccount = 4, random = Math.random } = dependencies
  const slots = createDeliverySlots({ quick: concurrency, slow: slowConcurrency, slowAfterMs })
  /** The account that was drawn last from each share: the next draw begins after it. */
  const lastDrawn = { quick: '', slow: '' }
  /** They hold what all rounds of the process do: statements that lease, and attempts. */
  const leasing = new Set<Promise<unknown>>()
  const inFlight = new Set<Promise<unknown>>()

  const attempt = async (leased: LeasedDelivery, stopped: AbortSignal): Promise<void> => {
    const logFields = { deliveryId: leased.id, type: leased.type, accountId: leased.accountId }
    try {
      const response = await sendWebhook(leased, leased.endpoint, stopped)
      const outcome = decideAttempt(response, leased.attempts, random())
      await outbox.finish(leased, outcome)
      counter.countWebhook(outcome.state)
      logger.info({ ...logFields, attempt: leased.attempts + 1, ...response }, `webhook.${outcome.state}`)
    } catch (error) {
      if (stopped.aborted) {
        await outbox.returnToQueue(leased).catch(() => undefined)
        return
      }
      // The secret cannot be decrypted or the database is unavailable: retried after the lease expires.
      logger.error({ ...logFields, error }, 'webhook.attempt_failed')
    }
  }

  return async (stopped: AbortSignal): Promise<void> => {
    const sending = new Map<string, Promise<void>>()
    /** One controller per attempt: hundreds of listeners on one signal trigger Node's leak warning. */
    const controllers = new Set<AbortController>()
    const stop = () => {
      for (const controller of controllers) controller.abort(stopped.reason)
    }
    stopped.addEventListener('abort', stop, { once: true })

    const attemptInSlot = async (leased: LeasedDelivery, share: 'quick' | 'slow'): Promise<void> => {
      const slot = slots.begin(leased.accountId, share)
      const controller = new AbortController()
      controllers.add(controller)
      if (stopped.aborted) controller.abort(stopped.reason)
      await attempt(leased, controller.signal)
      controllers.delete(controller)
      slots.end(slot)
    }

    const start = (deliveries: readonly LeasedDelivery[], share: 'quick' | 'slow') => {
      for (const [accountId, ofAccount] of groupByAccount(deliveries)) {
        lastDrawn[share] = accountId
        const sent = Promise.all(ofAccount.map((leased) => attemptInSlot(leased, share))).then(() => {
          sending.delete(accountId)
        })
        sending.set(accountId, track(inFlight, sent))
      }
    }

    /** False if nothing is due, nothing is in flight, and no account was excluded for what was. */
    const leaseMore = async (): Promise<boolean> => {
      slots.moveSlow()
      const slowAccounts = slots.listSlowAccounts()
      const wasSending = sending.size > 0
      const quick = slots.countFree('quick')
      if (quick > 0) {
        const except = [...sending.keys(), ...slowAccounts]
        const limits = { limit: quick, limitPerAccount: concurrencyPerAccount }
        const request = { ...limits, leaseMs, except, after: lastDrawn.quick }
        start(await track(leasing, outbox.leaseDue(request)), 'quick')
      }
      const slow = slots.countFree('slow')
      if (slow > 0 && slowAccounts.length > 0) {
        const limits = { limit: slow, limitPerAccount: 1 }
        const except = [...sending.keys()]
        const request = { ...limits, leaseMs, except, after: lastDrawn.slow, only: slowAccounts }
        start(await track(leasing, outbox.leaseDue(request)), 'slow')
      }
      // This round found nothing due while another one leased it: that counts as in flight.
      await Promise.allSettled(leasing)
      return inFlight.size > 0 || wasSending
    }

    let pause: Promise<unknown> | null = null
    const waitForPoll = (): Promise<unknown> => {
      pause ??= sleep(pollMs, stopped).then(() => {
        pause = null
      })
      return pause
    }

    try {
      while (!stopped.aborted && (await leaseMore())) {
        await Promise.race([...inFlight, waitForPoll()])
      }
    } finally {
      await Promise.all(sending.values())
      stopped.removeEventListener('abort', stop)
    }
  }
}

const track = <Result>(works: Set<Promise<unknown>>, work: Promise<Result>): Promise<Result> => {
  const tracked = work.finally(() => works.delete(tracked))
  works.add(tracked)
  return tracked
}

const groupByAccount = (
  deliveries: readonly LeasedDelivery[],
): ReadonlyMap<string, readonly LeasedDelivery[]> => {
  const groups = new Map<string, LeasedDelivery[]>()
  for (const delivery of deliveries) {
    const group = groups.get(delivery.accountId)
    if (group === undefined) groups.set(delivery.accountId, [delivery])
    else group.push(delivery)
  }
  return groups
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Delay after each failed attempt: the schedule of Standard Webhooks up to ten hours. */
const retryDelaysMs: readonly number[] = [
  5 * second,
  30 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
]

const gone = 410

export const isDelivered = (status: number | null): status is number =>
  status !== null && status >= 200 && status < 300

// Spreads the retries of messages that failed together.
const jitter = 0.1

/** 2xx: delivered. 410: failed and gone. Otherwise retried until the delays are used up. `random`: 0 to 1. */
const decideAttempt = (
  { status, error }: WebhookResponse,
  attemptsBefore: number,
  random: number,
): AttemptOutcome => {
  if (isDelivered(status)) return { state: 'delivered', status, error: null }
  if (status === gone) return { state: 'failed', status, error: null, isGone: true }
  const delayMs = retryDelaysMs[attemptsBefore]
  return delayMs === undefined
    ? { state: 'failed', status, error, isGone: false }
    : { state: 'waiting', status, error, retryInMs: Math.round(delayMs * (1 + jitter * (2 * random - 1))) }
}

interface SlotSettings {
  readonly quick: number
  readonly slow: number
  /** An attempt without an answer for this long, and its account, count as slow. */
  readonly slowAfterMs: number
}

interface Attempt {
  readonly accountId: string
  readonly startedAtMs: number
  isSlow: boolean
}

/**
 * Concurrent attempts in two shares. Hanging attempts leave the quick share while the slow one has room, and the
 * accounts of slow receivers use only the slow share until an attempt is answered quickly again.
 */
interface DeliverySlots {
  countFree(share: 'quick' | 'slow'): number
  listSlowAccounts(): readonly string[]
  begin(accountId: string, share: 'quick' | 'slow'): Attempt
  end(attempt: Attempt): void
  /** Moves what hangs out of the quick share. */
  moveSlow(): void
}

// The one that was slow longest ago counts as quick again. Bounds memory and the lists in statements.
const maxSlowAccounts = 2_000

const createDeliverySlots = ({ quick, slow, slowAfterMs }: SlotSettings): DeliverySlots => {
  const slowAccounts = new Map<string, true>()
  const underWay = new Set<Attempt>()
  const countSlow = (): number => [...underWay].filter(({ isSlow }) => isSlow).length

  const isLate = ({ startedAtMs }: Attempt): boolean => performance.now() - startedAtMs >= slowAfterMs
  const markSlow = (accountId: string): void => setNewest(slowAccounts, accountId, true, maxSlowAccounts)

  return {
    countFree: (share) => {
      const slowCount = countSlow()
      return share === 'slow' ? slow - slowCount : quick - (underWay.size - slowCount)
    },
    listSlowAccounts: () => [...slowAccounts.keys()],
    begin: (accountId, share) => {
      const attempt = { accountId, startedAtMs: performance.now(), isSlow: share === 'slow' }
      underWay.add(attempt)
      return attempt
    },
    end: (attempt) => {
      underWay.delete(attempt)
      if (isLate(attempt)) markSlow(attempt.accountId)
      else slowAccounts.delete(attempt.accountId)
    },
    moveSlow: () => {
      let room = slow - countSlow()
      // Oldest first.
      for (const attempt of underWay) {
        if (attempt.isSlow || !isLate(attempt)) continue
        markSlow(attempt.accountId)
        if (room <= 0) continue
        attempt.isSlow = true
        room -= 1
      }
    },
  }
}
