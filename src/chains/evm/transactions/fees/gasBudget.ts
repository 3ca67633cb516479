import type { RateLimiter } from '../../../../ports/rateLimiter.js'
import { createHourlyBudget, type HourlyBudget } from '../../../common/hourlyBudget.js'
import type { PromisedCost } from '../../../common/promisedCost.js'
import type { Receipt } from '../../rpc/rpc.js'
import type { EvmNetworkSettings } from '../../settings.js'

/** The most that all transactions of one network may cost per hour, in gwei: settlements, replacements, gap fillers. */
export type GasBudget = HourlyBudget

// A payment by permit that deploys the router of its recipient takes less.
export const promisedGas = 240_000n

const weiPerGwei = 1_000_000_000n

export const toGwei = (wei: bigint): number => Number(wei / weiPerGwei) + 1

export const createGasBudget = (
  { network, gasBudgetGweiPerHour: limit }: Pick<EvmNetworkSettings, 'network' | 'gasBudgetGweiPerHour'>,
  limiter: RateLimiter,
  promised?: PromisedCost,
): GasBudget =>
  createHourlyBudget(limiter, {
    network,
    purpose: 'gas',
    key: `gas:${network}`,
    limit,
    ...(promised === undefined ? {} : { promised }),
  })

/** What a mined transaction cost, in wei; null if the node does not say. */
export const costOf = ({ gasUsed, effectiveGasPrice, l1Fee }: Receipt): bigint | null =>
  gasUsed == null || effectiveGasPrice == null ? null : gasUsed * effectiveGasPrice + (l1Fee ?? 0n)
