import type { Address, Message, Transaction } from '@ton/core'
import { sleep, withSignal } from '../../../concurrency/deadline.js'
import type { Clock } from '../../../ports/clock.js'
import type { Outcome } from '../../../schemes/scheme.js'
import type { Resolution } from '../../common/settling/exactScheme.js'
import { canCrossCheck, collectBallots, passesCrossCheck, type Vote } from '../../nodes/crossCheck.js'
import type { Account, ListedTransaction, Rpc } from '../rpc/rpc.js'
import { type JettonRegistry, readCreditedAmount } from '../tokens/jettons.js'
import { type FindRequests, hasSucceeded, type PaymentQuery } from './findRequests.js'

/** One endpoint; shares no state with another. */
export interface Witness extends JudgeDependencies {
  readonly host: string
}

/** Dependencies of a cross-checked resolution. */
interface CrossCheckDependencies extends JudgeDependencies {
  readonly witnesses: readonly Witness[]
  readonly crossCheckAmount: bigint
}

/**
 * Every configured endpoint is asked about a large payment: one that does not respond counts as unreachable. With
 * `isThorough`, and before a payment fails as never seen, so is every one about a payment of any size.
 */
export const resolveCrossChecked = async (
  dependencies: CrossCheckDependencies,
  query: ResolveQuery,
  { isThorough }: { readonly isThorough: boolean },
): Promise<Resolution> => {
  const { witnesses, crossCheckAmount } = dependencies
  const first = await resolvePayment(dependencies, query)
  const isUnseen = first.isWorthSending && (isThorough || first.outcome.state === 'failed')
  const resolution = (isUnseen ? await findWhereSeen(witnesses, query) : null) ?? first
  const { state } = resolution.outcome
  const isLarge = query.amount >= crossCheckAmount && canCrossCheck(witnesses)
  if (!isLarge || state === 'pending') return resolution
  const ballots = await collectBallots(witnesses, (witness) => voteOn(state, witness, query))
  const outcome = state === 'failed' ? 'failure' : 'success'
  if (passesCrossCheck({ ballots, endpoints: witnesses, outcome })) return resolution
  return { outcome: { state: 'pending', transaction: query.transaction }, isWorthSending: false }
}

/**
 * A node may know the newest block and yet miss the transactions of an account, so its silence about one proves little: what
 * another endpoint has seen of the payment counts, a success first.
 */
const findWhereSeen = async (
  witnesses: readonly Witness[],
  query: ResolveQuery,
): Promise<Resolution | null> => {
  if (witnesses.length < 2) return null
  const resolutions = await Promise.all(
    witnesses.map((witness) => resolvePayment(witness, query).catch(() => null)),
  )
  const seen = resolutions.filter((resolution) => resolution !== null).filter((each) => !each.isWorthSending)
  const inState = (state: Outcome['state']) => seen.find(({ outcome }) => outcome.state === state)
  return inState('confirmed') ?? inState('pending') ?? null
}

const voteOn = async (expected: Outcome['state'], witness: Witness, query: ResolveQuery): Promise<Vote> => {
  const { state } = (await resolvePayment(witness, query)).outcome
  if (state === 'pending') return 'unknown'
  return state === expected ? 'confirms' : 'contradicts'
}

interface ResolveQuery extends PaymentQuery {
  /** Identifies the payment in the outcome. */
  readonly transaction: string
  /** The wallet rejects the message from this time on. */
  readonly expiresAt: Date
  readonly now: Date
}

// Nodes may report older blocks late, at most by this much.
const expirySlackMs = 60_000

/** The outcome that the chain proves now. */
const resolvePayment = async (
  dependencies: JudgeDependencies,
  question: ResolveQuery,
): Promise<Resolution> => {
  // State first, then the list that starts at it: what the list lacks had not happened by then.
  const account = await dependencies.rpc.readAccount(question.payer)
  const trace = await judgePayment(dependencies, question, account)
  return { outcome: judgeOutcome(trace, question, account.timestamp), isWorthSending: trace === 'unseen' }
}

const judgeOutcome = (
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

/**
 * What the chain proves about a payment. `paid`: the recipient's jetton wallet was credited. `void`: the
 * seqno is used and nothing was or can be credited. `tried`: executed without effect, may be retried. `open`:
 * messages in flight, or transactions still unread. `unseen`: never reached the wallet.
 */
type Judgement = 'paid' | 'void' | 'tried' | 'open' | 'unseen'

interface JudgeDependencies {
  readonly rpc: Rpc
  readonly jettons: JettonRegistry
  readonly findRequests: FindRequests
}

/**
 * Follows a payment from the payer's wallet over its jetton wallet to the recipient's jetton wallet, and
 * checks each transaction. The wallet's seqno alone proves nothing: a failed payment increments it too.
 */
const judgePayment = async (
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

interface WaitDependencies extends CrossCheckDependencies {
  readonly clock: Clock
  readonly pollIntervalMs: number
}

interface SentPayment {
  readonly question: Omit<ResolveQuery, 'now'>
  /** Null when the relay queue resends. */
  readonly resend: (() => void) | null
}

// Nodes drop messages that are not included soon; after this time it is resent, and every endpoint is asked.
const resendAfterMs = 4_000

/** Polls until the outcome is proven or the signal aborts; then `pending`. */
export const waitForOutcome = async (
  dependencies: WaitDependencies,
  { question, resend }: SentPayment,
  waitUntil: AbortSignal,
): Promise<Outcome> => {
  let sentAtMs = performance.now()
  const elsewhere: { isAsked: boolean; outcome: Outcome | null } = { isAsked: false, outcome: null }
  /** Beside the polls: an endpoint that hangs delays neither them nor what is resent. */
  const askEveryEndpoint = async (query: ResolveQuery): Promise<void> => {
    if (elsewhere.isAsked) return
    elsewhere.isAsked = true
    const resolution = await resolveCrossChecked(dependencies, query, { isThorough: true }).catch(() => null)
    elsewhere.outcome = resolution?.outcome ?? null
    elsewhere.isAsked = false
  }
  while (!waitUntil.aborted) {
    const query = { ...question, now: dependencies.clock.now() }
    const resolving = resolveCrossChecked(dependencies, query, { isThorough: false })
    // After an error the next round decides, and finally the reconciler.
    const resolution = await withSignal(resolving, waitUntil).catch(() => null)
    for (const outcome of [resolution?.outcome, elsewhere.outcome])
      if (outcome != null && outcome.state !== 'pending') return outcome
    if (resolution?.isWorthSending === true && performance.now() - sentAtMs >= resendAfterMs) {
      sentAtMs = performance.now()
      resend?.()
      void askEveryEndpoint(query)
    }
    await sleep(dependencies.pollIntervalMs, waitUntil)
  }
  return { state: 'pending', transaction: question.transaction }
}
