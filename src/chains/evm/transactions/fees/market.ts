import { withSignal } from '../../../../concurrency/deadline.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { FeeHistory } from '../../rpc/wireShapes.js'

/** The price of gas in wei: the next base fee and a tip, or one price on chains without base fee. */
export type Market =
  | { readonly type: 'eip1559'; readonly baseFee: bigint; readonly tip: bigint }
  | { readonly type: 'legacy'; readonly gasPrice: bigint }

const historyBlocks = 10
const tipPercentile = 50
// For nodes that know neither tips of recent blocks nor eth_maxPriorityFeePerGas.
const fallbackTip = 1_000_000n
// A slow endpoint is not waited for where others answer.
const answerMs = 1_500

/** The median of what the healthy endpoints report. */
export const readMarket = async (rpc: Rpc): Promise<Market> => {
  const witnesses = rpc.listWitnesses()
  if (witnesses.length < 2) return await readMarketOf(rpc)
  const answers = await Promise.allSettled(
    witnesses.map((witness) => withSignal(readMarketOf(rpc.viewOf(witness)), AbortSignal.timeout(answerMs))),
  )
  const markets = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  return combineMarkets(markets) ?? (await readMarketOf(rpc))
}

/**
 * Of two reports the lower tip and the lower price, which are paid in full, and the higher base fee, of which only the
 * actual one is paid. Null without a report.
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
export const findMedian = (values: readonly bigint[]): bigint | null =>
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
