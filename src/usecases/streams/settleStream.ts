import { createFailureLog } from '../../failureLog.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import type { Stream, StreamStore } from '../../ports/streamStore.js'
import { type Reason, readReason } from '../../protocol/reasons.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { Refusal } from '../../schemes/scheme.js'
import { hasSharedOutcome } from '../../schemes/sharedOutcome.js'
import type { SettleAuthorization } from '../core/settle/settleAuthorization.js'
import { decideHere, getDecided } from './control.js'
import type { StreamCommand } from './decide.js'
import { type ReleaseHold, streamNameOf } from './hold.js'
import { findMeans, type StreamMeans } from './means.js'

interface SettleStreamDependencies {
  readonly store: Pick<StreamStore, 'change'>
  readonly journal: Pick<SettlementJournal, 'find' | 'findOpen'>
  readonly registry: SchemeRegistry
  readonly settleAuthorization: SettleAuthorization
  readonly releaseHold: ReleaseHold
  readonly clock: Clock
  /** Alone decides whether a stream ends unpaid: `clock` follows block times, and those can be wrong. */
  readonly processClock: Pick<Clock, 'now'>
  /** How long after its close a stream over a channel waits for the signature of the receiver's authorizer. */
  readonly unsignedForMs: number
  readonly logger: Logger
}

/**
 * Settles the final amount of a closing stream once, or finds out what became of an earlier attempt, and records it.
 * The journal decides: an attempt that ends without an answer changes nothing. Throws only if the database is down.
 */
export type SettleStream = (stream: Stream, payment: unknown) => Promise<Stream>

interface Attempted {
  /** Null: nothing was refused, or the outcome is not known; the journal knows. */
  readonly refusal: Reason | null
  /** The settlement that the attempt claimed; null: none. */
  readonly claimedId: string | null
  /** The chain shows already what is to be settled: nothing was sent. */
  readonly isReached: boolean
}

type Terms = NonNullable<ReturnType<StreamMeans['toSettle']>>

interface Findings {
  /** The journal has it for the authorization; null: none is open or confirmed. */
  readonly settlement: Settlement | null
  /** The newest settlement of the stream, where it was sent and failed. */
  readonly reverted: Settlement | null
  readonly refusal: Reason | null
  readonly isReached: boolean
  /** The newest settlement that is known to be the stream's. */
  readonly newestId: string | null
}

const firstPauseMs = 2_000
const maxPauseMs = 300_000
// Each one that was sent cost gas.
const firstRevertPauseMs = 60_000
const revertPauseFactor = 8
const maxRevertPauseMs = 6 * 3_600_000
/** A pause takes at most this part of the time that is left, so that attempts go on until the authorization ends. */
const maxPartOfTimeLeft = 1 / 4

export const createSettleStream = ({
  store,
  journal,
  registry,
  settleAuthorization,
  releaseHold,
  clock,
  processClock,
  unsignedForMs,
  logger,
}: SettleStreamDependencies): SettleStream => {
  const failures = createFailureLog({
    logger,
    event: 'stream.settle_failed',
    recovered: 'stream.settle_recovered',
    now: () => clock.now().getTime(),
  })

  const change = (stream: Stream, command: StreamCommand) =>
    store.change(stream.id, decideHere(command, clock.now()), 'closes')

  /** A stream that was given up meanwhile must not be paid. */
  const bind = async (stream: Stream, { id, payer }: Settlement): Promise<Refusal | null> => {
    const bound = await change(stream, { kind: 'claimed', settlementId: id })
    return bound.state === 'refused'
      ? { isValid: false, payer, reason: 'duplicate_settlement', message: bound.refusal.message }
      : null
  }

  const attempt = async (stream: Stream, terms: Terms): Promise<Attempted> => {
    let claimedId: string | null = null
    try {
      const name = streamNameOf(stream.id)
      const result = await settleAuthorization({
        ...terms.attempt,
        caller: stream.caller,
        // Counted, never refused: the quota was checked when the stream was opened.
        quota:
          stream.quota === null
            ? null
            : {
                accountId: stream.caller,
                customer: stream.quota.customer,
                tier: { monthlyQuota: -1, feeRate: stream.quota.feeRate },
              },
        // The same for every attempt: each joins what an earlier one began.
        fingerprint: name,
        consumer: name,
        // The account's own `/settle` of the payment must not share this success.
        isBodyBound: true,
        onClaimed: async (settlement) => {
          claimedId = settlement.id
          return await bind(stream, settlement)
        },
      })
      failures.succeeded(stream.network)
      return {
        refusal: result.success ? null : readReason(result.errorReason ?? null),
        claimedId,
        isReached: result.success && result.settlementId === undefined && result.transaction === '',
      }
    } catch (error) {
      failures.failed(stream.network, {
        streamId: stream.id,
        account: stream.caller,
        network: stream.network,
        error,
      })
      return { refusal: null, claimedId, isReached: false }
    }
  }

  const findReverted = async (settlementId: string | null): Promise<Settlement | null> => {
    const found = settlementId === null ? null : await journal.find(settlementId)
    return found?.state === 'failed' && found.broadcasts.length > 0 ? found : null
  }

  const examine = async (stream: Stream, terms: Terms): Promise<Findings> => {
    const { authorizationId } = terms
    const known = await journal.findOpen(authorizationId)
    // Sent before: the reconciler closes it. A settlement that no process owns is abandoned or resolved by it, too.
    const isUnderWay = known !== null && !known.isOwned && known.state === 'pending'
    const { refusal, claimedId, isReached } = isUnderWay
      ? { refusal: null, claimedId: null, isReached: false }
      : await attempt(stream, terms)
    const newestId = claimedId ?? stream.settlementId
    const settlement = isUnderWay ? known : await journal.findOpen(authorizationId)
    const reverted = settlement === null ? await findReverted(newestId) : null
    return { settlement, reverted, refusal, isReached, newestId }
  }

  /** The network or its scheme is no longer configured: an earlier attempt may have settled it. */
  const examineUnserved = async ({ settlementId: newestId }: Stream): Promise<Findings> => {
    const found = newestId === null ? null : await journal.find(newestId)
    const settlement = found?.state === 'failed' ? null : found
    return { settlement, reverted: null, refusal: 'unsupported_scheme', isReached: false, newestId }
  }

  const judge = (stream: Stream, findings: Findings): StreamCommand => {
    const { settlement, reverted, refusal, isReached, newestId } = findings
    if (settlement !== null) return judgeSettlement(stream, settlement, newestId)
    if (isReached) return nothingSent(stream)
    const now = clock.now()
    const processNow = processClock.now().getTime()
    // Attempts do not change `updatedAt`: it is the time of the close.
    const isUnsigned = refusal !== null && unsigned.has(refusal)
    const isAbandoned = isUnsigned && processNow >= stream.updatedAt.getTime() + unsignedForMs
    const isOver = isAbandoned || processNow >= stream.settlesUntil.getTime()
    const isPremature = !isOver && refusal !== null && isExpiry.has(refusal)
    const reason = reverted?.reason ?? (isPremature ? null : refusal)
    if (isOver) {
      return {
        kind: 'fail',
        reason: reason ?? stream.reason ?? 'authorization_expired_unsettled',
        settlementId: newestId,
      }
    }
    const isReverted = reverted !== null
    const attendAt = findPause(stream, now, isReverted)
    return { kind: 'retry', attendAt, reason, settlementId: newestId, isReverted }
  }

  const judgeSettlement = (
    stream: Stream,
    settlement: Settlement,
    newestId: string | null,
  ): StreamCommand => {
    const { id, state, fingerprint, transaction, amount, settledAmount, reason } = settlement
    // A claim pays for no delivery: it has settled the stream, whichever request asked for it.
    const isShared = hasSharedOutcome(settlement)
    const isOwn = isShared || fingerprint === streamNameOf(stream.id)
    switch (state) {
      case 'claimed':
      case 'pending': {
        const attendAt = findPause(stream, clock.now(), false)
        const settlementId = isOwn ? id : newestId
        return { kind: 'retry', attendAt, reason: null, settlementId, isReverted: false }
      }
      case 'failed':
        // It had succeeded, until its block was orphaned; its authorization settles nothing else.
        if (isShared) {
          const attendAt = findPause(stream, clock.now(), false)
          return { kind: 'retry', attendAt, reason, settlementId: newestId, isReverted: false }
        }
        return { kind: 'fail', reason: reason ?? 'duplicate_settlement', settlementId: newestId }
      case 'confirmed':
        return isOwn
          ? {
              kind: 'settled',
              settlementId: id,
              transaction: transaction ?? '',
              settledAmount: isShared ? (stream.finalAmount ?? 0n) : (settledAmount ?? amount),
            }
          : { kind: 'fail', reason: 'duplicate_settlement', settlementId: newestId }
    }
  }

  const findCommand = async (stream: Stream, stored: unknown): Promise<StreamCommand> => {
    const scheme = registry.find(stream.scheme, stream.network)
    if (scheme === null) return judge(stream, await examineUnserved(stream))
    const means = findMeans(scheme)
    const terms = means.toSettle(stream, stored)
    if (terms === null) return nothingSent(stream)
    const command = judge(stream, await examine(stream, terms))
    // Before the stream can end unpaid. Also what is only delayed: the payer may withdraw, which the care of channels looks for.
    if (command.kind === 'fail' || command.kind === 'retry') await means.keepOwed(stream)
    return command
  }

  return async (stream, stored) => {
    if (stream.finalAmount === null) return stream
    const recorded = getDecided(await change(stream, await findCommand(stream, stored)))
    if (recorded.state === 'closed') logger.info(describeStream(recorded), 'stream.closed')
    if (recorded.state === 'failed') {
      logger.warn(describeStream(recorded), 'stream.failed')
      await releaseHold(recorded)
    }
    return recorded
  }
}

const nothingSent = ({ finalAmount }: Stream): StreamCommand => ({
  kind: 'settled',
  settlementId: null,
  transaction: '',
  settledAmount: finalAmount ?? 0n,
})

/** The receiver has not signed the claim of a channel. Its voucher stays claimable, and the channel is free for others. */
const unsigned: ReadonlySet<Reason> = new Set([
  'invalid_batch_settlement_evm_authorizer_not_configured',
  'invalid_batch_settlement_evm_claim_authorizer_signature',
])

/** By the block time of the network, which can be wrong: they are repeated until the process's own time has come. */
const isExpiry: ReadonlySet<Reason> = new Set([
  'authorization_expired',
  'permit_expired',
  'permit2_deadline_expired',
])

/** Log fields; never the payload. */
const describeStream = ({ id, caller, network, payer, finalAmount, settlementId, reason }: Stream) => ({
  streamId: id,
  account: caller,
  network,
  payer,
  finalAmount: finalAmount?.toString() ?? null,
  settlementId,
  ...(reason === null ? {} : { reason }),
})

const findPause = ({ attempts, reverts, settlesUntil }: Stream, now: Date, isReverted: boolean): Date => {
  const grown =
    isReverted || reverts > 0
      ? Math.min(firstRevertPauseMs * revertPauseFactor ** reverts, maxRevertPauseMs)
      : Math.min(firstPauseMs * 2 ** Math.min(attempts, 10), maxPauseMs)
  const leftMs = settlesUntil.getTime() - now.getTime()
  return new Date(now.getTime() + Math.min(grown, Math.max(firstPauseMs, leftMs * maxPartOfTimeLeft)))
}
