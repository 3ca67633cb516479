import { AppError } from '../../errors.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import { getEndpoint, type WebhookDependencies } from './dependencies.js'
import type { WebhookUseCases } from './useCases.js'
import { viewDelivery } from './viewDelivery.js'

const redeliveriesPerMinute = 60
const minuteMs = 60_000

export interface RedeliverDependencies extends Pick<WebhookDependencies, 'outbox' | 'clock'> {
  readonly limiter: Pick<RateLimiter, 'take'>
}

export const createRedeliver =
  ({ outbox, clock, limiter }: RedeliverDependencies): WebhookUseCases['redeliver'] =>
  async (account, deliveryId) => {
    await getEndpoint(outbox, account)
    const { isAllowed, windows } = await limiter.take([
      { key: `redeliver:${account.customer}`, limit: redeliveriesPerMinute, windowMs: minuteMs },
    ])
    if (!isAllowed) {
      const resetsAt = windows[0]?.resetsAt ?? clock.now()
      throw new AppError('RATE_LIMITED', `At most ${redeliveriesPerMinute} redeliveries a minute`, {
        retryAfterSeconds: Math.max(1, Math.ceil((resetsAt.getTime() - clock.now().getTime()) / 1_000)),
      })
    }
    const delivery = await outbox.redeliver(account.id, deliveryId)
    if (delivery === null) throw new AppError('NOT_FOUND', 'Delivery not found')
    return viewDelivery(delivery)
  }
