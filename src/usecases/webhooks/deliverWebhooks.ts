import { sleep } from '../../concurrency/deadline.js'
import type { Logger } from '../../ports/logger.js'
import type { WebhookCounter } from '../../ports/webhookCounter.js'
import type { LeasedDelivery, WebhookOutbox } from '../../ports/webhookOutbox.js'
import { decideAttempt } from './decideAttempt.js'
import type { SendWebhook } from './sendWebhook.js'

export interface DeliverWebhooksDependencies {
  readonly outbox: WebhookOutbox
  readonly sendWebhook: SendWebhook
  readonly counter: WebhookCounter
  readonly logger: Logger
  /** Must exceed the longest attempt: after it the delivery counts as abandoned. Default 30 s. */
  readonly leaseMs?: number
  /** Concurrent attempts; default 128. */
  readonly concurrency?: number
  /** Concurrent attempts per account; default 4. */
  readonly concurrencyPerAccount?: number
  /** Interval at which new deliveries are leased while others are in flight; default 500 ms. */
  readonly pollMs?: number
}

/** A slow receiver delays only its own account. A round ends when nothing is in flight or due. */
export const createDeliverWebhooks = (dependencies: DeliverWebhooksDependencies) => {
  const { outbox, sendWebhook, counter, logger, leaseMs = 30_000, pollMs = 500 } = dependencies
  const { concurrency = 128, concurrencyPerAccount = 4 } = dependencies

  const attempt = async (leased: LeasedDelivery, stopped: AbortSignal): Promise<void> => {
    const logFields = { deliveryId: leased.id, type: leased.type, accountId: leased.accountId }
    try {
      const response = await sendWebhook(leased, leased.endpoint, stopped)
      const outcome = decideAttempt(response, leased.attempts)
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
    let inFlight = 0
    /** One controller per attempt: hundreds of listeners on one signal trigger Node's leak warning. */
    const controllers = new Set<AbortController>()
    const stop = () => {
      for (const controller of controllers) controller.abort(stopped.reason)
    }
    stopped.addEventListener('abort', stop, { once: true })

    const attemptWithSignal = async (leased: LeasedDelivery): Promise<void> => {
      const controller = new AbortController()
      controllers.add(controller)
      if (stopped.aborted) controller.abort(stopped.reason)
      await attempt(leased, controller.signal)
      controllers.delete(controller)
    }

    const start = (accountId: string, deliveries: readonly LeasedDelivery[]) => {
      inFlight += deliveries.length
      const sent = Promise.all(deliveries.map(attemptWithSignal)).then(() => {
        inFlight -= deliveries.length
        sending.delete(accountId)
      })
      sending.set(accountId, sent)
    }

    /** False if nothing is due and no account was excluded from the query. */
    const leaseMore = async (): Promise<boolean> => {
      const limit = concurrency - inFlight
      const except = [...sending.keys()]
      if (limit <= 0) return true
      const leased = await outbox.leaseDue({ limit, limitPerAccount: concurrencyPerAccount, except, leaseMs })
      for (const [accountId, deliveries] of groupByAccount(leased)) start(accountId, deliveries)
      return leased.length > 0 || except.length > 0
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
        if (sending.size > 0) await Promise.race([...sending.values(), waitForPoll()])
      }
    } finally {
      await Promise.all(sending.values())
      stopped.removeEventListener('abort', stop)
    }
  }
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
