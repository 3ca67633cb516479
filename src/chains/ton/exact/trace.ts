import type { Address, Message, Transaction } from '@ton/core'
import { type Account, findPrevious, type ListedTransaction, type Toncenter } from '../rpc/rpc.js'
import type { JettonRegistry } from '../tokens/jettonRegistry.js'
import { readCreditedAmount } from '../tokens/jettonTransfer.js'
import { readWalletRequest } from '../wallets/walletRequest.js'
import type { PaymentQuery } from './paymentQuery.js'

/**
 * What the chain says of a payment. `paid`: the recipient's jetton wallet was credited. `void`: the wallet's number is
 * used, and nothing was credited nor can be. `tried`: the wallet got it and did nothing, and may still. `open`: on its
 * way. `unseen`: the wallet never got it.
 */
export type Trace = 'paid' | 'void' | 'tried' | 'open' | 'unseen'

/** What tracing needs. */
export interface TraceDependencies {
  readonly api: Toncenter
  readonly jettons: JettonRegistry
}

const pageSize = 20
const maxPages = 50
// The chain's clock and ours differ.
const slackSeconds = 600

/**
 * Follows a payment: the payer's wallet, its jetton wallet, the recipient's jetton wallet, each transaction in full.
 * That the wallet's number moved says nothing: it moves for a payment that failed, too.
 */
export const tracePayment = async (
  { api, jettons }: TraceDependencies,
  question: PaymentQuery,
  account: Account,
): Promise<Trace> => {
  const { payer, payTo, asset, amount } = question

  const followTransfer = async (order: Message, from: Address, to: Address): Promise<Trace> => {
    const debit = await findResult(order, payer, from)
    if (debit === null) return 'open'
    const credit = isGood(debit)
      ? findMessage(debit, to, (body) => readCreditedAmount(body) === amount)
      : null
    if (credit === null) return 'void'
    const received = await findResult(credit, from, to)
    if (received === null) return 'open'
    return isGood(received) ? 'paid' : 'void'
  }

  const findResult = async ({ info }: Message, source: Address, destination: Address) =>
    info.type === 'internal' ? await api.findResult({ source, destination, createdLt: info.createdLt }) : null

  const follow = async (transaction: ListedTransaction): Promise<Trace> => {
    if (!isGood(transaction)) return 'tried'
    const [from, to] = await Promise.all([jettons.findWallet(asset, payer), jettons.findWallet(asset, payTo)])
    if (from === null || to === null) return 'open'
    const order = findMessage(transaction, from, () => true)
    if (order !== null) return await followTransfer(order, from, to)
    // From outside only the owner's signature gets so far, and uses the number up; a relayed forgery gets here too.
    return transaction.inMessage?.info.type === 'external-in' ? 'void' : 'tried'
  }

  let best: Trace = 'unseen'
  for (const transaction of await listRequests(api, question, account)) {
    const trace = await follow(transaction)
    if (trace === 'paid' || trace === 'void') return trace
    if (best !== 'open') best = trace
  }
  return best
}

/** The wallet's transactions for the payment's request, newest first; from a state of the account that is at hand. */
const listRequests = async (
  api: Toncenter,
  { payer, signedHash, since }: PaymentQuery,
  account: Account,
): Promise<readonly ListedTransaction[]> => {
  const earliest = Math.floor(since.getTime() / 1_000) - slackSeconds
  const found: ListedTransaction[] = []
  let from = account.newest
  for (let page = 0; from !== null; page++) {
    if (page === maxPages) throw new Error('The wallet has too many transactions to look through')
    const listed = await api.listTransactions(payer, from, pageSize)
    found.push(...listed.filter(({ inMessage }) => isRequest(inMessage, { payer, signedHash })))
    const last = listed.at(-1)
    if (last === undefined) throw new Error('A node told an empty list of transactions')
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

/** Executed, and all that it ordered was sent. */
const isGood = ({ description }: Transaction): boolean =>
  description.type === 'generic' &&
  !description.aborted &&
  description.computePhase.type === 'vm' &&
  description.computePhase.success &&
  description.actionPhase?.success === true

const findMessage = (
  { outMessages }: Transaction,
  destination: Address,
  isWanted: (body: Message['body']) => boolean,
): Message | null =>
  outMessages
    .values()
    .find(({ info, body }) => info.type === 'internal' && info.dest.equals(destination) && isWanted(body)) ??
  null
