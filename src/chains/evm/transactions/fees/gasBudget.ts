import type { RateLimiter } from '../../../../ports/rateLimiter.js'
import { spendHourlyBudget } from '../../../common/hourlyBudget.js'
import type { EvmNetworkSettings } from '../../settings.js'

/** The most that all transactions of one network may cost per hour: settlements, replacements and gap fillers. */
export interface GasBudget {
  /** Draws wei of native coin; throws SVC-3002 when the budget is spent. */
  spend(wei: bigint): Promise<void>
}

const weiPerGwei = 1_000_000_000n

/** Instances that share the limiter's store share the budget. */
export const createGasBudget = (
  { network, gasBudgetGweiPerHour: limit }: Pick<EvmNetworkSettings, 'network' | 'gasBudgetGweiPerHour'>,
  limiter: RateLimiter,
): GasBudget => ({
  spend: (wei) =>
    spendHourlyBudget(
      limiter,
      { network, purpose: 'gas', key: `gas:${network}`, limit },
      Number(wei / weiPerGwei) + 1,
    ),
})
