import type { Settlement } from '../../ports/settlementJournal.js'
import { refusalFields, type SettlementView } from '../../protocol/results.js'

export const viewSettlement = (settlement: Settlement): SettlementView => {
  const amount = settlement.settledAmount ?? settlement.amount
  const maximum = settlement.authorizedAmount
  const refusal = settlement.reason === null ? null : refusalFields(settlement.reason)
  return {
    id: settlement.id,
    // Clients do not see the difference between claimed and pending.
    status: settlement.state === 'claimed' ? 'pending' : settlement.state,
    scheme: settlement.scheme,
    network: settlement.network,
    asset: settlement.asset,
    payer: settlement.payer,
    payTo: settlement.payTo,
    amount: amount.toString(),
    ...(maximum === amount ? {} : { maxAmount: maximum.toString() }),
    transaction: settlement.transaction ?? '',
    ...(refusal === null ? {} : { errorReason: refusal.reason, errorMessage: refusal.message }),
    createdAt: settlement.createdAt.toISOString(),
    ...(settlement.closedAt === null ? {} : { closedAt: settlement.closedAt.toISOString() }),
  }
}
