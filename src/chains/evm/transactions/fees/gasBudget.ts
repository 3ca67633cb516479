import type { RateLimiter } from '../../../../ports/rateLimiter.js'
import type { UrgentShare } from '../../../../ports/signerLanes.js'
import { createHourlyBudget, type HourlyBudget } from '../../../common/hourlyBudget.js'
import type { PromisedCost } from '../../../common/promisedCost.js'
import { larger } from '../../abi/words.js'
import type { Receipt } from '../../rpc/wireShapes.js'
import type { EvmNetworkSettings } from '../../settings.js'
import type { SettlementCall } from '../settlementCall.js'
import { withMargin } from '../simulation/simulate.js'
import type { Fees } from './fees.js'

/** The most that all transactions of one network may cost per hour, in gwei: settlements, replacements, gap fillers. */
export type GasBudget = HourlyBudget

// A payment by permit that deploys the router of its recipient takes less.
export const promisedGas = 240_000n

const weiPerGwei = 1_000_000_000n

export const toGwei = (wei: bigint): number => Number(wei / weiPerGwei) + 1

export const createGasBudget = (
  {
    network,
    gasBudgetGweiPerHour: limit,
    urgentGasGweiPerHour: urgentLimit,
  }: Pick<EvmNetworkSettings, 'network' | 'gasBudgetGweiPerHour' | 'urgentGasGweiPerHour'>,
  limiter: RateLimiter,
  promised?: PromisedCost,
): GasBudget =>
  createHourlyBudget(limiter, {
    network,
    purpose: 'gas',
    key: `gas:${network}`,
    limit,
    urgentLimit,
    ...(promised === undefined ? {} : { promised }),
  })

/**
 * Draws what a replacement costs in addition: for its urgent shares from the accounts that it is urgent for, the rest from what all
 * may spend. Where that is spent, one of the accounts that the transaction is urgent for draws all of it: they wait for the whole
 * transaction, or for its nonce. Throws SVC-3002 where none of them can.
 */
export const spendForReplacement = async (
  budget: Pick<GasBudget, 'spend' | 'spendUrgent'>,
  cost: number,
  {
    shares,
    isUrgentFor,
  }: { readonly shares: readonly UrgentShare[]; readonly isUrgentFor: readonly UrgentShare[] },
): Promise<void> => {
  const draws: (() => void)[] = []
  try {
    let rest = cost
    for (const { account, share } of shares) {
      const part = Math.min(rest, Math.ceil(cost * share))
      rest -= part
      if (part > 0) draws.push(await budget.spendUrgent(part, { account, caller: null }))
    }
    if (rest > 0) draws.push(await budget.spend(rest, null))
  } catch (error) {
    for (const refund of draws) refund()
    for (const account of new Set(isUrgentFor.map((each) => each.account))) {
      const drawn = await budget.spendUrgent(cost, { account, caller: null }).catch(() => null)
      if (drawn !== null) return
    }
    throw error
  }
}

/** Limit and price of a transaction. */
export interface OfferedGas {
  readonly gas: bigint
  readonly fees: Fees
}

/**
 * What a mined transaction cost, in wei; null if the node does not say. A single node could report too little, so that at
 * least half of the limit is counted, at the lowest likely price.
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

/** Gas per call of a batch; unused gas is not paid. */
interface GasAllowance {
  /** Zero until a call that is sent alone was estimated. */
  readonly perCall: bigint
  /** Records the gas limit of a batchable call in a transaction of its own. */
  onLimit(gas: bigint, call: Pick<SettlementCall, 'reorgGas'>): void
}

// A first payment to a recipient takes Circle's USDC about 82k in a batch.
const minGasPerCall = 100_000n
// Every transaction pays this once, so the estimate of a single call includes it (yellow paper, appendix G).
const transactionGas = 21_000n

/**
 * Learns from single estimates: some chains charge calldata as gas, which only an estimate shows, and
 * estimating a whole batch costs the node ten times as much as running it.
 */
export const createGasAllowance = (): GasAllowance => {
  let highest = 0n
  return {
    get perCall() {
      if (highest === 0n) return 0n
      return highest > minGasPerCall ? highest : minGasPerCall
    },
    onLimit: (limit, { reorgGas }) => {
      const gas = limit - reorgGas
      // Decays slowly: one expensive hour must not keep batches small.
      highest = gas > highest ? gas : (highest * 63n + gas) / 64n
    },
  }
}

/** Each call has `perCall`, which includes the transaction's own gas, and what a reorg can add beyond that. */
export const gasForBatch = (perCall: bigint, calls: readonly Pick<SettlementCall, 'reorgGas'>[]): bigint => {
  const shared = withMargin(transactionGas)
  const more = calls.reduce((sum, { reorgGas }) => sum + (reorgGas > shared ? reorgGas - shared : 0n), 0n)
  return transactionGas + perCall * BigInt(calls.length) + more
}
