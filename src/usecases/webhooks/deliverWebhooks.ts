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
  /** Longer than an attempt can take: who has not finished by then is dead. 30 s unless told. */
  readonly leaseMs?: number
  /** How many are sent at once; 128 unless told. */
  readonly atOnce?: number
  /** How many of them to one account's receiver; 4 unless told. */
  readonly atOncePerAccount?: number
  /** How often is looked for more while receivers are slow; 500 ms unless told. */
  readonly lookAgainMs?: number
}

/**
 * Builds the job that delivers what is due; a round ends when nothing is under way and nothing due. An account
 * whose receiver is slow waits for its own deliveries, and nobody else does.
 */
export const createDeliverWebhooks = (dependencies: DeliverWebhooksDependencies) => {
  const { outbox, sendWebhook, counter, logger, leaseMs = 30_000, lookAgainMs = 500 } = dependencies
  const { atOnce = 128, atOncePerAccount = 4 } = dependencies

  const attempt = async (taken: LeasedDelivery, stopped: AbortSignal): Promise<void> => {
    const named = { deliveryId: taken.id, type: taken.type, accountId: taken.accountId }
    try {
      const answer = await sendWebhook(taken, taken.endpoint, stopped)
      const outcome = decideAttempt(answer, taken.attempts)
      await outbox.finish(taken, outcome)
      counter.countWebhook(outcome.state)
      logger.info({ ...named, attempt: taken.attempts + 1, ...answer }, `webhook.${outcome.state}`)
    } catch (error) {
      if (stopped.aborted) {
        await outbox.returnToQueue(taken).catch(() => undefined)
        return
      }
      // Its secret cannot be read, or the database does not answer: the lease ends by itself, and then it is tried again.
      logger.error({ ...named, error }, 'webhook.attempt_failed')
    }
  }

  return async (stopped: AbortSignal): Promise<void> => {
    /** What is under way, by account. */
    const sending = new Map<string, Promise<void>>()
    let underWay = 0
    /** One for each attempt: hundreds that listen to the same signal look like a leak. */
    const attempts = new Set<AbortController>()
    const stop = () => {
      for (const each of attempts) each.abort(stopped.reason)
    }
    stopped.addEventListener('abort', stop, { once: true })

    const attemptStoppably = async (taken: LeasedDelivery): Promise<void> => {
      const controller = new AbortController()
      attempts.add(controller)
      if (stopped.aborted) controller.abort(stopped.reason)
      await attempt(taken, controller.signal)
      attempts.delete(controller)
    }

    const start = (accountId: string, deliveries: readonly LeasedDelivery[]) => {
      underWay += deliveries.length
      const sent = Promise.all(deliveries.map(attemptStoppably)).then(() => {
        underWay -= deliveries.length
        sending.delete(accountId)
      })
      sending.set(accountId, sent)
    }

    /** False when nothing is due: what became free while we asked was not asked about. */
    const takeMore = async (): Promise<boolean> => {
      const limit = atOnce - underWay
      const except = [...sending.keys()]
      if (limit <= 0) return true
      const taken = await outbox.takeDue({ limit, limitPerAccount: atOncePerAccount, except, leaseMs })
      for (const [accountId, deliveries] of groupByAccount(taken)) start(accountId, deliveries)
      return taken.length > 0 || except.length > 0
    }

    let pause: Promise<unknown> | null = null
    const rest = (): Promise<unknown> => {
      pause ??= sleep(lookAgainMs, stopped).then(() => {
        pause = null
      })
      return pause
    }

    try {
      while (!stopped.aborted && (await takeMore())) {
        if (sending.size > 0) await Promise.race([...sending.values(), rest()])
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
