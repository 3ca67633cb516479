import { AppError } from '../../../errors.js'
import type { RateLimiter } from '../../../ports/rateLimiter.js'
import type { SolanaNetworkSettings } from '../settings.js'

const hourMs = 3_600_000

/** Holds what one cluster may cost per hour; strangers decide how often we settle, not how much we spend. */
export const spendFeeBudget = async (
  limiter: RateLimiter,
  { network, feeBudgetLamportsPerHour }: Pick<SolanaNetworkSettings, 'network' | 'feeBudgetLamportsPerHour'>,
  lamports: bigint,
): Promise<void> => {
  const answer = await limiter.take([
    {
      key: `fees:${network}`,
      limit: feeBudgetLamportsPerHour,
      windowMs: hourMs,
      cost: Number(lamports),
    },
  ])
  if (answer.isAllowed) return
  throw new AppError('SERVICE_UNAVAILABLE', `The hourly fee budget of ${network} is spent`, {
    operationalCode: 'SVC-3002',
    retryAfterSeconds: 60,
  })
}
