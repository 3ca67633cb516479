import type { Outcome } from '../../../schemes/scheme.js'
import { type JudgeDependencies, type Judgement, judgePayment } from './judge.js'
import type { PaymentQuery } from './paymentQuery.js'

/** What is asked of a payment's fate. */
export interface ResolveQuery extends PaymentQuery {
  /** By what the payment is known, in what is told of it. */
  readonly transaction: string
  /** From when on the wallet refuses it. */
  readonly expiresAt: Date
  readonly now: Date
}

/** An outcome, and whether sending the bytes again can help. */
export interface Resolution {
  readonly outcome: Outcome
  readonly isWorthSending: boolean
}

// A block of before may be told a little later; after this long it is not.
const expirySlackMs = 60_000

/** What became of a payment, as far as the chain proves it now. */
export const resolvePayment = async (
  dependencies: JudgeDependencies,
  question: ResolveQuery,
): Promise<Resolution> => {
  // First the state, then the list that begins there: what the list does not hold had not happened by then.
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
      // The chain's time and ours must agree: then no block can hold it any more.
      const surely = expiresAt.getTime() + expirySlackMs
      if (moment * 1_000 < surely || now.getTime() < surely) return { state: 'pending', transaction }
      return { state: 'failed', reason: 'authorization_expired_unsettled', transaction }
    }
  }
}
