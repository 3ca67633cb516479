import { withinDeadline } from '../../deadline.js'
import type { Logger } from '../../ports/logger.js'
import type { SettlementCounter } from '../../ports/settlementCounter.js'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import { describeOutcome, describeSettlement } from './settlementContext.js'

export interface ReconcileDependencies {
  readonly registry: SchemeRegistry
  readonly journal: SettlementJournal
  readonly counter: SettlementCounter
  readonly logger: Logger
  readonly deadlineMs: number
}

const rowsPerRound = 200
const atOnce = 8
// One row may be at fault by itself; several are the network.
const failuresPerRound = 3

/** Asks the chain about settlements that nobody attends, and closes those whose fate is proven; one round. */
export const createReconcileSettlements = (dependencies: ReconcileDependencies) => {
  const { registry, journal, counter, logger, deadlineMs } = dependencies
  const abandon = async ({ id, network }: Settlement): Promise<void> => {
    if (await journal.abandon(id)) logger.warn({ settlementId: id, network }, 'settlement.abandoned')
  }

  const resolve = async (settlement: Settlement, stopped: AbortSignal): Promise<void> => {
    const named = { settlementId: settlement.id, network: settlement.network }
    const scheme = registry.find(settlement.scheme, settlement.network)
    if (scheme === null) {
      logger.error(named, 'settlement.network_not_configured: configure the network again to close it')
      return
    }
    const outcome = await withinDeadline({ milliseconds: deadlineMs, stopped }, (signal) =>
      scheme.resolve(settlement, signal),
    )
    if (outcome.state === 'pending') {
      // For its webhook: perhaps nobody lived to say that it is pending.
      await journal.release(settlement.id)
      return
    }
    if (!(await journal.close(settlement.id, outcome))) return
    logger.info({ ...named, ...describeOutcome(outcome) }, `settlement.${outcome.state}`)
    if (outcome.state === 'failed' && settlement.consumedBy !== null) {
      // Its block was taken back, and it did not come again: what was delivered for it is not paid.
      counter.countLost(settlement.network)
      const { consumedBy } = settlement
      logger.error(
        { ...describeSettlement(settlement), ...describeOutcome(outcome), consumedBy },
        'settlement.lost_after_success',
      )
    }
  }

  return async (stopped: AbortSignal): Promise<void> => {
    const open = [...(await journal.listOrphaned(rowsPerRound))]
    /** How often each network failed in this round: a dead one must not keep the rows of others waiting. */
    const failures = new Map<string, number>()
    const worker = async () => {
      for (let next = open.shift(); next !== undefined && !stopped.aborted; next = open.shift()) {
        if ((failures.get(next.network) ?? 0) >= failuresPerRound) continue
        try {
          await (next.state === 'claimed' ? abandon(next) : resolve(next, stopped))
        } catch (error) {
          failures.set(next.network, (failures.get(next.network) ?? 0) + 1)
          logger.warn({ settlementId: next.id, network: next.network, error }, 'settlement.resolve_failed')
        }
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
  }
}
