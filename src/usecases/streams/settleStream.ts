import { createFailureLog } from '../../failureLog.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import type { Stream, StreamStore } from '../../ports/streamStore.js'
import { type Reason, readReason, reasons } from '../../protocol/reasons.js'
import type { SettleAuthorization } from '../core/settleAuthorization.js'
import { decideHere, getDecided } from './control.js'
import type { StreamCommand } from './decide.js'
import { holderOf } from './holder.js'
import { readStreamPayment } from './readStreamPayment.js'
import type { ReleaseHold } from './releaseHold.js'

export interface SettleStreamDependencies {
  readonly store: Pick<StreamStore, 'change'>
  readonly journal: Pick<SettlementJournal, 'findOpen'>
  readonly settleAuthorization: SettleAuthorization
  readonly releaseHold: ReleaseHold
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Settles the final amount of a closing stream once, or finds out what became of an earlier attempt, and records it.
 * The journal decides: an attempt that ends without an answer changes nothing. Throws only if the database is down.
 */
export type SettleStream = (stream: Stream, payment: unknown) => Promise<Stream>

const firstPauseMs = 2_000
const maxPauseMs = 60_000

/** A dead authorization is refused this often before the stream fails: a node may lag behind the chain. */
const refusalsUntilFinal = 3

export const createSettleStream = ({
  store,
  journal,
  settleAuthorization,
  releaseHold,
  clock,
  logger,
}: SettleStreamDependencies): SettleStream => {
  const failures = createFailureLog({
    logger,
    event: 'stream.settle_failed',
    recovered: 'stream.settle_recovered',
    now: () => clock.now().getTime(),
  })

  /** Null: nothing was sent, or the outcome is not known; the journal knows. */
  const attempt = async (stream: Stream, finalAmount: bigint, stored: unknown): Promise<Reason | null> => {
    try {
      const holder = holderOf(stream.id)
      const result = await settleAuthorization({
        payment: readStreamPayment(stored, finalAmount),
        caller: stream.caller,
        // Counted, never refused: the quota was checked when the stream was opened.
        quota:
          stream.quota === null
            ? null
            : {
                accountId: stream.caller,
                holder: stream.quota.holder,
                tier: { monthlyQuota: -1, feeRate: stream.quota.feeRate },
              },
        // The same for every attempt: each joins what an earlier one began.
        fingerprint: holder,
        consumer: holder,
        holder,
        holdUntil: stream.settlesUntil,
        isAdmitted: true,
        // The account's own `/settle` of the payment must not share this success.
        isBodyBound: true,
      })
      failures.succeeded(stream.network)
      return result.success ? null : readReason(result.errorReason ?? null)
    } catch (error) {
      failures.failed(stream.network, { streamId: stream.id, network: stream.network, error })
      return null
    }
  }

  const judge = (stream: Stream, settlement: Settlement | null, refusal: Reason | null): StreamCommand => {
    if (settlement !== null) return judgeSettlement(stream, settlement)
    const now = clock.now()
    if (now.getTime() >= stream.settlesUntil.getTime()) {
      return { kind: 'fail', reason: refusal ?? stream.reason ?? 'authorization_expired_unsettled' }
    }
    const isDead = refusal !== null && reasons[refusal].remedy === 'new_payment'
    if (isDead && refusal === stream.reason && stream.attempts + 1 >= refusalsUntilFinal) {
      return { kind: 'fail', reason: refusal }
    }
    return { kind: 'retry', attendAt: findPause(stream, now), reason: refusal, settlementId: null }
  }

  const judgeSettlement = (stream: Stream, settlement: Settlement): StreamCommand => {
    const { id, state, fingerprint, transaction, amount, settledAmount } = settlement
    const isOwn = fingerprint === holderOf(stream.id)
    if (state !== 'confirmed') {
      const settlementId = isOwn ? id : null
      return { kind: 'retry', attendAt: findPause(stream, clock.now()), reason: null, settlementId }
    }
    if (!isOwn) return { kind: 'fail', reason: 'duplicate_settlement' }
    return {
      kind: 'settled',
      settlementId: id,
      transaction: transaction ?? '',
      settledAmount: settledAmount ?? amount,
    }
  }

  return async (stream, stored) => {
    const { finalAmount } = stream
    if (finalAmount === null) return stream
    const known = await journal.findOpen(stream.authorizationId)
    // Sent before: the reconciler closes it. A settlement that no process owns is abandoned or resolved by it, too.
    const isUnderWay = known !== null && !known.isOwned && known.state === 'pending'
    const refusal = isUnderWay ? null : await attempt(stream, finalAmount, stored)
    const settlement = isUnderWay ? known : await journal.findOpen(stream.authorizationId)
    const command = judge(stream, settlement, refusal)
    const recorded = getDecided(await store.change(stream.id, decideHere(command, clock.now())))
    if (recorded.state === 'closed') logger.info(describeStream(recorded), 'stream.closed')
    if (recorded.state === 'failed') {
      logger.warn(describeStream(recorded), 'stream.failed')
      await releaseHold(recorded)
    }
    return recorded
  }
}

/** Log fields; never the payload. */
const describeStream = ({ id, network, payer, finalAmount, settlementId, reason }: Stream) => ({
  streamId: id,
  network,
  payer,
  finalAmount: finalAmount?.toString() ?? null,
  settlementId,
  ...(reason === null ? {} : { reason }),
})

const findPause = ({ attempts }: Stream, now: Date): Date =>
  new Date(now.getTime() + Math.min(firstPauseMs * 2 ** Math.min(attempts, 10), maxPauseMs))

/** Whether a reason says that the funds, or the authorization, are gone. */
export const endangersFunds = (reason: Reason): boolean => {
  const { remedy } = reasons[reason]
  return remedy === 'fund_payer' || remedy === 'new_payment' || isWithdrawn.has(reason)
}

const isWithdrawn: ReadonlySet<Reason> = new Set(['permit2_allowance_required', 'account_blocked'])
