import { toChunks } from '../../concurrency/microBatcher.js'
import { createFailureLog } from '../../failureLog.js'
import type { ChannelLedger } from '../../ports/channelLedger.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import { larger } from '../../protocol/amount.js'
import { type CaredNetwork, takeTurns } from './claimable.js'

/*
 * Looking at each channel takes longer the more there are. What their payers announce is in the chain's log, whose length depends
 * on what was announced since the last round alone.
 */

interface WatchDependencies {
  readonly ledger: Pick<ChannelLedger, 'moveWatch' | 'listUnnoticed'>
  readonly clock: Clock
  readonly logger: Logger
}

interface Watched extends CaredNetwork {
  /** As `ChannelLedger.findWatch` gives it. */
  readonly nextBlock: bigint | null
  /** False: what the chain knows of these channels is not stored, and they are to be named again. */
  readonly look: (channelIds: readonly string[]) => Promise<boolean>
  readonly stopped: AbortSignal
}

/** Of one network and round; the next one goes on from there. */
const watchMs = 20_000
const maxQueries = 100
/**
 * After each failure in a row the watch rests for this much longer: payments use the same endpoints, and their limits. As long as a
 * look at each channel takes at most.
 */
const restMs = 15_000
const longestRestMs = 300_000
/**
 * Blocks that were read are read again for so long, in turn by each endpoint: a reorg replaces them, and the node that answered may
 * have lacked them. The shortest delay of a withdrawal is 900 s.
 */
const overlapSeconds = 300
/** Of these blocks, or as many as new blocks took: then each is read once more before it leaves them. */
const overlapQueries = 8

export const createWatchWithdrawals = ({
  ledger,
  clock,
  logger,
}: WatchDependencies): ((watched: Watched) => Promise<void>) => {
  const now = () => clock.now().getTime()
  const failures = createFailureLog({
    logger,
    event: 'channel.watch_failed',
    recovered: 'channel.watch_recovered',
    now,
  })

  /** Rounds of each network so far: endpoints take turns. */
  const turns = new Map<string, number>()
  const resting = new Map<string, { readonly failures: number; readonly untilMs: number }>()

  const onSuccess = (network: string): void => {
    resting.delete(network)
    failures.succeeded(network)
  }

  const onFailure = (network: string, error: unknown): void => {
    const count = (resting.get(network)?.failures ?? 0) + 1
    // The next round may come at once after the first one.
    const untilMs = now() + Math.min((count - 1) * restMs, longestRestMs)
    resting.set(network, { failures: count, untilMs })
    failures.failed(network, { network, error })
  }

  return async ({ network, care, nextBlock: known, look, stopped }) => {
    if (now() < (resting.get(network)?.untilMs ?? 0)) return
    const endsAtMs = now() + watchMs
    const isOver = () => now() >= endsAtMs || stopped.aborted

    /** False: the round is over before all of them were looked at. Those of others, which cost nothing but a lookup, are left out. */
    const lookAt = async (channelIds: readonly string[]): Promise<boolean> => {
      const unnoticed = await ledger.listUnnoticed(network, channelIds)
      const inTurn = takeTurns(unnoticed, ({ accountId }) => accountId)
      for (const page of toChunks(inTurn, care.maxRows)) {
        if (isOver() || !(await look(page.map(({ channelId }) => channelId)))) return false
      }
      return true
    }

    /** How many queries it took. */
    const read = async (
      { from, to, turn }: { readonly from: bigint; readonly to: bigint; readonly turn: number },
      {
        queries,
        onRead,
      }: { readonly queries: number; readonly onRead: (nextBlock: bigint) => Promise<void> },
    ): Promise<number> => {
      let next = from
      let query = 0
      for (; query < queries && next <= to && !isOver(); query++) {
        const announced = await care.listAnnounced({ from: next, to, turn })
        if (announced === null) continue
        // No node has the next block yet.
        if (announced.nextBlock <= next || !(await lookAt(announced.channelIds))) break
        next = announced.nextBlock
        await onRead(next)
      }
      return query
    }

    try {
      const head = await care.readHead(overlapSeconds)
      if (head === null) return
      const to = head.number
      // A node that is behind, or one that was far ahead, must not decide where the next round begins.
      const from = known === null || known > to ? to + 1n : known
      const oldest = from > head.recent ? from - head.recent : 0n
      if (known === null || known > to) await ledger.moveWatch(network, from)
      const turn = (turns.get(network) ?? -1) + 1
      turns.set(network, turn)
      const onRead = (nextBlock: bigint) => ledger.moveWatch(network, nextBlock)

      // One query is enough, unless much was announced or the last round is long ago. What it reaches is not asked for again.
      const first = await care.listAnnounced({ from: oldest, to, turn })
      const reached = first?.nextBlock ?? oldest
      if (first !== null && reached >= from) {
        if (!(await lookAt(first.channelIds))) return onSuccess(network)
        if (reached > from) await onRead(reached)
      }
      const queries = await read(
        { from: larger(from, reached), to, turn: 0 },
        { queries: maxQueries, onRead },
      )
      // Blocks that were read before come last, so that many announcements there do not delay what is new.
      if (reached < from && (first === null || (await lookAt(first.channelIds)))) {
        const limits = { queries: Math.max(overlapQueries, queries), onRead: async () => undefined }
        await read({ from: reached, to: from - 1n, turn: 1 }, limits)
      }
      onSuccess(network)
    } catch (error) {
      // The channels are looked at one by one all the same.
      onFailure(network, error)
    }
  }
}
