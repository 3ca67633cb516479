import { AppError } from '../../errors.js'
import type { Period, ReconciliationStore } from '../../ports/reconciliation.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import { canonicalNetwork } from '../../protocol/network.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { ReconciliationUseCases } from '../useCases.js'
import { type ComparedCounters, countKinds, mergeCounts } from './compareCounters.js'
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
