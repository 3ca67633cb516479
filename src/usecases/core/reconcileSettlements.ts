import type { Logger } from '../../ports/logger.js'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import type { SchemeRegistry } from '../../schemes/registry.js'

/** What reconciling needs. */
export interface ReconcileParts {
  readonly registry: SchemeRegistry
  readonly journal: SettlementJournal
  readonly logger: Logger
  readonly deadlineMs: number
}

const rowsPerRound = 200
const atOnce = 8

/** Asks the chain about every settlement that nobody attends, and closes those whose fate is proven. */
export const createReconcileSettlements = ({ registry, journal, logger, deadlineMs }: ReconcileParts) => {
  const reconcile = async (settlement: Settlement): Promise<void> => {
    const named = { settlementId: settlement.id, network: settlement.network }
    if (settlement.state === 'claimed') {
      if (await journal.abandon(settlement.id)) logger.warn(named, 'settlement.abandoned')
      return
    }
    const scheme = registry.find(settlement.scheme, settlement.network)
    if (scheme === null) {
      logger.error(named, 'settlement.without_network: configure the network again to close it')
      return
    }
    try {
      const outcome = await scheme.resolve(settlement, AbortSignal.timeout(deadlineMs))
      if (outcome.state === 'pending') return
      if (await journal.close(settlement.id, outcome))
        logger.info({ ...named, ...outcome }, `settlement.${outcome.state}`)
    } catch (error) {
      logger.warn({ ...named, error }, 'settlement.unresolved')
    }
  }

  return async (): Promise<void> => {
    const open = [...(await journal.listUnattended(rowsPerRound))]
    const worker = async () => {
      for (let next = open.shift(); next !== undefined; next = open.shift()) await reconcile(next)
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
  }
}
