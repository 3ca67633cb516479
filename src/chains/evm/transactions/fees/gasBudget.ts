import type { RateLimiter } from '../../../../ports/rateLimiter.js'
import { createHourlyBudget, type HourlyBudget } from '../../../common/hourlyBudget.js'
import type { EvmNetworkSettings } from '../../settings.js'

/** The most that all transactions of one network may cost per hour, in gwei: settlements, replacements, gap fillers. */
export type GasBudget = HourlyBudget

const weiPerGwei = 1_000_000_000n

export const toGwei = (wei: bigint): number => Number(wei / weiPerGwei) + 1

export const createGasBudget = (
  { network, gasBudgetGweiPerHour: limit }: Pick<EvmNetworkSettings, 'network' | 'gasBudgetGweiPerHour'>,
  limiter: RateLimiter,
): GasBudget => createHourlyBudget(limiter, { network, purpose: 'gas', key: `gas:${network}`, limit })
