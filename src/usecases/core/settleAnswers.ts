import type { Settlement } from '../../ports/settlementJournal.js'
import type { Reason } from '../../protocol/reasons.js'
import { refusalFields, type SettleResult } from '../../protocol/results.js'

/** The money moved, and this caller may deliver for it. */
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

/** The payment was refused before a row was opened. */
export const refuseSettle = (
  callerNetwork: string,
  reason: Reason,
  message?: string,
  payer?: string | null,
): SettleResult => ({
  ...failure(callerNetwork, reason, message),
  ...(payer == null ? {} : { payer }),
})

/** The settlement failed for good: no money moved. */
export const failSettle = (settlement: Settlement, reason: Reason, callerNetwork: string): SettleResult => ({
  ...failure(callerNetwork, reason),
  payer: settlement.payer,
  settlementId: settlement.id,
  status: 'failed',
})

/** Sent, and its fate unknown: the hash goes along, so that nobody pays twice. */
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

/** Someone else was told, or will be: the payment is real but not this caller's to deliver for. */
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
