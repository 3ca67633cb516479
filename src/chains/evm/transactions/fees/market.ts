import { withTimeout } from '../../../../concurrency/deadline.js'
import { larger, smaller } from '../../abi/words.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { FeeHistory } from '../../rpc/wireShapes.js'
import type { EvmNetworkSettings } from '../../settings.js'

/** The price of gas in wei: the next base fee and a tip, or one price on chains without base fee. */
export type Market =
  | { readonly type: 'eip1559'; readonly baseFee: bigint; readonly tip: bigint }
  | { readonly type: 'legacy'; readonly gasPrice: bigint }

const historyBlocks = 10
const tipPercentile = 50
// Some nodes know neither tips of recent blocks nor eth_maxPriorityFeePerGas.
const fallbackTip = 1_000_000n
// A slow endpoint is not waited for where others answer.
const answerMs = 1_500

/** The median of what the healthy endpoints report. */
export const readMarket = async (rpc: Rpc): Promise<Market> => {
  const witnesses = rpc.listWitnesses()
  if (witnesses.length < 2) return await readMarketOf(rpc)
  const answers = await Promise.allSettled(
    witnesses.map((witness) => withTimeout(readMarketOf(rpc.viewOf(witness)), answerMs)),
  )
  const markets = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  return combineMarkets(markets) ?? (await readMarketOf(rpc))
}

/**
 * Takes of two reports the lower tip and the lower price, which are paid in full, and the higher base fee, of which only
 * the actual one is paid. Null without a report.
 */
export const combineMarkets = (markets: readonly Market[]): Market | null => {
  // A node that omits base fees reports one price, which would be paid in full.
  const dynamic = markets.filter((market) => market.type === 'eip1559')
  const baseFee = findUpperMedian(dynamic.map((market) => market.baseFee))
  const tip = findMedian(dynamic.map((market) => market.tip))
  if (baseFee !== null && tip !== null) return { type: 'eip1559', baseFee, tip }
  const gasPrice = findMedian(
    markets.flatMap((market) => (market.type === 'legacy' ? [market.gasPrice] : [])),
  )
  return gasPrice === null ? null : { type: 'legacy', gasPrice }
}

/** The lower median; null of nothing. */
const findMedian = (values: readonly bigint[]): bigint | null =>
  sort(values)[Math.floor((values.length - 1) / 2)] ?? null

const findUpperMedian = (values: readonly bigint[]): bigint | null =>
  sort(values)[Math.floor(values.length / 2)] ?? null

const sort = (values: readonly bigint[]): readonly bigint[] =>
  [...values].sort((left, right) => (left < right ? -1 : Number(left > right)))

const readMarketOf = async (rpc: Rpc): Promise<Market> => {
  const [history, suggestedTip] = await Promise.all([
    rpc.getFeeHistory(historyBlocks, tipPercentile).catch(() => null),
    rpc.getPriorityFee().catch(() => null),
  ])
  const baseFee = await findBaseFee(rpc, history)
  if (baseFee === null) return { type: 'legacy', gasPrice: await rpc.getGasPrice() }
  const paidTip = history === null ? null : findTypicalTip(history)
  // The node's suggestion is a floor under what others pay.
  const tip = paidTip !== null && paidTip > (suggestedTip ?? 0n) ? paidTip : suggestedTip
  return { type: 'eip1559', baseFee, tip: tip ?? fallbackTip }
}

/** Nodes of both kinds may omit base fees from the history: then the newest block decides. */
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
  return findUpperMedian(tips)
}

/** What a transaction may offer per gas, in wei, whatever the nodes report. */
interface FeeBounds {
  /** Records an observation, and lowers a tip that is too high. */
  apply(market: Market, nowMs: number): Market
  /** The most that is offered. */
  readonly maxFeePerGas: bigint
}

// The last hour is observed, once a minute.
const slotMs = 60_000
const slots = 60
// While there are fewer, only plausible prices are offered.
const minSlots = 10

// Reported prices above these multiples of the last hour's median are not believed.
const maxOverUsualPrice = 10n
const maxOverUsualBaseFee = 4n
// A tip is paid in full, while of the base fee only the actual one is.
const maxTipOverBaseFee = 2n

interface Observation {
  readonly atMs: number
  readonly baseFee: bigint
  readonly price: bigint
}

/** Applies the operator's limits, or else limits from what was observed over the last hour. */
export const createFeeBounds = ({
  maxFeePerGas,
  maxPriorityFeePerGas,
  plausibleFees,
}: Pick<EvmNetworkSettings, 'maxFeePerGas' | 'maxPriorityFeePerGas' | 'plausibleFees'>): FeeBounds => {
  let observed: readonly Observation[] = []

  const observe = (market: Market, atMs: number): void => {
    const last = observed.at(-1)
    if (last !== undefined && Math.abs(atMs - last.atMs) < slotMs) return
    const baseFee = market.type === 'legacy' ? 0n : market.baseFee
    const price = market.type === 'legacy' ? market.gasPrice : market.baseFee + market.tip
    observed = [...observed, { atMs, baseFee, price }].slice(-slots)
  }

  /** Null while too little was observed. */
  const findUsual = (of: 'baseFee' | 'price'): bigint | null =>
    observed.length < minSlots ? null : findMedian(observed.map((each) => each[of]))

  const findMaxTip = (baseFee: bigint): bigint => {
    if (maxPriorityFeePerGas !== null) return maxPriorityFeePerGas
    const usual = findUsual('baseFee')
    const believed = usual === null ? baseFee : smaller(baseFee, usual * maxOverUsualBaseFee)
    return larger(plausibleFees.maxPriorityFeePerGas, believed * maxTipOverBaseFee)
  }

  return {
    get maxFeePerGas() {
      return (
        maxFeePerGas ?? larger(plausibleFees.maxFeePerGas, (findUsual('price') ?? 0n) * maxOverUsualPrice)
      )
    },
    apply: (market, nowMs) => {
      const bounded =
        market.type === 'legacy'
          ? market
          : { ...market, tip: smaller(market.tip, findMaxTip(market.baseFee)) }
      observe(bounded, nowMs)
      return bounded
    },
  }
}
