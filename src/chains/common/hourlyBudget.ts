import { AppError } from '../../errors.js'
import type { LimitWindow, RateLimiter } from '../../ports/rateLimiter.js'

/** What one network may cost us in an hour, in whatever unit its settings count. */
export interface HourlyBudget {
  readonly network: string
  /** What it is spent on, as the refusal says it. */
  readonly called: string
  /** How the store of limits knows it; instances that share the store share the budget. */
  readonly key: string
  readonly limit: number
}

const hourMs = 3_600_000

/** Draws from a budget, or throws: strangers decide how often we settle, not how much we spend. */
export const spendHourlyBudget = async (
  limiter: RateLimiter,
  { network, called, key, limit }: HourlyBudget,
  cost: number,
): Promise<void> => {
  const window: LimitWindow = { key, limit, windowMs: hourMs, cost }
  const { isAllowed } = await limiter.take([window])
  if (isAllowed) return
  throw new AppError('SERVICE_UNAVAILABLE', `The hourly ${called} budget of ${network} is spent`, {
    operationalCode: 'SVC-3002',
    retryAfterSeconds: 60,
  })
}
