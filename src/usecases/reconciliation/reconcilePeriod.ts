import { AppError } from '../../errors.js'
import type { ReconciliationStore } from '../../ports/reconciliation.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import { canonicalNetwork } from '../../protocol/network.js'
import type { ReconcilePage } from './reconcilePage.js'
import type { ReconciliationUseCases } from './useCases.js'

export interface ReconcilePeriodDependencies {
  readonly store: ReconciliationStore
  readonly journal: Pick<SettlementJournal, 'find'>
  readonly reconcilePage: ReconcilePage
}

/** The first page also compares what is counted over all settlements. */
export const createReconcilePeriod =
  ({
    store,
    journal,
    reconcilePage,
  }: ReconcilePeriodDependencies): ReconciliationUseCases['reconcilePeriod'] =>
  async ({ from, to, network, limit, cursor }) => {
    if (from >= to) throw new AppError('INVALID_REQUEST', 'from: must be before `to`')
    if (cursor !== undefined && (await journal.find(cursor)) === null) {
      throw new AppError('INVALID_REQUEST', 'cursor: must be the nextCursor of an earlier response')
    }
    const period = { from, to }
    const isFirst = cursor === undefined
    const [counted, totals, lastNightly] = isFirst
      ? [
          await store.findCountDifferences(period),
          await store.sumPeriod(period),
          await store.findLastNightly(),
        ]
      : [[], null, null]
    const page = await reconcilePage(
      {
        ...period,
        network: network === undefined ? undefined : canonicalNetwork(network),
        after: cursor,
        limit,
      },
      new AbortController().signal,
    )
    const differences = [...counted, ...page.differences]
    const { unproven, unavailable, agrees, differs } = page.counts
    return {
      from: from.toISOString(),
      to: to.toISOString(),
      isBalanced: differences.length === 0 && unproven + unavailable === 0,
      checked: {
        settlements: page.settlements.length,
        onChain: agrees + differs,
        unproven,
        unavailable,
      },
      differences,
      settlements: [...page.settlements],
      ...(totals === null ? {} : { totals: [...totals] }),
      ...(lastNightly === null ? {} : { lastNightly }),
      ...(page.nextCursor === null ? {} : { nextCursor: page.nextCursor }),
    }
  }
