import { AppError } from '../../../errors.js'
import type { RateLimiter } from '../../../ports/rateLimiter.js'
import type { TonNetworkSettings } from '../settings.js'

const hourMs = 3_600_000

/** Holds what relaying may attach per hour; strangers decide how often we settle, not how much we spend. */
export const spendRelayBudget = async (
  limiter: RateLimiter,
  { network, relayBudgetPerHour }: Pick<TonNetworkSettings, 'network' | 'relayBudgetPerHour'>,
  nanoTon: bigint,
): Promise<void> => {
  const answer = await limiter.take([
    { key: `gas:${network}`, limit: relayBudgetPerHour, windowMs: hourMs, cost: Number(nanoTon) },
  ])
  if (answer.isAllowed) return
  throw new AppError('SERVICE_UNAVAILABLE', `The hourly relay budget of ${network} is spent`, {
    operationalCode: 'SVC-3002',
    retryAfterSeconds: 60,
  })
}
