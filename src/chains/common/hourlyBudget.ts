import { AppError } from '../../errors.js'
import type { LimitWindow, RateLimiter } from '../../ports/rateLimiter.js'

interface HourlyBudget {
  readonly network: string
  /** Appears in the error message, such as `fee`. */
  readonly purpose: string
  /** Key in the rate limiter; instances that share its store share the budget. */
  readonly key: string
  readonly limit: number
}

const hourMs = 3_600_000

/** Limits what settlements cost the facilitator per hour. Throws SVC-3002 when the budget is spent. */
export const spendHourlyBudget = async (
  limiter: RateLimiter,
  { network, purpose, key, limit }: HourlyBudget,
  cost: number,
): Promise<void> => {
  const window: LimitWindow = { key, limit, windowMs: hourMs, cost }
  const { isAllowed } = await limiter.take([window])
  if (isAllowed) return
  throw new AppError('SERVICE_UNAVAILABLE', `The hourly ${purpose} budget of ${network} is spent`, {
    operationalCode: 'SVC-3002',
    retryAfterSeconds: 60,
  })
}
