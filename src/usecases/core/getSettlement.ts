import { AppError } from '../../errors.js'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import { canonicalNetwork } from '../../protocol/network.js'
import { refusalFields, type SettlementView } from '../../protocol/results.js'
import type { CoreUseCases } from '../useCases.js'

/** Tells what became of a settlement. */
export const createGetSettlement = (
  journal: SettlementJournal,
): Pick<CoreUseCases, 'getSettlement' | 'getSettlementByTransaction'> => ({
  getSettlement: async (id) => view(await journal.find(id)),
  getSettlementByTransaction: async (network, transaction) =>
    view(await journal.findByTransaction(canonicalNetwork(network), transaction)),
})

const view = (settlement: Settlement | null): SettlementView => {
  if (settlement === null) throw new AppError('NOT_FOUND', 'There is no such settlement')
  const refusal = settlement.reason === null ? null : refusalFields(settlement.reason)
  return {
    id: settlement.id,
    // Outside, a claim is a payment whose fate is open like any other.
    status: settlement.state === 'claimed' ? 'pending' : settlement.state,
    scheme: settlement.scheme,
    network: settlement.network,
    asset: settlement.asset,
    payer: settlement.payer,
    payTo: settlement.payTo,
    amount: settlement.amount.toString(),
    transaction: settlement.transaction ?? '',
    ...(refusal === null ? {} : { errorReason: refusal.reason, errorMessage: refusal.message }),
    createdAt: settlement.createdAt.toISOString(),
    ...(settlement.closedAt === null ? {} : { closedAt: settlement.closedAt.toISOString() }),
  }
}
