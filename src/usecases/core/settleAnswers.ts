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
  ...(settlement.scheme === 'upto' ? describePart(settlement, transaction) : {}),
})

/** The specification's result of `upto`, from the journal row alone: the same for every request that is answered. */
const describePart = (
  { settledAmount, amount, authorizedAmount, block, gasUsed }: Settlement,
  transaction: string,
): Partial<SettleResult> => ({
  transactionHash: transaction,
  settledAmount: (settledAmount ?? amount).toString(),
  maxAmount: authorizedAmount.toString(),
  ...(block === null ? {} : { blockNumber: Number(block.number) }),
  ...(gasUsed === null ? {} : { gasUsed: gasUsed.toString() }),
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
  ...failure(callerNetwork, 'duplicate_settlement', describeWinner(settlement)),
  transaction: settlement.transaction ?? '',
  payer: settlement.payer,
  settlementId: settlement.id,
})

/** Under `upto` two requests can differ in nothing but the amount. */
const describeWinner = ({
  scheme,
  state,
  settledAmount,
  amount,
  authorizedAmount,
}: Settlement): string | undefined => {
  if (scheme !== 'upto') return undefined
  const figures = `${settledAmount ?? amount} of at most ${authorizedAmount}`
  const verb = state === 'confirmed' ? 'was already settled' : 'is already being settled'
  return `This authorization ${verb} for another request: ${figures}`
}

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
