import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { FoundDifferences, Period, ReadLimit, ReconciliationStore } from '../../ports/reconciliation.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import { canonicalNetwork } from '../../protocol/network.js'
import {
  counterNames,
  type Difference,
  differenceKinds,
  type KindCount,
  type PeriodTotal,
} from '../../protocol/reconciliation.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { ReconciliationUseCases } from '../useCases.js'
import type { ReconcilePage } from './reconcilePage.js'

interface ReconcilePeriodDependencies {
  readonly store: Pick<ReconciliationStore, 'findLastNightly' | 'hasNetwork'>
  readonly journal: Pick<SettlementJournal, 'find'>
  readonly registry: Pick<SchemeRegistry, 'list'>
  readonly compareCounters: (period: Period) => Promise<ComparedCounters>
  readonly reconcilePage: ReconcilePage
}

const nothing: ComparedCounters = { differences: [], counts: [], totals: null }

/** The first page also compares what is counted over all settlements. */
export const createReconcilePeriod = ({
  store,
  journal,
  registry,
  compareCounters,
  reconcilePage,
}: ReconcilePeriodDependencies): ReconciliationUseCases['reconcilePeriod'] => {
  /** A misspelled name would prove nothing, and look balanced. */
  const readNetwork = async (name: string): Promise<string> => {
    const network = canonicalNetwork(name)
    const isConfigured = registry.list().some(({ kind }) => kind.network === network)
    if (!isConfigured && !(await store.hasNetwork(network))) {
      throw new AppError('INVALID_REQUEST', 'network: is not configured, and has no settlement')
    }
    return network
  }

  return async ({ from, to, network: name, limit, cursor }) => {
    if (from >= to) throw new AppError('INVALID_REQUEST', 'from: must be before `to`')
    if (cursor !== undefined && (await journal.find(cursor)) === null) {
      throw new AppError('INVALID_REQUEST', 'cursor: must be the nextCursor of an earlier response')
    }
    const network = name === undefined ? undefined : await readNetwork(name)
    const period = { from, to }
    const isFirst = cursor === undefined
    const counted = isFirst ? await compareCounters(period) : nothing
    const lastNightly = isFirst ? await store.findLastNightly() : null
    const page = await reconcilePage(
      { ...period, network, after: cursor, limit },
      new AbortController().signal,
    )
    const differences = [...counted.differences, ...page.differences]
    const counts = mergeCounts([...counted.counts, ...countKinds(page.differences)])
    const { unproven, unavailable, agrees, differs, open } = page.counts
    return {
      from: from.toISOString(),
      to: to.toISOString(),
      isBalanced: counts.length === 0 && unproven + unavailable + page.waiting === 0,
      checked: {
        settlements: page.settlements.length,
        onChain: agrees + differs,
        unproven,
        unavailable,
        open,
        waitingEvents: page.waiting,
      },
      differences,
      counts: [...counts],
      isTruncated: counts.reduce((sum, { count }) => sum + count, 0) > differences.length,
      settlements: [...page.settlements],
      ...(counted.totals === null ? {} : { totals: [...counted.totals] }),
      ...(lastNightly === null ? {} : { lastNightly }),
      ...(page.nextCursor === null ? {} : { nextCursor: page.nextCursor }),
    }
  }
}

interface ComparedCounters extends FoundDifferences {
  /** Null if they were not summed in time. */
  readonly totals: readonly PeriodTotal[] | null
}

interface CompareCountersDependencies {
  readonly store: Pick<ReconciliationStore, 'findCountDifferences' | 'sumPeriod'>
  readonly clock: Clock
  /** For all counters together. */
  readonly timeoutMs: number
}

/** Sums the period and compares every counter; what the time does not suffice for is a difference `not_compared`. */
export const createCompareCounters =
  ({ store, clock, timeoutMs }: CompareCountersDependencies) =>
  async (period: Period): Promise<ComparedCounters> => {
    const endsAt = clock.now().getTime() + timeoutMs
    const stopped = new AbortController().signal
    const found: FoundDifferences[] = []
    /** Null, and a difference, without an answer in the time that is left. */
    const within = async <T>(
      name: string,
      read: (limit: ReadLimit) => Promise<T | null>,
    ): Promise<T | null> => {
      const leftMs = endsAt - clock.now().getTime()
      const answer = leftMs > 0 ? await read({ timeoutMs: leftMs, stopped }) : null
      if (answer === null) found.push(notCompared(name, timeoutMs))
      return answer
    }
    const totals = await within('totals of the period', (limit) => store.sumPeriod(period, limit))
    for (const counter of counterNames) {
      const differences = await within(counter, (limit) => store.findCountDifferences(counter, period, limit))
      if (differences !== null) found.push(differences)
    }
    return {
      differences: found.flatMap(({ differences }) => differences),
      counts: mergeCounts(found.flatMap(({ counts }) => counts)),
      totals,
    }
  }

/** A counter that was not compared proves nothing: it must not look like one that agrees. */
export const notCompared = (name: string, timeoutMs: number): FoundDifferences => {
  const missing: Difference = {
    kind: 'not_compared',
    message: `Not compared: ${name}. The database did not answer within ${Math.round(timeoutMs / 1_000)} s`,
  }
  return { differences: [missing], counts: [{ kind: 'not_compared', count: 1 }] }
}

/** One count for each kind that occurs, in the order of the kinds. */
export const mergeCounts = (
  counts: readonly KindCount[],
  combine: (left: number, right: number) => number = (left, right) => left + right,
): readonly KindCount[] =>
  differenceKinds.flatMap((kind) => {
    const own = counts.filter((each) => each.kind === kind).map(({ count }) => count)
    return own.length === 0 ? [] : [{ kind, count: own.reduce((left, right) => combine(left, right)) }]
  })

export const countKinds = (differences: readonly Difference[]): readonly KindCount[] =>
  mergeCounts(differences.map(({ kind }) => ({ kind, count: 1 })))
