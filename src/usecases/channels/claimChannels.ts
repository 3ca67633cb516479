import { toChunks } from '../../concurrency/microBatcher.js'
import { createWorkerPool } from '../../concurrency/workerPool.js'
import { createFailureLog } from '../../failureLog.js'
import type { ChannelLedger, LedgerChannel } from '../../ports/channelLedger.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import { findClaimTotal, isSetAside } from '../../protocol/channels.js'
import { type Reason, readReason } from '../../protocol/reasons.js'
import type { ChannelCare } from '../../schemes/channelCare.js'
import type { Refusal } from '../../schemes/scheme.js'
import { fingerprintJson } from '../core/idempotency/fingerprint.js'
import type { SettleAuthorization } from '../core/settle/settleAuthorization.js'

/* Looks at bound channels, and claims what is worth its gas or about to be withdrawn. */

export interface CaredNetwork {
  readonly network: string
  readonly care: ChannelCare
}

interface ClaimDependencies {
  readonly ledger: Pick<ChannelLedger, 'listDue' | 'observe' | 'bindClaim' | 'countRefusal'>
  readonly journal: Pick<SettlementJournal, 'find'>
  readonly settleAuthorization: SettleAuthorization
  readonly clock: Clock
  readonly logger: Logger
}

/** A channel and the total that a claim raises it to. */
interface Claimable {
  readonly channel: LedgerChannel
  readonly total: bigint
  readonly gain: bigint
}

/**
 * Of one network and round; the next round goes on behind them. A bound by number would let the channels of one account, which
 * cost it a deposit each, keep those of others from being looked at before a withdrawal.
 */
const lookMs = 60_000
/** Of one account and round, apart from withdrawals. */
const maxClaimables = 1_000
// Claims of a network that are made at once share transactions.
const claimsAtOnce = 32
/** Of withdrawals, and of the others. Then no claim is begun: the next round looks for withdrawals first. */
const patienceMs = 60_000
// Half of the shortest delay of a withdrawal is 450 s.
const idleLookMs = 300_000
const emptyLookMs = 3_600_000
/** A voucher that is refused so often alone is set aside. */
const maxRefusals = 3
/** A withdrawal that is this far on its way is claimed against beyond the limits of its account. */
const urgentPart = 1 / 4
/** A claim that is open for longer may never be mined: after a reorg one row that lost its deposit reverts it for a day. */
const stalledMs = 120_000

/** One round over one network. Networks have rounds of their own: none waits for another's nodes. */
export const createClaimChannels = ({
  ledger,
  journal,
  settleAuthorization,
  clock,
  logger,
}: ClaimDependencies): ((network: CaredNetwork, stopped: AbortSignal) => Promise<void>) => {
  const cursors = new Map<string, string>()
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

  /** Null: nothing is due, or no node answers; then the next round begins with the same channels. */
  const look = async ({ network, care }: CaredNetwork): Promise<readonly LedgerChannel[] | null> => {
    const at = clock.now()
    const due = await ledger.listDue(network, {
      limit: care.maxRows,
      after: cursors.get(network) ?? '',
      seenBefore: new Date(at.getTime() - idleLookMs),
      emptySeenBefore: new Date(at.getTime() - emptyLookMs),
    })
    const last = due.at(-1)
    if (last === undefined) {
      cursors.delete(network)
      return null
    }
    const seen = await care.readChannels(due.map(({ channelId }) => channelId)).catch((error: unknown) => {
      reads.failed(network, { network, error })
      return null
    })
    if (seen === null) {
      reads.failed(network, { network, hint: 'no node answers what the settlement knows of channels' })
      return null
    }
    reads.succeeded(network)
    if (due.length < care.maxRows) cursors.delete(network)
    else cursors.set(network, last.channelId)
    return await ledger.observe(network, seen, at)
  }

  /**
   * Without those of a claim whose outcome is open: a second one would pay for the same rows again, which a withdrawal is worth.
   * Nor is gas paid twice for a payer whose last claim reverted on chain although its simulation succeeded.
   */
  const withoutOpen = async (
    { care }: CaredNetwork,
    claimables: readonly Claimable[],
  ): Promise<readonly Claimable[]> => {
    const ids = [...new Set(claimables.flatMap(({ channel }) => channel.settlementId ?? []))]
    const last = new Map<string, Settlement | null>()
    for (const id of ids) last.set(id, await journal.find(id))
    const gains = new Map<string | null, bigint>()
    for (const { channel, gain } of claimables)
      gains.set(channel.settlementId, (gains.get(channel.settlementId) ?? 0n) + gain)
    // The same rows again would be the same claim, which a round only waited for.
    const isStalled = ({ id, createdAt, amount }: Settlement): boolean =>
      now() - createdAt.getTime() >= stalledMs && gains.get(id) !== amount
    const free: Claimable[] = []
    for (const each of claimables) {
      const { channel } = each
      const newest = last.get(channel.settlementId ?? '') ?? null
      const { state, reason = null, transaction = null } = newest ?? {}
      const isOpen = newest?.state === 'claimed' || newest?.state === 'pending'
      if (isOpen && !(isUrgent(channel, now()) && isStalled(newest))) continue
      const isSent = state === 'failed' && transaction !== null
      const isReverted = isSent && reason !== null && care.isRowFault(reason)
      if (!isReverted || !care.isVoidable(channel.config)) free.push(each)
      else await ledger.countRefusal(channel, { reason, limit: 1 })
    }
    return free
  }

  const claim = async (
    { network, care }: CaredNetwork,
    rows: readonly Claimable[],
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
      return isBound ? null : { isValid: false, payer, reason: 'duplicate_settlement' }
    }
    const result = await settleAuthorization({
      payment,
      caller: accountId,
      quota: null,
      // A share of its own: what payers have the account settle does not use it up.
      requester: { name: `channels of ${accountId}`, site: null },
      fingerprint,
      consumer: `channels ${fingerprint}`,
      isBodyBound: true,
      isUrgent: rows.some(({ channel }) => isUrgent(channel, now())),
      onClaimed: bind,
    })
    return result.success ? null : readReason(result.errorReason ?? null)
  }

  /** A row that nothing can claim keeps no other back: the halves of a refused claim are tried alone. */
  const claimOrDivide = async (cared: CaredNetwork, rows: readonly Claimable[]): Promise<void> => {
    const reason = await claim(cared, rows)
    if (reason === null || !cared.care.isRowFault(reason)) return
    const [first] = rows
    if (rows.length === 1 && first !== undefined) {
      await ledger.countRefusal(first.channel, { reason, limit: maxRefusals })
      return
    }
    const middle = Math.ceil(rows.length / 2)
    await claimOrDivide(cared, rows.slice(0, middle))
    await claimOrDivide(cared, rows.slice(middle))
  }

  const claimAll = async (
    cared: CaredNetwork,
    claimables: readonly Claimable[],
    stopped: AbortSignal,
  ): Promise<void> => {
    const endsAtMs = now() + patienceMs
    const due = await withoutOpen(cared, claimables)
    const pool = createWorkerPool<readonly Claimable[]>({
      concurrency: claimsAtOnce,
      keyOf: (rows) => `${cared.network} ${rows[0]?.channel.accountId}`,
      maxFailuresPerKey: 3,
      stopped,
      onFailure: (_, error) => failures.failed(cared.network, { network: cared.network, error }),
    })
    await pool.run(toClaims(due, cared.care), async (rows) => {
      if (now() >= endsAtMs) return
      await claimOrDivide(cared, rows)
      failures.succeeded(cared.network)
    })
  }

  return async (cared, stopped) => {
    const [withdrawals, others]: [Claimable[], Claimable[]] = [[], []]
    const counts = new Map<string, number>()
    const endsAtMs = now() + lookMs
    while (now() < endsAtMs && !stopped.aborted) {
      const channels = await look(cared)
      if (channels === null) break
      for (const each of channels.flatMap(toClaimable).filter((one) => isWorth(one, cared.care, now()))) {
        const { accountId } = each.channel
        const count = counts.get(accountId) ?? 0
        if (isWithdrawn(each)) withdrawals.push(each)
        else if (count < maxClaimables) {
          counts.set(accountId, count + 1)
          others.push(each)
        }
      }
      if (!cursors.has(cared.network)) break
    }
    // Looks are short, claims are not: those of one page must not keep a withdrawal on a later one waiting.
    await claimAll(cared, withdrawals, stopped)
    await claimAll(cared, others, stopped)
  }
}

const toClaimable = (channel: LedgerChannel): readonly Claimable[] => {
  const total = findClaimTotal(channel)
  const gain = total - channel.claimed
  // What refused the voucher may be gone, such as a node that was behind: a withdrawal is the last chance to try again.
  const isTried = !isSetAside(channel) || channel.withdrawRequestedAt > 0
  return gain > 0n && isTried ? [{ channel, total, gain }] : []
}

const isWithdrawn = ({ channel }: Claimable): boolean => channel.withdrawRequestedAt > 0

const isUrgent = ({ withdrawRequestedAt, config }: LedgerChannel, nowMs: number): boolean =>
  withdrawRequestedAt > 0 &&
  nowMs >= 1_000 * (withdrawRequestedAt + urgentPart * Number(config.withdrawDelay ?? 0))

const isWorth = ({ channel, gain }: Claimable, care: ChannelCare, nowMs: number): boolean => {
  const { rules } = care
  const cost = care.findRowCost(channel.token)
  const ageMs = channel.unclaimedSince === null ? 0 : nowMs - channel.unclaimedSince.getTime()
  // Less is not worth its row, also beside others that are.
  if (channel.withdrawRequestedAt > 0 || ageMs >= rules.claimAfterMs) return gain >= (cost ?? 0n)
  // Without a price of gas nothing says what is worth it.
  if (cost === null) return false
  return gain >= cost * (care.isVoidable(channel.config) ? 4n : rules.claimWorth)
}

/**
 * One for each account and receiver, the highest gain first. A payer that can void its voucher could have the claim of others
 * revert, or burn their gas: it has one of its own, behind those.
 */
const toClaims = (
  claimables: readonly Claimable[],
  { maxRows, isVoidable }: Pick<ChannelCare, 'maxRows' | 'isVoidable'>,
): readonly (readonly Claimable[])[] => {
  const isAlone = ({ channel }: Claimable) => isVoidable(channel.config) || isSetAside(channel)
  const groups = new Map<string, Claimable[]>()
  for (const each of [...claimables.filter((one) => !isAlone(one)), ...claimables.filter(isAlone)]) {
    const { accountId, receiver, channelId } = each.channel
    const key = `${accountId} ${receiver} ${isAlone(each) ? channelId : ''}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [each])
    else group.push(each)
  }
  const claims = [...groups.values()].flatMap((group) =>
    toChunks(
      group.sort((left, right) => (left.gain < right.gain ? 1 : -1)),
      maxRows,
    ),
  )
  return takeTurns(claims, ([first]) => first?.channel.accountId ?? '')
}

/** The first one of each account comes before the second one of any. */
export const takeTurns = <Item>(
  items: readonly Item[],
  accountOf: (item: Item) => string,
): readonly Item[] => {
  const counts = new Map<string, number>()
  const turns = items.map((item) => {
    const account = accountOf(item)
    const turn = counts.get(account) ?? 0
    counts.set(account, turn + 1)
    return { item, turn }
  })
  return turns.sort((left, right) => left.turn - right.turn).map(({ item }) => item)
}
