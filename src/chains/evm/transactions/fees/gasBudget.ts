import type { RateLimiter } from '../../../../ports/rateLimiter.js'
import { spendHourlyBudget } from '../../../common/hourlyBudget.js'
import type { EvmNetworkSettings } from '../../settings.js'

const weiPerGwei = 1_000_000_000n

/** Holds what one network may cost per hour. */
export const spendGasBudget = (
  limiter: RateLimiter,
  { network, gasBudgetGweiPerHour }: Pick<EvmNetworkSettings, 'network' | 'gasBudgetGweiPerHour'>,
  wei: bigint,
): Promise<void> => {
  const budget = { network, purpose: 'gas', key: `gas:${network}`, limit: gasBudgetGweiPerHour }
  return spendHourlyBudget(limiter, budget, Number(wei / weiPerGwei) + 1)
}
