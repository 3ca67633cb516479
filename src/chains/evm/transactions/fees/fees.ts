import type { AppError } from '../../../../errors.js'
import type { Clock } from '../../../../ports/clock.js'
import { networkUnavailable } from '../../../common/networkUnavailable.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { FeeHistory } from '../../rpc/wireShapes.js'
import type { EvmNetworkSettings } from '../../settings.js'

/** In wei per gas. */
export type Fees =
  | { readonly type: 'eip1559'; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  | { readonly type: 'legacy'; readonly gasPrice: bigint }

export interface FeeReading {
  /** Null when it exceeds the operator's cap. */
  readonly fees: Fees | null
  /** Price actually paid per gas now, in wei. */
  readonly price: bigint
}

export interface FeeOracle {
  /** Waits for a node only without a recent reading; throws `networkUnavailable` above the cap. */
  read(): Promise<Fees>
  /** Requests new fees, at most every two seconds. */
  refresh(): Promise<FeeReading>
}

// Fees older than this are refreshed in the background.
const maxFreshMs = 2_000
// Fees older than this are not used. The monitor's rounds keep an idle network below it.
const maxUsableMs = 12_000

const historyBlocks = 10
const tipPercentile = 50
// For nodes that know neither tips of recent blocks nor eth_maxPriorityFeePerGas.
const fallbackTip = 1_000_000n

/** Concurrent refreshes share one request. */
export const createFeeOracle = (
  { network, maxFeePerGas: cap }: Pick<EvmNetworkSettings, 'network' | 'maxFeePerGas'>,
  rpc: Rpc,
  clock: Clock,
): FeeOracle => {
  let known: { readonly reading: FeeReading; readonly at: number } | null = null
  let asking: Promise<FeeReading> | null = null

  /** Null also when the clock was set back. */
  const findAtMost = (ageMs: number): FeeReading | null => {
    if (known === null) return null
    const age = clock.now().getTime() - known.at
    return age >= 0 && age < ageMs ? known.reading : null
  }

  const ask = async (): Promise<FeeReading> => {
    const at = clock.now().getTime()
    const reading = limitFees(await readMarket(rpc), cap)
    known = { reading, at }
    return reading
  }

  const refresh = async (): Promise<FeeReading> => {
    const fresh = findAtMost(maxFreshMs)
    if (fresh !== null) return fresh
    asking ??= ask().finally(() => {
      asking = null
    })
    return await asking
  }

  return {
    read: async () => {
      const usable = findAtMost(maxUsableMs)
      // On failure the old fees remain until they are too old.
      if (usable !== null) void refresh().catch(() => undefined)
      const { fees } = usable ?? (await refresh())
      if (fees === null) throw tooExpensive(network)
      return fees
    },
    refresh,
  }
}

/** Highest price per gas, in wei. */
export const highestGasPrice = (fees: Fees): bigint =>
  fees.type === 'legacy' ? fees.gasPrice : fees.maxFeePerGas

/** The nodes' prices: the next base fee and a tip, or one price on chains without base fee. */
export type Market =
  | { readonly type: 'eip1559'; readonly baseFee: bigint; readonly tip: bigint }
  | { readonly type: 'legacy'; readonly gasPrice: bigint }

const readMarket = async (rpc: Rpc): Promise<Market> => {
  const [history, suggestedTip] = await Promise.all([
    rpc.getFeeHistory(historyBlocks, tipPercentile).catch(() => null),
    rpc.getPriorityFee().catch(() => null),
  ])
  const baseFee = await findBaseFee(rpc, history)
  if (baseFee === null) return { type: 'legacy', gasPrice: await rpc.getGasPrice() }
  const paidTip = history === null ? null : findTypicalTip(history)
  // The node's suggestion is a lower bound.
  const tip = paidTip !== null && paidTip > (suggestedTip ?? 0n) ? paidTip : suggestedTip
  return { type: 'eip1559', baseFee, tip: tip ?? fallbackTip }
}

/** Nodes may omit base fees from the history; then the newest block decides. */
const findBaseFee = async (rpc: Rpc, history: FeeHistory | null): Promise<bigint | null> => {
  const next = history?.baseFeePerGas?.at(-1) ?? 0n
  if (next > 0n) return next
  return (await rpc.getBlock('latest'))?.baseFeePerGas ?? null
}

/** The median over recent blocks of each block's median tip; null when no block has one. */
export const findTypicalTip = ({ reward, gasUsedRatio }: FeeHistory): bigint | null => {
  // An empty block reports a tip of zero.
  const tips = (reward ?? []).flatMap(([tip], index) =>
    tip === undefined || gasUsedRatio?.[index] === 0 ? [] : [tip],
  )
  const sorted = tips.sort((left, right) => (left < right ? -1 : Number(left > right)))
  return sorted[Math.floor(sorted.length / 2)] ?? null
}

/** Never above the cap; null when the cap is below the next base fee. */
export const limitFees = (market: Market, cap: bigint | null): FeeReading => {
  const price = market.type === 'legacy' ? market.gasPrice : market.baseFee + market.tip
  if (cap !== null && price > cap) return { fees: null, price }
  const limit = (wanted: bigint) => (cap === null || wanted < cap ? wanted : cap)
  if (market.type === 'legacy') {
    return { fees: { type: 'legacy', gasPrice: limit((price * 12n) / 10n) }, price }
  }
  // Twice the base fee survives six full blocks in a row; the surplus is not paid.
  const maxFeePerGas = limit(market.baseFee * 2n + market.tip)
  return { fees: { type: 'eip1559', maxFeePerGas, maxPriorityFeePerGas: market.tip }, price }
}

const tooExpensive = (network: string): AppError =>
  networkUnavailable(network, new Error('Gas costs more than the configured maximum'))
