import type { Address, Message, Transaction } from '@ton/core'
import { type Account, findPrevious, type ListedTransaction, type Rpc } from '../rpc/rpc.js'
import type { JettonRegistry } from '../tokens/jettonRegistry.js'
import { readCreditedAmount } from '../tokens/jettonTransfer.js'
import { readWalletRequest } from '../wallets/walletRequest.js'
import type { PaymentQuery } from './paymentQuery.js'

/**
 * What the chain proves about a payment. `paid`: the recipient's jetton wallet was credited. `void`: the
 * seqno is used and nothing was or can be credited. `tried`: executed without effect, may be retried. `open`:
 * messages in flight. `unseen`: never reached the wallet.
 */
export type Judgement = 'paid' | 'void' | 'tried' | 'open' | 'unseen'

export interface JudgeDependencies {
  readonly rpc: Rpc
  readonly jettons: JettonRegistry
}

const pageSize = 20
const maxPages = 50
const slackSeconds = 600

/**
 * Follows a payment from the payer's wallet over its jetton wallet to the recipient's jetton wallet, and
 * checks each transaction. The wallet's seqno alone proves nothing: a failed payment increments it too.
 */
export const judgePayment = async (
  { rpc, jettons }: JudgeDependencies,
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

  let best: Judgement = 'unseen'
  for (const transaction of await listRequests(rpc, query, account)) {
    const trace = await follow(transaction)
    if (trace === 'paid' || trace === 'void') return trace
    if (best !== 'open') best = trace
  }
  return best
}

/** Transactions of the wallet that carry this request, newest first, starting at a known account state. */
const listRequests = async (
  rpc: Rpc,
  { payer, signedHash, since }: PaymentQuery,
  account: Account,
): Promise<readonly ListedTransaction[]> => {
  const earliest = Math.floor(since.getTime() / 1_000) - slackSeconds
  const found: ListedTransaction[] = []
  let from = account.newest
  for (let page = 0; from !== null; page++) {
    if (page === maxPages) throw new Error('The wallet has too many transactions to search')
    const listed = await rpc.listTransactions(payer, from, pageSize)
    found.push(...listed.filter(({ inMessage }) => isRequest(inMessage, { payer, signedHash })))
    const last = listed.at(-1)
    if (last === undefined) throw new Error('A node returned an empty list of transactions')
    from = last.now < earliest ? null : findPrevious(last)
  }
  return found
}

const isRequest = (
  message: Message | null | undefined,
  { payer, signedHash }: Pick<PaymentQuery, 'payer' | 'signedHash'>,
): boolean => {
  if (message == null || message.info.dest?.toString() !== payer.toString()) return false
  return readWalletRequest(message.body)?.signedHash.equals(signedHash) === true
}

const hasSucceeded = ({ description }: Transaction): boolean =>
  description.type === 'generic' &&
  !description.aborted &&
  description.computePhase.type === 'vm' &&
  description.computePhase.success &&
  description.actionPhase?.success === true

const findMessage = (
  { outMessages }: Transaction,
  destination: Address,
  matches: (body: Message['body']) => boolean,
): Message | null =>
  outMessages
    .values()
    .find(({ info, body }) => info.type === 'internal' && info.dest.equals(destination) && matches(body)) ??
  null
