import type { Clock } from '../../ports/clock.js'

/** Adds up what settlements cost that were promised and are not settled yet. */
export interface PromisedCost {
  read(): Promise<PromisedReading>
  /** Counts one more until the returned function is called; if it was stored by then, until the next reading counts it. */
  begin(caller: string): (isStored: boolean) => void
}

export interface PromisedReading {
  /** Of one settlement. */
  readonly cost: number
  /** Of all that are promised when it is called. */
  ofAll(): number
  /** Of those that are promised to a caller. */
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
  const begun = new Map<string, number>()
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
      return {
        cost,
        ofAll: () => (sumOf(counts) + sumOf(begun)) * cost,
        of: (caller) => ((counts.get(caller) ?? 0) + (begun.get(caller) ?? 0)) * cost,
      }
    },
    begin: (caller) => {
      add(begun, caller, 1)
      return (isStored) => {
        add(begun, caller, -1)
        if (isStored && known !== null) add(known.counts, caller, 1)
      }
    },
  }
}

const sumOf = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, each) => sum + each, 0)

const add = (counts: Map<string, number>, caller: string, more: number): void => {
  const count = (counts.get(caller) ?? 0) + more
  if (count === 0) counts.delete(caller)
  else counts.set(caller, count)
}
