import { toChunks } from '../../concurrency/microBatcher.js'
import { createFailureLog } from '../../failureLog.js'
import type { ChannelLedger } from '../../ports/channelLedger.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
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
 * After each failure in a row the watch rests for this much longer: a query that its endpoint refuses or limits takes the endpoint
 * out of use for payments too. As long as a look at each channel takes at most.
 */
const restMs = 15_000
const longestRestMs = 300_000
/** Blocks this close to the last one that was read are read again: a reorg replaces them, and a node that is behind lacks them. */
const overlap = 64n
/** Of these blocks; they come last, so that many announcements there do not delay what is new. */
const maxOverlapQueries = 8

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

    const read = async (
      { from, to }: { readonly from: bigint; readonly to: bigint },
      {
        queries,
        onRead,
      }: { readonly queries: number; readonly onRead: (nextBlock: bigint) => Promise<void> },
    ): Promise<void> => {
      let next = from
      for (let query = 0; query < queries && next <= to && !isOver(); query++) {
        const announced = await care.listAnnounced({ from: next, to })
        if (announced === null) continue
        if (!(await lookAt(announced.channelIds))) return
        next = announced.nextBlock
        await onRead(next)
      }
    }

    try {
      const head = await care.readHead()
      if (head === null) return
      // A node that is behind, or one that was far ahead, must not decide where the next round begins.
      const from = known === null || known > head ? head + 1n : known
      const oldest = from > overlap ? from - overlap : 0n
      if (known === null || known > head) await ledger.moveWatch(network, from)
      // One query is enough, unless much was announced or the last round is long ago.
      const whole = await care.listAnnounced({ from: oldest, to: head })
      if (whole !== null && whole.nextBlock > head) {
        if (await lookAt(whole.channelIds)) await ledger.moveWatch(network, head + 1n)
        onSuccess(network)
        return
      }
      await read(
        { from, to: head },
        { queries: maxQueries, onRead: (nextBlock) => ledger.moveWatch(network, nextBlock) },
      )
      await read(
        { from: oldest, to: from - 1n },
        { queries: maxOverlapQueries, onRead: async () => undefined },
      )
      onSuccess(network)
    } catch (error) {
      // The channels are looked at one by one all the same.
      onFailure(network, error)
    }
  }
}
