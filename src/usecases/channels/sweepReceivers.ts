import { createWorkerPool } from '../../concurrency/workerPool.js'
import { createFailureLog } from '../../failureLog.js'
import type { ChannelLedger, UnsweptReceiver } from '../../ports/channelLedger.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { SettleResult } from '../../protocol/results.js'
import { fingerprintJson } from '../core/idempotency/fingerprint.js'
import type { SettleAuthorization } from '../core/settle/settleAuthorization.js'
import { type CaredNetwork, takeTurns } from './claimable.js'

interface SweepDependencies {
  readonly ledger: Pick<ChannelLedger, 'listUnswept' | 'passOver' | 'endShares' | 'markSwept'>
  readonly settleAuthorization: SettleAuthorization
  readonly clock: Clock
  readonly logger: Logger
}

// Of one network and round: 5,000 receivers.
const pagesPerRound = 50
const sweepsAtOnce = 8
/** Then none is begun: the next round begins with the first one of each account again. */
const patienceMs = 60_000
/** Before, a node that is behind can answer that nothing is owed, or a reorg has undone the claim for a while. */
const trustAfterMs = 600_000

/** Pays receivers what was claimed for them, once it is enough or has waited for long. */
export const createSweepReceivers = ({
  ledger,
  settleAuthorization,
  clock,
  logger,
}: SweepDependencies): ((network: CaredNetwork, stopped: AbortSignal) => Promise<void>) => {
  const failures = createFailureLog({
    logger,
    level: 'error',
    event: 'channel.sweep_failed',
    recovered: 'channel.sweep_recovered',
    now: () => clock.now().getTime(),
  })
  const cursors = new Map<string, UnsweptReceiver>()

  const sweep = async ({ network, care }: CaredNetwork, receiver: UnsweptReceiver): Promise<SettleResult> => {
    const { accountId, ...terms } = receiver
    const payment = care.writeSweep({ receiver: terms.receiver, token: terms.token })
    return await settleAuthorization({
      payment,
      caller: accountId,
      quota: null,
      requester: { name: `channels of ${accountId}`, site: null },
      // A sweep has no identity of its own: it joins one that is under way.
      fingerprint: fingerprintJson({ network, ...payment.proof }),
      consumer: `channels ${network} ${terms.receiver} ${terms.token}`,
      isBodyBound: true,
    })
  }

  /** Limits of one account must not keep the receiver from what others are owed: the next round asks another one. */
  const sweepOrPassOver = async (cared: CaredNetwork, receiver: UnsweptReceiver): Promise<SettleResult> => {
    try {
      return await sweep(cared, receiver)
    } catch (error) {
      await ledger.passOver(receiver, clock.now())
      throw error
    }
  }

  /** Those of one page that are to be paid now. Throws where no node answers what they are owed. */
  const listDue = async (
    { network, care }: CaredNetwork,
    receivers: readonly UnsweptReceiver[],
  ): Promise<readonly UnsweptReceiver[]> => {
    const { sweepAmount, sweepAfterMs } = care.rules
    const amounts = await care.readUnswept(receivers)
    if (amounts === null) throw new Error(`No node of ${network} answers what receivers are owed`)
    const due: UnsweptReceiver[] = []
    for (const [index, receiver] of receivers.entries()) {
      const amount = amounts[index] ?? 0n
      const ageMs = clock.now().getTime() - receiver.unsweptSince.getTime()
      if (amount === 0n) {
        if (ageMs >= trustAfterMs) await ledger.markSwept(receiver)
      } else if (amount >= sweepAmount || ageMs >= sweepAfterMs) due.push(receiver)
    }
    return due
  }

  const sweepAll = async (
    cared: CaredNetwork,
    due: readonly UnsweptReceiver[],
    stopped: AbortSignal,
  ): Promise<void> => {
    const { network } = cared
    const endsAtMs = clock.now().getTime() + patienceMs
    let [hasPaid, hasFailed] = [false, false]
    const report = ({ receiver }: UnsweptReceiver, problem: object): void => {
      hasFailed = true
      failures.failed(network, { network, receiver, ...problem })
    }
    const pool = createWorkerPool<UnsweptReceiver>({
      concurrency: sweepsAtOnce,
      keyOf: ({ accountId }) => accountId,
      maxFailuresPerKey: 3,
      stopped,
      onFailure: (receiver, error) => report(receiver, { error }),
    })
    const reached = new Set<UnsweptReceiver>()
    await pool.run(due, async (receiver) => {
      reached.add(receiver)
      if (clock.now().getTime() >= endsAtMs) return
      const answer = await sweepOrPassOver(cared, receiver)
      const { success, settlementId, status, errorReason, errorMessage } = answer
      if (success) {
        hasPaid = true
        if (settlementId !== undefined) await ledger.endShares(receiver, settlementId)
      }
      // Another sweep paid it meanwhile, or the outcome is open. A token can block a receiver, beside which others are paid.
      const isExpected =
        status === 'pending' || errorReason === 'invalid_batch_settlement_evm_nothing_to_settle'
      if (!success && !isExpected) report(receiver, { reason: errorReason, message: errorMessage })
    })
    // Its account has failed too often in this round.
    for (const receiver of stopped.aborted ? [] : due.filter((each) => !reached.has(each))) {
      await ledger.passOver(receiver, clock.now())
    }
    if (hasPaid && !hasFailed) failures.succeeded(network)
  }

  return async (cared, stopped) => {
    const { network, care } = cared
    const { sweepAmount, sweepAfterMs } = care.rules
    const due: UnsweptReceiver[] = []
    let unread: unknown = null
    for (let pages = 0; pages < pagesPerRound && unread === null && !stopped.aborted; pages++) {
      const receivers = await ledger.listUnswept(network, {
        limit: care.maxRows,
        after: cursors.get(network) ?? null,
        dueAmount: sweepAmount,
        dueBefore: new Date(clock.now().getTime() - sweepAfterMs),
      })
      const last = receivers.at(-1)
      if (last === undefined || receivers.length < care.maxRows) cursors.delete(network)
      else cursors.set(network, last)
      if (receivers.length === 0) break
      try {
        due.push(...(await listDue(cared, receivers)))
      } catch (error) {
        unread = error
      }
      if (!cursors.has(network)) break
    }
    // Many receivers of one account must not keep those of others waiting.
    await sweepAll(
      cared,
      takeTurns(due, ({ accountId }) => accountId),
      stopped,
    )
    if (unread !== null) throw unread
  }
}
