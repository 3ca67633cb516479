import { createWorkerPool } from '../../concurrency/workerPool.js'
import type { Logger } from '../../ports/logger.js'
import type { ReconciliationStore, RecordedSettlement, RecordQuery } from '../../ports/reconciliation.js'
import { formatDecimal, isEqual, multiply, readDecimal } from '../../protocol/amount.js'
import type {
  ChainCheck,
  Difference,
  DifferenceKind,
  ReconciledSettlement,
} from '../../protocol/reconciliation.js'
import { readPage } from '../readPage.js'
import type { ChainComparison, CompareWithChain } from './compareWithChain.js'

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
      onFailure: ({ settlement: { id, caller: account, network } }, error) =>
        logger.warn({ settlementId: id, account, network, error }, 'reconciliation.chain_unavailable'),
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

/** Compares a settlement with its event, its quota and its fee. Pure. */
const findRecordDifferences = (record: RecordedSettlement): readonly Difference[] => {
  const { id, network, caller } = record.settlement
  return [...findEventDifferences(record), ...findCountingDifferences(record)].map((found) => ({
    ...found,
    settlementId: id,
    network,
    accountId: caller,
  }))
}

interface Found {
  readonly kind: DifferenceKind
  readonly message: string
  readonly expected: string
  readonly actual: string
}

function* findEventDifferences({ settlement, isEventDue, event }: RecordedSettlement): Iterable<Found> {
  if (settlement.state !== 'confirmed' && settlement.state !== 'failed') return
  const { state, transaction } = settlement
  if (event === null) {
    if (isEventDue)
      yield {
        kind: 'event_missing',
        message: `There is no event settlement.${state}`,
        expected: state,
        actual: 'none',
      }
    return
  }
  const expected = [
    state,
    (settlement.settledAmount ?? settlement.amount).toString(),
    transaction ?? '',
  ].join(' ')
  const actual = [event.status, event.amount, event.transaction].join(' ')
  if (expected !== actual) {
    yield {
      kind: 'event_differs',
      message: 'The last event has another status, amount or transaction',
      expected,
      actual,
    }
  }
  if (event.state === 'failed') {
    yield {
      kind: 'event_undelivered',
      message: 'The webhook did not accept the event; it can be redelivered',
      expected: 'delivered',
      actual: 'failed',
    }
  }
}

function* findCountingDifferences({
  settlement,
  quotaMonth,
  feeRate,
  fee,
}: RecordedSettlement): Iterable<Found> {
  if (settlement.caller === 'anonymous') return
  if (quotaMonth === null) {
    yield {
      kind: 'quota_uncounted',
      message: 'It is not counted against a quota',
      expected: 'a month',
      actual: 'none',
    }
  }
  if (settlement.state !== 'confirmed') {
    if (fee !== null) {
      yield {
        kind: 'fee_differs',
        message: 'A fee is accrued although nothing is confirmed',
        expected: 'none',
        actual: fee,
      }
    }
    return
  }
  const rate = feeRate === null ? null : readDecimal(feeRate)
  if (rate === null || fee === null) {
    yield {
      kind: 'fee_missing',
      message: 'No fee is accrued',
      expected: feeRate ?? 'a rate',
      actual: fee ?? 'none',
    }
    return
  }
  const due = multiply({ digits: settlement.settledAmount ?? settlement.amount, scale: 0 }, rate)
  const accrued = readDecimal(fee)
  if (accrued === null || !isEqual(due, accrued)) {
    yield {
      kind: 'fee_differs',
      message: 'The ledger has another fee',
      expected: formatDecimal(due),
      actual: fee,
    }
  }
}
