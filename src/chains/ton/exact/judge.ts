import type { Address, Message, Transaction } from '@ton/core'
import type { Account, ListedTransaction, Rpc } from '../rpc/rpc.js'
import type { JettonRegistry } from '../tokens/jettonRegistry.js'
import { readCreditedAmount } from '../tokens/jettonTransfer.js'
import { type FindRequests, hasSucceeded } from './findRequests.js'
import type { PaymentQuery } from './paymentQuery.js'

/**
 * What the chain proves about a payment. `paid`: the recipient's jetton wallet was credited. `void`: the
 * seqno is used and nothing was or can be credited. `tried`: executed without effect, may be retried. `open`:
 * messages in flight, or transactions still unread. `unseen`: never reached the wallet.
 */
export type Judgement = 'paid' | 'void' | 'tried' | 'open' | 'unseen'

export interface JudgeDependencies {
  readonly rpc: Rpc
  readonly jettons: JettonRegistry
  readonly findRequests: FindRequests
}

/**
 * Follows a payment from the payer's wallet over its jetton wallet to the recipient's jetton wallet, and
 * checks each transaction. The wallet's seqno alone proves nothing: a failed payment increments it too.
 */
export const judgePayment = async (
  { rpc, jettons, findRequests }: JudgeDependencies,
  query: PaymentQuery,
  account: Account,
): Promise<Judgement> => {
  const { payer, payTo, asset, amount } = query

  const followTransfer = async (transferMessage: Message, from: Address, to: Address): Promise<Judgement> => {
    const debit = await findResult(transferMessage, payer, from)
    if (debit === null) return 'open'
    const credit = hasSucceeded(debit)
      ? findMessage(debit, to, (body) => readCreditedAmount(body) === amount)
      : null
    if (credit === null) return 'void'
    const received = await findResult(credit, from, to)
    if (received === null) return 'open'
    return hasSucceeded(received) ? 'paid' : 'void'
  }

  const findResult = async ({ info }: Message, source: Address, destination: Address) =>
    info.type === 'internal'
      ? await rpc.findResultTransaction({ source, destination, createdLt: info.createdLt })
      : null

  const follow = async (transaction: ListedTransaction): Promise<Judgement> => {
    if (!hasSucceeded(transaction)) return 'tried'
    const [from, to] = await Promise.all([jettons.findWallet(asset, payer), jettons.findWallet(asset, payTo)])
    if (from === null || to === null) return 'open'
    const transferMessage = findMessage(transaction, from, () => true)
    if (transferMessage !== null) return await followTransfer(transferMessage, from, to)
    // An external message needs the owner's signature to get this far, so its seqno is used. An internal one
    // may be a forgery.
    return transaction.inMessage?.info.type === 'external-in' ? 'void' : 'tried'
  }

  const { requests, isComplete } = await findRequests(query, account)
  let best: Judgement = isComplete ? 'unseen' : 'open'
  for (const transaction of requests) {
    const trace = await follow(transaction)
    if (trace === 'paid' || trace === 'void') return trace
    if (best !== 'open') best = trace
  }
  return best
}

const findMessage = (
  { outMessages }: Transaction,
  destination: Address,
  matches: (body: Message['body']) => boolean,
): Message | null =>
  outMessages
    .values()
    .find(({ info, body }) => info.type === 'internal' && info.dest.equals(destination) && matches(body)) ??
  null
