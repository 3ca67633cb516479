import type { Outcome } from '../../../schemes/scheme.js'
import { type JudgeDependencies, type Judgement, judgePayment } from './judge.js'
import type { PaymentQuery } from './paymentQuery.js'

export interface ResolveQuery extends PaymentQuery {
  /** Identifies the payment in the outcome. */
  readonly transaction: string
  /** The wallet rejects the message from this time on. */
  readonly expiresAt: Date
  readonly now: Date
}

/** `isWorthSending`: whether a rebroadcast can help. */
export interface Resolution {
  readonly outcome: Outcome
  readonly isWorthSending: boolean
}

// Nodes may report older blocks late, at most by this much.
const expirySlackMs = 60_000

/** The outcome that the chain proves now. */
export const resolvePayment = async (
  dependencies: JudgeDependencies,
  question: ResolveQuery,
): Promise<Resolution> => {
  // State first, then the list that starts at it: what the list lacks had not happened by then.
  const account = await dependencies.rpc.readAccount(question.payer)
  const trace = await judgePayment(dependencies, question, account)
  return { outcome: conclude(trace, question, account.timestamp), isWorthSending: trace === 'unseen' }
}

const conclude = (
  trace: Judgement,
  { transaction, expiresAt, now }: ResolveQuery,
  moment: number,
): Outcome => {
  switch (trace) {
    case 'paid':
      return { state: 'confirmed', transaction }
    case 'void':
      return { state: 'failed', reason: 'transaction_failed', transaction }
    case 'open':
      return { state: 'pending', transaction }
    case 'tried':
    case 'unseen': {
      // Chain time and local time must agree; then no block can include it.
      const surely = expiresAt.getTime() + expirySlackMs
      if (moment * 1_000 < surely || now.getTime() < surely) return { state: 'pending', transaction }
      // A message that the payer's wallet executed without effect has cost its sender; one that never arrived may be our loss.
      const reason = trace === 'tried' ? 'transaction_failed' : 'authorization_expired_unsettled'
      return { state: 'failed', reason, transaction }
    }
  }
}
