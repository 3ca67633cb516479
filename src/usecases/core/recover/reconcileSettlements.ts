import { withinDeadline } from '../../../concurrency/deadline.js'
import { createWorkerPool } from '../../../concurrency/workerPool.js'
import { createFailureLog } from '../../../failureLog.js'
import type { Clock } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import type { Recorder, Settlement, SettlementJournal } from '../../../ports/settlementJournal.js'
import type { SettlementCounter } from '../../../ports/settlementOverview.js'
import type { SchemeRegistry } from '../../../schemes/registry.js'
import type { SpendingLimits } from '../limits.js'
import { describeOutcome, describeSettlement } from '../settle/settlementContext.js'

interface ReconcileDependencies {
  readonly registry: SchemeRegistry
  readonly journal: SettlementJournal
  readonly counter: SettlementCounter
  readonly limits: Pick<SpendingLimits, 'countFailure'>
  readonly clock: Clock
  readonly logger: Logger
  readonly deadlineMs: number
}

const nameSettlement = ({ id, caller, network }: Settlement) => ({
  settlementId: id,
  account: caller,
  network,
})

const rowsPerRound = 200
const concurrency = 8
const maxFailuresPerKey = 3

// Backoff of a row that fails repeatedly.
const firstPauseMs = 2_000
const maxPauseMs = 30_000

/** Not persisted: a restart may forget it. */
interface RowFailures {
  readonly count: number
  readonly askAt: number
}

/** Resolves settlements without an owner against the chain and closes those with a proven outcome; one round. */
export const createReconcileSettlements = (dependencies: ReconcileDependencies) => {
  const { registry, journal, counter, limits, clock, logger, deadlineMs } = dependencies
  const failures = new Map<string, RowFailures>()
  const unresolved = createFailureLog({
    logger,
    event: 'settlement.resolve_failed',
    recovered: 'settlement.resolve_recovered',
    now: () => clock.now().getTime(),
  })

  const abandon = async (settlement: Settlement): Promise<void> => {
    if (!(await journal.abandon(settlement.id))) return
    logger.warn(nameSettlement(settlement), 'settlement.abandoned')
  }

  const resolve = async (settlement: Settlement, stopped: AbortSignal): Promise<void> => {
    const logFields = nameSettlement(settlement)
    const scheme = registry.find(settlement.scheme, settlement.network)
    if (scheme === null) {
      logger.error(
        { ...logFields, hint: 'configure the network again to close it' },
        'settlement.network_not_configured',
      )
      return
    }
    let isTaken = false
    let isRefused = false
    // No request can pay for it any more: a new claim of the authorization is refused.
    const takeOver = async (): Promise<Recorder | null> => {
      const recorder = await journal.takeOver(settlement)
      isTaken = recorder !== null
      isRefused = recorder === null
      return recorder
    }
    const options = settlement.consumedBy === null ? {} : { takeOver }
    const outcome = await withinDeadline({ milliseconds: deadlineMs, stopped }, (signal) =>
      scheme.resolve(settlement, signal, options),
    ).catch(async (error: unknown) => {
      if (isTaken) await journal.release(settlement.id)
      throw error
    })
    // Another round of this process may own the row: releasing it here would end that ownership.
    if (isRefused) return
    if (outcome.state === 'pending') {
      if (isTaken && outcome.transaction !== settlement.transaction) {
        logger.warn({ ...logFields, transaction: outcome.transaction }, 'settlement.sent_again')
      }
      // Writes the one pending event, in case the process that should have written it died.
      await journal.release(settlement.id)
      return
    }
    const newest = outcome.state === 'failed' ? settlement.transaction : null
    if (!(await journal.close(settlement.id, outcome, undefined, newest))) return
    logger.info({ ...logFields, ...describeOutcome(outcome) }, `settlement.${outcome.state}`)
    if (outcome.state === 'failed') await limits.countFailure(settlement, outcome.reason)
    if (outcome.state === 'failed' && settlement.consumedBy !== null) {
      // The block was orphaned and the payment was not mined again: goods may be delivered without payment.
      counter.countLost(settlement.network)
      const { consumedBy } = settlement
      logger.error(
        { ...describeSettlement(settlement), ...describeOutcome(outcome), consumedBy },
        'settlement.lost_after_success',
      )
    }
  }

  const countFailure = (id: string): void => {
    const count = (failures.get(id)?.count ?? 0) + 1
    const pauseMs = count === 1 ? 0 : Math.min(firstPauseMs * 2 ** (count - 2), maxPauseMs)
    failures.set(id, { count, askAt: clock.now().getTime() + pauseMs })
  }

  const work = async (settlement: Settlement, stopped: AbortSignal): Promise<void> => {
    await (settlement.state === 'claimed' ? abandon(settlement) : resolve(settlement, stopped))
    failures.delete(settlement.id)
    unresolved.succeeded(settlement.network)
  }

  const runThrough = (rows: readonly Settlement[], stopped: AbortSignal): Promise<void> =>
    createWorkerPool<Settlement>({
      concurrency,
      // An unreachable network must not delay the others.
      keyOf: ({ network }) => network,
      maxFailuresPerKey,
      stopped,
      onFailure: (settlement, error) => {
        countFailure(settlement.id)
        unresolved.failed(settlement.network, { ...nameSettlement(settlement), error })
      },
    }).run(rows, (settlement) => work(settlement, stopped))

  return async (stopped: AbortSignal): Promise<void> => {
    const now = clock.now().getTime()
    for (const [id, { askAt }] of failures) if (askAt + 10 * maxPauseMs < now) failures.delete(id)
    const rows = await journal.listOrphaned(rowsPerRound)
    const again = rows.filter(({ id }) => failures.has(id))
    const due = again.filter(({ id }) => (failures.get(id)?.askAt ?? 0) <= now)
    // Rows that failed before do not count against the others of their network, and come last.
    await runThrough(
      rows.filter((row) => !again.includes(row)),
      stopped,
    )
    await runThrough(due, stopped)
  }
}
