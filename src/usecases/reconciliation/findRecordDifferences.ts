import type { RecordedSettlement } from '../../ports/reconciliation.js'
import { formatDecimal, isEqual, multiply, readDecimal } from '../../protocol/amount.js'
import type { Difference, DifferenceKind } from '../../protocol/reconciliation.js'

/** Compares a settlement with its event, its quota and its fee. Pure. */
export const findRecordDifferences = (record: RecordedSettlement): readonly Difference[] => {
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
