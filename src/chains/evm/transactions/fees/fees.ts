import type { AppError } from '../../../../errors.js'
import type { Clock } from '../../../../ports/clock.js'
import { networkUnavailable } from '../../../common/networkUnavailable.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { FeeHistory } from '../../rpc/wireShapes.js'
import type { EvmNetworkSettings } from '../../settings.js'

/** What a transaction offers for its gas, in wei. */
export type Fees =
  | { readonly type: 'eip1559'; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  | { readonly type: 'legacy'; readonly gasPrice: bigint }

/** What gas costs. */
export interface FeeReading {
  /** What to offer, or null when that would be more than the operator allows. */
  readonly fees: Fees | null
  /** What a transaction of this moment really pays per gas, in wei. */
  readonly price: bigint
}

/** The current fees of one network, kept in the background. */
export interface FeeOracle {
  /**
   * What to offer now. Waits for a node only when nothing recent is known; throws `networkUnavailable` when it is more
   * than the operator allows.
   */
  read(): Promise<Fees>
  /** Asks the nodes anew, at most every two seconds. */
  refresh(): Promise<FeeReading>
}

// So old may fees become before a reader has them refreshed behind his back…
const maxFreshMs = 2_000
// …and so old before he waits for that. The monitor's rounds keep an idle network below it.
const maxUsableMs = 12_000

const historyBlocks = 10
const tipPercentile = 50
// For nodes that know neither tips of recent blocks nor eth_maxPriorityFeePerGas.
const fallbackTip = 1_000_000n

/** Builds the oracle of one network; everybody who asks at the same time shares one answer. */
export const createFeeOracle = (
  { network, maxFeePerGas: cap }: Pick<EvmNetworkSettings, 'network' | 'maxFeePerGas'>,
  rpc: Rpc,
  clock: Clock,
): FeeOracle => {
  let known: { readonly reading: FeeReading; readonly at: number } | null = null
  let asking: Promise<FeeReading> | null = null

  /** Null for a clock that was set back, too: then nobody knows how old the fees are. */
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
      // A failure leaves the fees as they are; who finds them too old hears of it.
      if (usable !== null) void refresh().catch(() => undefined)
      const { fees } = usable ?? (await refresh())
      if (fees === null) throw tooExpensive(network)
      return fees
    },
    refresh,
  }
}

/** The highest price per gas, in wei, that the fees allow. */
export const highestGasPrice = (fees: Fees): bigint =>
  fees.type === 'legacy' ? fees.gasPrice : fees.maxFeePerGas

/** What the nodes say: the base fee of the next block with a tip, or one price where there is no base fee. */
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
  // What others pay decides where it is more than the node's suggestion, which is a floor.
  const tip = paidTip !== null && paidTip > (suggestedTip ?? 0n) ? paidTip : suggestedTip
  return { type: 'eip1559', baseFee, tip: tip ?? fallbackTip }
}

/** A history without base fees comes from nodes of both kinds: then the newest block tells. */
const findBaseFee = async (rpc: Rpc, history: FeeHistory | null): Promise<bigint | null> => {
  const next = history?.baseFeePerGas?.at(-1) ?? 0n
  if (next > 0n) return next
  return (await rpc.getBlock('latest'))?.baseFeePerGas ?? null
}

/** The median over recent blocks of the tip that half of a block's gas paid; null when nobody paid one. */
export const findTypicalTip = ({ reward, gasUsedRatio }: FeeHistory): bigint | null => {
  // An empty block says zero, which is nobody's tip.
  const tips = (reward ?? []).flatMap(([tip], index) =>
    tip === undefined || gasUsedRatio?.[index] === 0 ? [] : [tip],
  )
  const sorted = tips.sort((left, right) => (left < right ? -1 : Number(left > right)))
  return sorted[Math.floor(sorted.length / 2)] ?? null
}

/** What to offer on a market, never more than the cap, and nothing where the cap cannot pay for the next block. */
export const limitFees = (market: Market, cap: bigint | null): FeeReading => {
  const price = market.type === 'legacy' ? market.gasPrice : market.baseFee + market.tip
  if (cap !== null && price > cap) return { fees: null, price }
  const limit = (wanted: bigint) => (cap === null || wanted < cap ? wanted : cap)
  if (market.type === 'legacy') {
    return { fees: { type: 'legacy', gasPrice: limit((price * 12n) / 10n) }, price }
  }
  // Twice the base fee outlives six full blocks in a row; what is not needed is not paid.
  const maxFeePerGas = limit(market.baseFee * 2n + market.tip)
  return { fees: { type: 'eip1559', maxFeePerGas, maxPriorityFeePerGas: market.tip }, price }
}

const tooExpensive = (network: string): AppError =>
  networkUnavailable(network, new Error('Gas costs more than the configured maximum'))
