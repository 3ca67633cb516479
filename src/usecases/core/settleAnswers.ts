import type { Settlement } from '../../ports/settlementJournal.js'
import type { Reason } from '../../protocol/reasons.js'
import { refusalFields, type SettleResult } from '../../protocol/results.js'

/** Funds moved, and this request is the consumer. */
export const succeed = (
  settlement: Settlement,
  transaction: string,
  callerNetwork: string,
): SettleResult => ({
  success: true,
  transaction,
  network: callerNetwork,
  payer: settlement.payer,
  amount: (settlement.settledAmount ?? settlement.amount).toString(),
  settlementId: settlement.id,
  status: 'confirmed',
})

export const refuseSettle = (
  callerNetwork: string,
  reason: Reason,
  message?: string,
  payer?: string | null,
): SettleResult => ({
  ...failure(callerNetwork, reason, message),
  ...(payer == null ? {} : { payer }),
})

/** Permanent failure: no funds moved. */
export const failSettle = (settlement: Settlement, reason: Reason, callerNetwork: string): SettleResult => ({
  ...failure(callerNetwork, reason),
  payer: settlement.payer,
  settlementId: settlement.id,
  status: 'failed',
})

/** Sent, outcome unknown. Includes the transaction, so that the payer is not asked to pay again. */
export const answerPending = (
  settlement: Settlement,
  transaction: string | null,
  callerNetwork: string,
): SettleResult => ({
  ...failure(callerNetwork, 'settlement_pending'),
  transaction: transaction ?? '',
  payer: settlement.payer,
  settlementId: settlement.id,
  status: 'pending',
})

/** The authorization belongs to another request: this one must not deliver. */
export const answerDuplicate = (settlement: Settlement, callerNetwork: string): SettleResult => ({
  ...failure(callerNetwork, 'duplicate_settlement'),
  transaction: settlement.transaction ?? '',
  payer: settlement.payer,
  settlementId: settlement.id,
})

const failure = (network: string, refusedFor: Reason, sentence?: string): SettleResult => {
  const { reason, message, ...operational } = refusalFields(refusedFor, sentence)
  return {
    success: false,
    errorReason: reason,
    errorMessage: message,
    ...operational,
    transaction: '',
    network,
  }
}
