import type { Clock } from '../../ports/clock.js'

/** What the settlements cost that were promised and are not settled yet. */
export interface PromisedCost {
  read(): Promise<PromisedReading>
  /** Counts one more until the next reading. */
  add(caller: string): void
}

export interface PromisedReading {
  /** Of one settlement. */
  readonly cost: number
  /** Of all that were promised. */
  readonly total: number
  /** Of those that were promised to a caller. */
  of(caller: string): number
}

export interface PromisedCostDependencies {
  /** Promised settlements by caller. */
  readonly count: () => Promise<ReadonlyMap<string, number>>
  /** Of one settlement, at the current price. */
  readonly costOfOne: () => number
  readonly clock: Pick<Clock, 'now'>
}

/** Instances count what others promise so much later; a promised settlement is never refused, so that only the bound moves. */
const maxAgeMs = 1_000

/** Concurrent readings share a request. */
export const createPromisedCost = ({ count, costOfOne, clock }: PromisedCostDependencies): PromisedCost => {
  let known: { readonly counts: Map<string, number>; readonly at: number } | null = null
  let asking: Promise<ReadonlyMap<string, number>> | null = null

  const ask = async (): Promise<ReadonlyMap<string, number>> => {
    const at = clock.now().getTime()
    const counts = new Map(await count())
    known = { counts, at }
    return counts
  }

  const readCounts = async (): Promise<ReadonlyMap<string, number>> => {
    const age = known === null ? Number.POSITIVE_INFINITY : clock.now().getTime() - known.at
    if (known !== null && age >= 0 && age < maxAgeMs) return known.counts
    asking ??= ask().finally(() => {
      asking = null
    })
    return await asking
  }

  return {
    read: async () => {
      const counts = await readCounts()
      const cost = costOfOne()
      const total = [...counts.values()].reduce((sum, each) => sum + each, 0) * cost
      return { cost, total, of: (caller) => (counts.get(caller) ?? 0) * cost }
    },
    add: (caller) => {
      known?.counts.set(caller, (known.counts.get(caller) ?? 0) + 1)
    },
  }
}
