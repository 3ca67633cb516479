import { createGathering, type Member } from '../../concurrency/gathering.js'
import { createWorkerPool } from '../../concurrency/workerPool.js'
import { createFailureLog } from '../../failureLog.js'
import type { ChannelLedger, LedgerChannel } from '../../ports/channelLedger.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import { type Reason, readReason } from '../../protocol/reasons.js'
import type { Refusal } from '../../schemes/scheme.js'
import { fingerprintJson } from '../core/idempotency/fingerprint.js'
import type { SettleAuthorization } from '../core/settle/settleAuthorization.js'
import {
  type CaredNetwork,
  type Claimable,
  isUrgent,
  isWithdrawn,
  isWorth,
  toClaimable,
  toClaims,
} from './claimable.js'
import { createWatchWithdrawals } from './watchWithdrawals.js'

/* Looks at bound channels, and claims what is worth its gas or about to be withdrawn. */

interface Page {
  readonly channels: readonly LedgerChannel[]
  readonly isLast: boolean
}

interface ClaimDependencies {
  readonly ledger: Pick<
    ChannelLedger,
    | 'listDue'
    | 'observe'
    | 'bindClaim'
    | 'hurryClaim'
    | 'countRefusal'
    | 'findWatch'
    | 'moveWatch'
    | 'listUnnoticed'
  >
  readonly journal: Pick<SettlementJournal, 'find'>
  readonly settleAuthorization: SettleAuthorization
  readonly clock: Clock
  readonly logger: Logger
  /** A claim that is ready waits so long at most for those that were begun with it, to share a transaction. Default: 2 s. */
  readonly gatherMs?: number
}

/**
 * Of one network and round; the next round goes on behind them. A bound by number would let the channels of one account, which
 * cost it a deposit each, keep those of others from being looked at before a withdrawal.
 */
const lookMs = 60_000
/** What is known to be withdrawn is looked at first, each round: an earlier claim may have been refused, or not fitted a limit. */
const withdrawnLookMs = 20_000
/** Of one account and round, apart from withdrawals. */
const maxClaimables = 1_000
// Claims of a network that are made at once share transactions.
const claimsAtOnce = 32
const defaultGatherMs = 2_000
const alone: Member = { arrive: async () => undefined, leave: () => undefined }
/** Of withdrawals, and of the others. Then no claim is begun: the next round looks for withdrawals first. */
const patienceMs = 60_000
// Half of the shortest delay of a withdrawal is 450 s.
const idleLookMs = 300_000
const emptyLookMs = 3_600_000
/** A voucher that is refused so often alone is set aside. */
const maxRefusals = 3
/** A claim that is open for longer may never be mined: after a reorg one row that lost its deposit reverts it for a day. */
const stalledMs = 120_000

/** One round over one network. Networks have rounds of their own: none waits for another's nodes. */
export const createClaimChannels = ({
  ledger,
  journal,
  settleAuthorization,
  clock,
  logger,
  gatherMs = defaultGatherMs,
}: ClaimDependencies): ((network: CaredNetwork, stopped: AbortSignal) => Promise<void>) => {
  const cursors = new Map<string, string>()
  const watch = createWatchWithdrawals({ ledger, clock, logger })
  const now = () => clock.now().getTime()
  const reads = createFailureLog({
    logger,
    event: 'channel.read_failed',
    recovered: 'channel.read_recovered',
    now,
  })
  const failures = createFailureLog({
    logger,
    level: 'error',
    event: 'channel.claim_failed',
    recovered: 'channel.claim_recovered',
    now,
  })

  /** What the chain knows of channels, stored; null: no node answers. */
  const observe = async (
    { network, care }: CaredNetwork,
    channelIds: readonly string[],
    at: Date,
  ): Promise<readonly LedgerChannel[] | null> => {
    const seen = await care.readChannels(channelIds).catch((error: unknown) => {
      reads.failed(network, { network, error })
      return null
    })
    if (seen === null) {
      reads.failed(network, { network, hint: 'no node answers what the settlement knows of channels' })
      return null
    }
    reads.succeeded(network)
    return await ledger.observe(network, seen, at)
  }

  /** The next page; null: nothing is due, or no node answers, and the next round begins with the same channels. */
  const lookAtNext = async (cared: CaredNetwork, onlyWithdrawn: boolean): Promise<Page | null> => {
    const { network, care } = cared
    const at = clock.now()
    const cursor = `${network} ${onlyWithdrawn}`
    const due = await ledger.listDue(network, {
      onlyWithdrawn,
      limit: care.maxRows,
      after: cursors.get(cursor) ?? '',
      seenBefore: new Date(at.getTime() - idleLookMs),
      emptySeenBefore: new Date(at.getTime() - emptyLookMs),
    })
    const last = due.at(-1)
    if (last === undefined) {
      cursors.delete(cursor)
      return null
    }
    const channels = await observe(
      cared,
      due.map(({ channelId }) => channelId),
      at,
    )
    if (channels === null) return null
    const isLast = due.length < care.maxRows
    if (isLast) cursors.delete(cursor)
    else cursors.set(cursor, last.channelId)
    return { channels, isLast }
  }

  /**
   * Without those of a claim whose outcome is open: a second one would pay for the same rows again, which a withdrawal is worth.
   * Nor is gas paid twice for a payer whose last claim reverted on chain although its simulation succeeded.
   */
  const withoutOpen = async (
    { care }: CaredNetwork,
    claimables: readonly Claimable[],
    gains: ReadonlyMap<string | null, bigint>,
  ): Promise<readonly Claimable[]> => {
    const ids = [...new Set(claimables.flatMap(({ channel }) => channel.settlementId ?? []))]
    const last = new Map<string, Settlement | null>()
    for (const id of ids) last.set(id, await journal.find(id))
    // The same rows again would be the same claim, which a round only waited for.
    const isStalled = ({ id, createdAt, amount }: Settlement): boolean =>
      now() - createdAt.getTime() >= stalledMs && gains.get(id) !== amount
    const free: Claimable[] = []
    const hurried = new Map<string, string>()
    for (const each of claimables) {
      const { channel } = each
      const newest = last.get(channel.settlementId ?? '') ?? null
      const { state, reason = null, transaction = null } = newest ?? {}
      const isOpen = newest?.state === 'claimed' || newest?.state === 'pending'
      if (isOpen && isUrgent(channel, now())) hurried.set(newest.id, channel.accountId)
      if (isOpen && !(isUrgent(channel, now()) && isStalled(newest))) continue
      const isSent = state === 'failed' && transaction !== null
      const isReverted = isSent && reason !== null && care.isRowFault(reason)
      if (!isReverted || !care.isVoidable(channel.config)) free.push(each)
      else await ledger.countRefusal(channel, { reason, limit: 1 })
    }
    // It was sent before it was urgent, or by a version that did not say so: what others have spent must not keep it unmined.
    for (const [settlementId, accountId] of hurried) await ledger.hurryClaim({ settlementId, accountId })
    return free
  }

  const claim = async (
    { network, care }: CaredNetwork,
    rows: readonly Claimable[],
    member: Member,
  ): Promise<Reason | null> => {
    const [first] = rows
    if (first === undefined) return null
    const { accountId, receiver, token } = first.channel
    const payment = care.writeClaim(
      rows.map(({ channel, total }) => ({ ...channel, total })),
      { receiver, token },
    )
    const fingerprint = fingerprintJson(payment.proof)
    const bind = async ({ id, payer }: Settlement): Promise<Refusal | null> => {
      const isBound = await ledger.bindClaim(
        network,
        rows.map(({ channel }) => channel),
        id,
      )
      if (!isBound) return { isValid: false, payer, reason: 'duplicate_settlement' }
      // Nothing but the send is left, which it shares with those that are ready as well.
      await member.arrive()
      return null
    }
    const isHurried = rows.some(({ channel }) => isUrgent(channel, now()))
    const { success, status, settlementId, errorReason } = await settleAuthorization({
      payment,
      caller: accountId,
      quota: null,
      // A share of its own: what payers have the account settle does not use it up.
      requester: { name: `channels of ${accountId}`, site: null },
      fingerprint,
      consumer: `channels ${fingerprint}`,
      isBodyBound: true,
      isUrgent: isHurried,
      onClaimed: bind,
    })
    // A request or a stream may have sent it before, and was joined.
    if (isHurried && status === 'pending' && settlementId !== undefined) {
      await ledger.hurryClaim({ settlementId, accountId })
    }
    return success ? null : readReason(errorReason ?? null)
  }

  /** A row that nothing can claim keeps no other back: the halves of a refused claim are tried alone. */
  const claimOrDivide = async (
    cared: CaredNetwork,
    rows: readonly Claimable[],
    member: Member,
  ): Promise<void> => {
    const reason = await claim(cared, rows, member)
    if (reason === null || !cared.care.isRowFault(reason)) return
    const [first] = rows
    if (rows.length === 1 && first !== undefined) {
      await ledger.countRefusal(first.channel, { reason, limit: maxRefusals })
      return
    }
    const middle = Math.ceil(rows.length / 2)
    await claimOrDivide(cared, rows.slice(0, middle), member)
    await claimOrDivide(cared, rows.slice(middle), member)
  }

  const claimAll = async (
    cared: CaredNetwork,
    claimables: readonly Claimable[],
    stopped: AbortSignal,
  ): Promise<void> => {
    const endsAtMs = now() + patienceMs
    const gains = sumGains(claimables)
    const gathering = createGathering(gatherMs)
    const pool = createWorkerPool<readonly Claimable[]>({
      concurrency: claimsAtOnce,
      keyOf: (rows) => `${cared.network} ${rows[0]?.channel.accountId}`,
      maxFailuresPerKey: 3,
      stopped,
      onFailure: (_, error) => failures.failed(cared.network, { network: cared.network, error }),
    })
    await pool.run(toClaims(claimables, cared.care, now()), async (rows) => {
      // One that its payer can void has a transaction of its own.
      const isShared = !rows.some(({ channel }) => cared.care.isVoidable(channel.config))
      const member = isShared ? gathering.begin() : alone
      try {
        // The outcomes of an account's earlier claims are read in its turn: others do not wait for them.
        const free = now() < endsAtMs ? await withoutOpen(cared, rows, gains) : []
        if (free.length === 0) return
        await claimOrDivide(cared, free, member)
        failures.succeeded(cared.network)
      } finally {
        member.leave()
      }
    })
  }

  return async (cared, stopped) => {
    const [withdrawals, others] = [new Map<string, Claimable>(), new Map<string, Claimable>()]
    const counts = new Map<string, number>()
    const note = (channels: readonly LedgerChannel[]): void => {
      for (const each of channels.flatMap(toClaimable).filter((one) => isWorth(one, cared.care, now()))) {
        const { accountId, channelId } = each.channel
        const count = counts.get(accountId) ?? 0
        if (isWithdrawn(each)) withdrawals.set(channelId, each)
        else if (count < maxClaimables && !others.has(channelId)) {
          counts.set(accountId, count + 1)
          others.set(channelId, each)
        }
      }
    }
    const lookAtAll = async (onlyWithdrawn: boolean, forMs: number): Promise<void> => {
      const endsAtMs = now() + forMs
      while (now() < endsAtMs && !stopped.aborted) {
        const page = await lookAtNext(cared, onlyWithdrawn)
        if (page !== null) note(page.channels)
        if (page === null || page.isLast) return
      }
    }

    const watched = await ledger.findWatch(cared.network)
    if (watched === null) return
    await watch({
      ...cared,
      ...watched,
      stopped,
      look: async (channelIds) => {
        const channels = await observe(cared, channelIds, clock.now())
        if (channels !== null) note(channels)
        return channels !== null
      },
    })
    await lookAtAll(true, withdrawnLookMs)
    await lookAtAll(false, lookMs)
    // Looks are short, claims are not: those of one page must not keep a withdrawal on a later one waiting.
    await claimAll(cared, [...withdrawals.values()], stopped)
    await claimAll(cared, [...others.values()], stopped)
  }
}

/** Of the channels of each claim before. */
const sumGains = (claimables: readonly Claimable[]): ReadonlyMap<string | null, bigint> => {
  const gains = new Map<string | null, bigint>()
  for (const { channel, gain } of claimables)
    gains.set(channel.settlementId, (gains.get(channel.settlementId) ?? 0n) + gain)
  return gains
}
