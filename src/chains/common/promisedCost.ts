import type { Clock } from '../../ports/clock.js'
import type { PromisedCount, Promisee } from '../../ports/holds.js'

/** Adds up what settlements cost that were promised and are not settled yet. */
export interface PromisedCost {
  read(): Promise<PromisedReading>
  /** Counts one more until the returned function is called; if it was stored by then, until the next reading counts it. */
  begin(promisee: Promisee): (isStored: boolean) => void
}

interface PromisedReading {
  /** One settlement costs this. */
  readonly cost: number
  /** Sums all that are promised when it is called. */
  ofAll(): number
  /** Counts those that use this part of the budget. */
  ofPart(part: string): number
  ofCustomer(customer: string): number
  /** Counts those of all customers that are not proven. */
  ofUnproven(): number
}

interface PromisedCostDependencies {
  readonly count: () => Promise<readonly PromisedCount[]>
  /** One settlement costs this at the current price. */
  readonly costOfOne: () => number
  readonly clock: Pick<Clock, 'now'>
}

/** Instances count what others promise so much later; a promised settlement is never refused, so that only the bound moves. */
const maxAgeMs = 1_000

/** Concurrent readings share a request. */
export const createPromisedCost = ({ count, costOfOne, clock }: PromisedCostDependencies): PromisedCost => {
  let known: { readonly counts: Counts; readonly at: number } | null = null
  const begun: Counts = new Map()
  let asking: Promise<Counts> | null = null

  const ask = async (): Promise<Counts> => {
    const at = clock.now().getTime()
    const counts: Counts = new Map()
    for (const each of await count()) add(counts, each, each.count)
    known = { counts, at }
    return counts
  }

  const readCounts = async (): Promise<Counts> => {
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
      const costOf = (name: string) => ((counts.get(name) ?? 0) + (begun.get(name) ?? 0)) * cost
      return {
        cost,
        ofAll: () => costOf(all),
        ofPart: (part) => costOf(nameOf({ part })),
        ofCustomer: (customer) => costOf(nameOf({ customer })),
        ofUnproven: () => costOf(unproven),
      }
    },
    begin: (promisee) => {
      add(begun, promisee, 1)
      return (isStored) => {
        add(begun, promisee, -1)
        if (isStored && known !== null) add(known.counts, promisee, 1)
      }
    },
  }
}

/** Sums of promised costs by name; one promise counts under several names. */
type Counts = Map<string, number>

const all = 'all'
const unproven = 'unproven'

const nameOf = ({ part, customer }: Partial<Promisee>): string =>
  part === undefined ? `customer ${customer}` : `part ${part}`

const add = (counts: Counts, { part, customer }: Promisee, more: number): void => {
  const names = [all, nameOf({ part }), nameOf({ customer }), ...(part === customer ? [] : [unproven])]
  for (const name of names) {
    const count = (counts.get(name) ?? 0) + more
    if (count === 0) counts.delete(name)
    else counts.set(name, count)
  }
}
