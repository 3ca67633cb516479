import { withinDeadline } from '../../concurrency/deadline.js'
import { createSlots, type Slots } from '../../concurrency/slots.js'
import type { Clock } from '../../ports/clock.js'
import type { SettlementFee } from '../../schemes/network.js'
import type { AssetTerms, Scheme } from '../../schemes/scheme.js'
import { normalizeWith } from '../../schemes/spelling.js'
import { cacheFor } from '../cacheFor.js'

/** Throw if the network does not answer in time. Null: the network cannot be asked for it. */
export interface ChainReadings {
  describeAsset(scheme: Scheme, asset: string | null, payTo: string | null): Promise<AssetTerms | null>
  readBalance(scheme: Scheme, asset: string, owner: string): Promise<bigint | null>
  estimateFee(scheme: Scheme): Promise<SettlementFee | null>
}

interface ChainReadingsSettings {
  readonly clock: Clock
  readonly deadlineMs: number
  /** Readings of one network at once, over all requests. */
  readonly readingsAtOnce: number
}

const balanceAgeMs = 2_000
const feeAgeMs = 5_000
const maxEntries = 10_000

/** Equal readings at one time are one; no number of requests reads a network more than `readingsAtOnce` times at once. */
export const createChainReadings = ({
  clock,
  deadlineMs,
  readingsAtOnce,
}: ChainReadingsSettings): ChainReadings => {
  const slotsByNetwork = new Map<string, Slots>()
  const balances = new Map<string, () => Promise<bigint>>()
  const fees = new Map<string, () => Promise<SettlementFee>>()

  const read = <T>({ kind }: Scheme, work: () => Promise<T>): Promise<T> => {
    const slots = slotsByNetwork.get(kind.network) ?? createSlots(readingsAtOnce)
    slotsByNetwork.set(kind.network, slots)
    return withinDeadline({ milliseconds: deadlineMs }, (signal) => slots.run(signal, work))
  }

  const readCached = async <T>(
    cache: Map<string, () => Promise<T>>,
    key: readonly string[],
    create: () => () => Promise<T>,
  ): Promise<T> => {
    const name = JSON.stringify(key)
    const known = cache.get(name)
    if (known !== undefined) return await known()
    if (cache.size >= maxEntries) cache.clear()
    const reading = create()
    cache.set(name, reading)
    return await reading()
  }

  return {
    describeAsset: (scheme, asset, payTo) => read(scheme, () => scheme.describeAsset(asset, payTo)),

    readBalance: async (scheme, asset, owner) => {
      const { network } = scheme
      const { balances: reader } = network
      if (reader === null) return null
      return await readCached(
        balances,
        [network.id, normalizeWith(network, asset), normalizeWith(network, owner)],
        () => cacheFor(clock, balanceAgeMs, () => read(scheme, () => reader.read(asset, owner))),
      )
    },

    estimateFee: async (scheme) => {
      const { kind, network } = scheme
      const { fees: estimator } = network
      if (estimator === null) return null
      return await readCached(fees, [network.id, kind.scheme], () =>
        cacheFor(clock, feeAgeMs, () => read(scheme, () => estimator.estimate())),
      )
    },
  }
}
