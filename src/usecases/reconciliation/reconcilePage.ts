import { createWorkerPool } from '../../concurrency/workerPool.js'
import type { Logger } from '../../ports/logger.js'
import type { ReconciliationStore, RecordedSettlement, RecordQuery } from '../../ports/reconciliation.js'
import type { ChainCheck, Difference, ReconciledSettlement } from '../../protocol/reconciliation.js'
import { readPage } from '../readPage.js'
import type { ChainComparison, CompareWithChain } from './compareWithChain.js'
import { findRecordDifferences } from './findRecordDifferences.js'

interface ReconciledPage {
  readonly settlements: readonly ReconciledSettlement[]
  readonly differences: readonly Difference[]
  readonly counts: Readonly<Record<ChainCheck, number>>
  /** Events that their webhook has not accepted yet. */
  readonly waiting: number
  /** Null on the last page. */
  readonly nextCursor: string | null
}

/** Compares one page of settlements with every other record of them. */
export type ReconcilePage = (query: RecordQuery, stopped: AbortSignal) => Promise<ReconciledPage>

interface ReconcilePageDependencies {
  readonly store: Pick<ReconciliationStore, 'listSettlements'>
  readonly compareWithChain: CompareWithChain
  readonly logger: Logger
}

// Few, because payments need the nodes too.
const concurrency = 8
const maxFailuresPerNetwork = 3

export const createReconcilePage =
  ({ store, compareWithChain, logger }: ReconcilePageDependencies): ReconcilePage =>
  async ({ limit, ...query }, stopped) => {
    const { items: records, next } = await readPage(
      limit,
      (count) => store.listSettlements({ ...query, limit: count }),
      ({ settlement }) => settlement.id,
    )
    const comparisons = new Map<RecordedSettlement, ChainComparison>()
    await createWorkerPool<RecordedSettlement>({
      concurrency,
      // An unreachable network must not delay the others.
      keyOf: ({ settlement }) => settlement.network,
      maxFailuresPerKey: maxFailuresPerNetwork,
      stopped,
      onFailure: ({ settlement: { id, network } }, error) =>
        logger.warn({ settlementId: id, network, error }, 'reconciliation.chain_unavailable'),
    }).run(records, async (record) => {
      comparisons.set(record, await compareWithChain(record.settlement, stopped))
    })

    const counts = { agrees: 0, differs: 0, unproven: 0, unavailable: 0, unsent: 0, open: 0 }
    const differences: Difference[] = []
    const settlements = records.map((record) => {
      const { check, difference } = comparisons.get(record) ?? unavailable
      const own = [...(difference === null ? [] : [difference]), ...findRecordDifferences(record)]
      counts[check] += 1
      differences.push(...own)
      return describeRecord(record, check, own)
    })
    return {
      settlements,
      differences,
      counts,
      waiting: records.filter(({ event }) => event?.state === 'waiting').length,
      nextCursor: next.nextCursor ?? null,
    }
  }

const unavailable: ChainComparison = { check: 'unavailable', difference: null }

const describeRecord = (
  { settlement, event, quotaMonth, fee }: RecordedSettlement,
  chain: ChainCheck,
  differences: readonly Difference[],
): ReconciledSettlement => {
  const { id, state, network, scheme, asset, payer, payTo, settledAmount, caller } = settlement
  return {
    id,
    createdAt: settlement.createdAt.toISOString(),
    ...(settlement.closedAt === null ? {} : { closedAt: settlement.closedAt.toISOString() }),
    status: state === 'claimed' ? 'pending' : state,
    network,
    scheme,
    asset,
    payer,
    payTo,
    amount: (settledAmount ?? 0n).toString(),
    transaction: settlement.transaction ?? '',
    accountId: caller,
    chain,
    event: event?.state ?? 'none',
    ...(quotaMonth === null ? {} : { quotaMonth }),
    ...(fee === null ? {} : { fee }),
    differences: differences.map(({ kind }) => kind),
  }
}
