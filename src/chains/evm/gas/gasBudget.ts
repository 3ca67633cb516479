import { AppError } from '../../../errors.js'
import type { RateLimiter } from '../../../ports/rateLimiter.js'
import type { EvmNetworkSettings } from '../settings.js'

const hourMs = 3_600_000
const weiPerGwei = 1_000_000_000n

/** Holds what one network may cost per hour; strangers decide how often we settle, not how much we spend. */
export const spendGasBudget = async (
  limiter: RateLimiter,
  { network, gasBudgetGweiPerHour }: Pick<EvmNetworkSettings, 'network' | 'gasBudgetGweiPerHour'>,
  wei: bigint,
): Promise<void> => {
  const answer = await limiter.take([
    {
      key: `gas:${network}`,
      limit: gasBudgetGweiPerHour,
      windowMs: hourMs,
      cost: Number(wei / weiPerGwei) + 1,
    },
  ])
  if (answer.isAllowed) return
  throw new AppError('SERVICE_UNAVAILABLE', `The hourly gas budget of ${network} is spent`, {
    operationalCode: 'SVC-3002',
    retryAfterSeconds: 60,
  })
}
