import type { AppError } from '../../../../errors.js'
import type { Clock } from '../../../../ports/clock.js'
import { networkUnavailable } from '../../../common/networkUnavailable.js'
import { larger } from '../../abi/words.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { EvmNetworkSettings } from '../../settings.js'
import { createFeeBounds, type Market, readMarket } from './market.js'

/** In wei per gas. */
export type Fees =
  | { readonly type: 'eip1559'; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  | { readonly type: 'legacy'; readonly gasPrice: bigint }

export interface FeeReading {
  /** Null when it exceeds the cap: the operator's, or ten times the usual price. */
  readonly fees: Fees | null
  /** Price actually paid per gas now, in wei. */
  readonly price: bigint
}

export interface FeeOracle {
  /** Waits for a node only without a recent reading; throws `networkUnavailable` above the cap. */
  read(): Promise<Fees>
  /** Requests new fees, at most every two seconds. */
  refresh(): Promise<FeeReading>
  /** Price actually paid per gas at the last reading, in wei, without asking a node; null before the first. */
  findPrice(): bigint | null
  /** The most that is offered per gas, in wei. */
  getMaxFeePerGas(): bigint
}

// Fees older than this are refreshed in the background.
const maxFreshMs = 2_000
// Fees older than this are not used. The monitor's rounds keep a network that is used below it; the first payment after a
// pause waits for new ones.
const maxUsableMs = 12_000

/** Concurrent refreshes share one request. */
export const createFeeOracle = (
  settings: Pick<EvmNetworkSettings, 'network' | 'maxFeePerGas' | 'maxPriorityFeePerGas' | 'plausibleFees'>,
  rpc: Rpc,
  clock: Clock,
): FeeOracle => {
  const { network } = settings
  const bounds = createFeeBounds(settings)
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
    const reading = limitFees(bounds.apply(await readMarket(rpc), at), bounds.maxFeePerGas)
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
    findPrice: () => known?.reading.price ?? null,
    getMaxFeePerGas: () => bounds.maxFeePerGas,
  }
}

/** Highest price per gas, in wei. */
export const highestGasPrice = (fees: Fees): bigint =>
  fees.type === 'legacy' ? fees.gasPrice : fees.maxFeePerGas

/** Offers at most the cap; `fees` is null when the cap is below the next base fee. */
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
  networkUnavailable(network, new Error('Gas costs more than is offered at most'))

interface FeeOffer {
  readonly highest: bigint
  readonly tip: bigint
}

/** Offers at least the minimum bump and the current fees; null above the cap (wei per gas; null: no cap). */
export const bumpFees = (old: Fees, current: Fees, cap: bigint | null): Fees | null => {
  const [before, now] = [readOffer(old), readOffer(current)]
  const tip = larger(raise(before.tip), now.tip)
  const highest = larger(larger(raise(before.highest), now.highest), tip)
  if (cap !== null && highest > cap) return null
  return current.type === 'legacy'
    ? { type: 'legacy', gasPrice: highest }
    : { type: 'eip1559', maxFeePerGas: highest, maxPriorityFeePerGas: tip }
}

// A legacy transaction offers its whole price as tip.
const readOffer = (fees: Fees): FeeOffer =>
  fees.type === 'legacy'
    ? { highest: fees.gasPrice, tip: fees.gasPrice }
    : { highest: fees.maxFeePerGas, tip: fees.maxPriorityFeePerGas }

// 12.5 % more, rounded up: geth demands 10 % more of either price, and a wei more than zero.
const raise = (price: bigint): bigint => (price === 0n ? 1n : (price * 9n + 7n) / 8n)
