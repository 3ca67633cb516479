import type { RateLimiter } from '../../../../ports/rateLimiter.js'
import { createHourlyBudget, type HourlyBudget } from '../../../common/hourlyBudget.js'
import type { PromisedCost } from '../../../common/promisedCost.js'
import { larger } from '../../abi/words.js'
import type { Receipt } from '../../rpc/wireShapes.js'
import type { EvmNetworkSettings } from '../../settings.js'
import type { Fees } from './fees.js'
import { transactionGas } from './gasAllowance.js'

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

/** Limit and price of a transaction. */
export interface OfferedGas {
  readonly gas: bigint
  readonly fees: Fees
}

/**
 * What a mined transaction cost, in wei; null if the node does not say. One node reports it, so that a lower bound holds:
 * half of the limit, which is an estimate and a fifth, at the lowest price that is likely.
 */
export const costOf = (
  { gasUsed, effectiveGasPrice, l1Fee }: Receipt,
  { gas, fees }: OfferedGas,
): bigint | null => {
  if (gasUsed == null || effectiveGasPrice == null) return null
  const used = larger(gasUsed, larger(transactionGas, gas / 2n))
  return used * larger(effectiveGasPrice, findLowestPrice(fees)) + (l1Fee ?? 0n)
}

// A maximum is twice the base fee and the tip. The base fee falls by an eighth a block (EIP-1559): six empty blocks halve it.
const findLowestPrice = (fees: Fees): bigint =>
  fees.type === 'legacy'
    ? fees.gasPrice
    : fees.maxPriorityFeePerGas + (fees.maxFeePerGas - fees.maxPriorityFeePerGas) / 4n
