import { createWorkerPool } from '../../concurrency/workerPool.js'
import { AppError } from '../../errors.js'
import { nameLines } from '../../failureLog.js'
import type { AccountStore } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { HeldPayment, HeldPayments, OpenHolds, UnfinishedCapture } from '../../ports/heldPayments.js'
import type { Job } from '../../ports/job.js'
import type { Logger } from '../../ports/logger.js'
import { canonicalNetwork } from '../../protocol/network.js'
import type { Tiers } from '../../protocol/tiers.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { SettleAuthorization } from '../core/settle/settleAuthorization.js'
import { readPage } from '../readPage.js'
import { createActOnDeadlines, deadlineRoundEveryMs } from './actOnDeadlines.js'
import { createMoveHold } from './moveHold.js'
import { createObserveHold, type ObserveHold, viewDetails, viewHeldPayment } from './observeHold.js'
import type { CaptureUseCases } from './useCases.js'

interface CapturesDependencies {
  readonly store: HeldPayments
  readonly accounts: Pick<AccountStore, 'find'>
  readonly tiers: Tiers
  readonly registry: SchemeRegistry
  readonly settleAuthorization: SettleAuthorization
  readonly gauges: { setOpenHolds(open: readonly OpenHolds[]): void }
  /** How long before its capture deadline the account of a hold is warned. */
  readonly warnedBeforeMs: number
  /** How long before it what the account asked for is done at the latest. */
  readonly actsBeforeMs: number
  /** How long a settlement waits for its outcome at most. */
  readonly waitMs: number
  /** Limits a look at the chain; default: 5 s. */
  readonly readDeadlineMs?: number
  readonly clock: Clock
  readonly logger: Logger
}

interface Captures {
  readonly useCases: CaptureUseCases
  readonly jobs: Readonly<
    Record<'watchHolds' | 'actOnDeadlines' | 'purgeHoldMoves' | 'measureOpenHolds', Job>
  >
  /** Waits for what a job left under way. */
  close(): Promise<void>
}

export const createCaptures = (dependencies: CapturesDependencies): Captures => {
  const { store, gauges, clock } = dependencies
  const observe = createObserveHold(dependencies)
  const getOwn = async (query: Parameters<CaptureUseCases['getHeldPayment']>[0]): Promise<HeldPayment> => {
    const payment = { network: canonicalNetwork(query.network), hash: query.paymentInfoHash }
    const held = await store.find(query.accountId, payment)
    if (held === null) throw new AppError('NOT_FOUND', 'The account has no such payment')
    return held
  }
  const moveHold = createMoveHold({ ...dependencies, getOwn, observe })
  const deadlines = createActOnDeadlines({
    ...dependencies,
    observe,
    moveHold,
    logger: nameLines(dependencies.logger, { job: 'actOnDeadlines' }),
  })
  return {
    useCases: {
      moveHold,
      setAtDeadline: async ({ atDeadline, ...query }) => {
        const held = await getOwn(query)
        const result = await store.setAtDeadline(held.id, atDeadline, clock.now())
        if (result !== 'set') throw cannotSet[result]()
        return viewDetails(await observe(await getOwn(query)))
      },
      setDefault: async (accountId, atDeadline) => {
        await store.setDefault(accountId, atDeadline)
        return { atDeadline }
      },
      getDefault: async (accountId) => ({ atDeadline: await store.findDefault(accountId) }),
      getHeldPayment: async (query) => viewDetails(await observe(await getOwn(query))),
      listHeldPayments: async ({ accountId, status = null, limit, cursor = null }) => {
        const { items, next } = await readPage(
          limit,
          (count) => store.list({ accountId, status, before: cursor, limit: count }),
          ({ id }) => id,
        )
        return { payments: items.map(viewHeldPayment), ...next }
      },
    },
    jobs: {
      watchHolds: {
        everyMs: 15_000,
        isShared: true,
        needs: 'holds',
        run: createWatchHolds({
          ...dependencies,
          observe,
          moveHold,
          logger: nameLines(dependencies.logger, { job: 'watchHolds' }),
        }),
      },
      actOnDeadlines: { everyMs: deadlineRoundEveryMs, isShared: true, needs: 'holds', run: deadlines.run },
      purgeHoldMoves: { everyMs: 3_600_000, isShared: true, run: store.purgeMoves },
      measureOpenHolds: {
        everyMs: 30_000,
        needs: 'holds',
        run: async () => gauges.setOpenHolds(await store.countOpen()),
      },
    },
    close: deadlines.close,
  }
}

const cannotSet = {
  begun: () =>
    new AppError('REQUEST_IN_PROGRESS', 'What is done at the deadline has begun', { retryAfterSeconds: 30 }),
  over: () => new AppError('INVALID_REQUEST', 'The capture deadline has passed, or nothing is held any more'),
} as const

const [batchSize, atOnce, maxFailures] = [100, 4, 5]

/**
 * Warns before deadlines, notices what payers take back, and returns what is left of a capture whose request did not live to.
 * Bounded: the next round continues.
 */
const createWatchHolds =
  ({
    store,
    clock,
    logger,
    observe,
    moveHold,
  }: Pick<CapturesDependencies, 'store' | 'clock' | 'logger'> & {
    readonly observe: ObserveHold
    readonly moveHold: CaptureUseCases['moveHold']
  }): Job['run'] =>
  async (stopped) => {
    const pool = createWorkerPool<HeldPayment>({
      concurrency: atOnce,
      keyOf: ({ network }) => network,
      maxFailuresPerKey: maxFailures,
      stopped,
      onFailure: ({ network, hash, accountId: account }, error) => {
        logger.warn({ account, network, paymentInfoHash: hash, error }, 'hold.unread')
      },
    })
    /** The request again, under its key. A failure counts for no other hold. */
    const finish = async ({ network, hash, accountId }: HeldPayment, { key, move }: UnfinishedCapture) => {
      const { amount, fee, feeReceiver, voidsRemainder } = move
      try {
        await moveHold({
          accountId,
          network,
          paymentInfoHash: hash,
          // Its account asked once: the void is not counted.
          quota: null,
          idempotencyKey: key,
          asked: { type: 'capture', amount, fee, feeReceiver, voidsRemainder },
        })
      } catch (error) {
        logger.error({ account: accountId, network, paymentInfoHash: hash, error }, 'hold.void_failed')
      }
    }
    await pool.run(await store.listDue(clock.now(), batchSize), async (held) => {
      const { unfinished } = await observe(held)
      if (unfinished !== null) await finish(held, unfinished)
    })
  }
