import type { Address, Message, Transaction } from '@ton/core'
import { setNewest } from '../../../concurrency/boundedMap.js'
import { systemTime } from '../../nodes/endpointHealth.js'
import {
  type Account,
  findPrevious,
  type ListedTransaction,
  type Rpc,
  type TransactionReference,
} from '../rpc/rpc.js'
import { readWalletRequest } from '../wallets/walletMessage.js'

export interface PaymentQuery {
  readonly payer: Address
  /** Hash of the signed body, independent of relayer and signature bytes. */
  readonly signedHash: Buffer
  readonly asset: Address
  readonly payTo: Address
  readonly amount: bigint
  readonly since: Date
}

interface FoundRequests {
  /** Transactions of the wallet that carry the request; of those without effect at most one. */
  readonly requests: readonly ListedTransaction[]
  /** False while older transactions of the wallet are still unread: a later call continues there. */
  readonly isComplete: boolean
}

/** Finds the executions of a payer's request in its wallet's transactions, up to a known account state. */
export type FindRequests = (query: PaymentQuery, account: Account) => Promise<FoundRequests>

/** Transactions to read: from one back to another, which is excluded. */
interface Gap {
  readonly from: TransactionReference
  readonly downToLt: bigint
}

interface Search {
  readonly requests: Map<bigint, ListedTransaction>
  /** Oldest first. */
  gaps: readonly Gap[]
  newestLt: bigint
  /** Calls that left it incomplete, in a row. */
  attempts: number
  resumesAtMs: number
}

// Anyone can add transactions to a wallet by sending to it, so one call reads a bounded number.
const pageSize = 50
const maxPages = 20
const slackSeconds = 600

// Pause after a call that left a search incomplete, doubled by each further one.
const firstPauseMs = 1_000
const maxPauseMs = 60_000

// Searches that are kept; one that is dropped starts again.
const maxSearches = 1_000

/**
 * Remembers per request what was read, so that each call continues where the last one ended and a completed search
 * reads only new transactions. Between calls that leave a search incomplete it rests, so that one wallet cannot use up
 * the endpoints' rate limits. Every page must continue the hash chain of the account's transactions.
 */
export const createFindRequests = (rpc: Rpc): FindRequests => {
  const searches = new Map<string, Search>()

  const open = ({ payer, signedHash }: PaymentQuery): Search => {
    const key = `${payer.toRawString()} ${signedHash.toString('hex')}`
    const search = searches.get(key) ?? {
      requests: new Map(),
      gaps: [],
      newestLt: 0n,
      attempts: 0,
      resumesAtMs: Number.NEGATIVE_INFINITY,
    }
    setNewest(searches, key, search, maxSearches)
    return search
  }

  /** Reads one page of the oldest gap. Calls may overlap: only the first to answer moves the gap. */
  const readPage = async (search: Search, gap: Gap, query: PaymentQuery): Promise<void> => {
    const listed = await rpc.listTransactions(query.payer, gap.from, pageSize)
    const last = listed.at(-1)
    if (last === undefined || !isChain(gap.from, listed)) {
      throw new Error('A node returned transactions that are not the requested ones')
    }
    if (search.gaps[0] !== gap) return
    for (const each of listed) {
      if (each.lt > gap.downToLt && isRequest(each.inMessage, query)) keep(search.requests, each)
    }
    const previous = isBefore(last, query) ? null : findPrevious(last)
    const rest = search.gaps.slice(1)
    search.gaps =
      previous === null || previous.lt <= gap.downToLt ? rest : [{ ...gap, from: previous }, ...rest]
  }

  return async (query, { newest }) => {
    const search = open(query)
    if (newest !== null && newest.lt > search.newestLt) {
      // A second gap is not begun yet, so it is extended.
      const [begun, waiting] = search.gaps
      const added = { from: newest, downToLt: waiting?.downToLt ?? search.newestLt }
      search.gaps = begun === undefined ? [added] : [begun, added]
      search.newestLt = newest.lt
    }
    const isResting = systemTime.monotonicMs() < search.resumesAtMs
    for (let page = 0; page < maxPages && !isResting; page++) {
      const [gap] = search.gaps
      if (gap === undefined) break
      await readPage(search, gap, query)
    }
    const isComplete = search.gaps.length === 0
    if (isComplete) search.attempts = 0
    else if (!isResting) {
      search.resumesAtMs =
        systemTime.monotonicMs() + Math.min(firstPauseMs * 2 ** search.attempts, maxPauseMs)
      search.attempts += 1
    }
    return { requests: [...search.requests.values()], isComplete }
  }
}

/** Computed and acted on without an error. */
export const hasSucceeded = ({ description }: Transaction): boolean =>
  description.type === 'generic' &&
  !description.aborted &&
  description.computePhase.type === 'vm' &&
  description.computePhase.success &&
  description.actionPhase?.success === true

/** Replays cost their sender little, so they must not fill the memory: one stands for all. */
const keep = (requests: Map<bigint, ListedTransaction>, transaction: ListedTransaction): void => {
  const hasNone = (each: ListedTransaction) => !hasEffect(each)
  if (hasEffect(transaction) || ![...requests.values()].some(hasNone))
    requests.set(transaction.lt, transaction)
}

const hasEffect = (transaction: ListedTransaction): boolean =>
  hasSucceeded(transaction) &&
  (transaction.inMessage?.info.type === 'external-in' || transaction.outMessagesCount > 0)

const isChain = (from: TransactionReference, listed: readonly ListedTransaction[]): boolean => {
  let expected: TransactionReference | null = from
  for (const each of listed) {
    if (expected === null || each.lt !== expected.lt) return false
    if (!each.cellHash.equals(Buffer.from(expected.hash, 'base64'))) return false
    expected = findPrevious(each)
  }
  return true
}

const isBefore = ({ now }: ListedTransaction, { since }: PaymentQuery): boolean =>
  now < Math.floor(since.getTime() / 1_000) - slackSeconds

const isRequest = (
  message: Message | null | undefined,
  { payer, signedHash }: Pick<PaymentQuery, 'payer' | 'signedHash'>,
): boolean => {
  if (message == null || message.info.dest?.toString() !== payer.toString()) return false
  return readWalletRequest(message.body)?.signedHash.equals(signedHash) === true
}
