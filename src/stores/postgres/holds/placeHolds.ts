import type { Pool } from 'pg'
import { createSlots } from '../../../concurrency/slots.js'
import type { FundsHold, HoldResult, Holds } from '../../../ports/holds.js'
import { coalesce, createKeyQueue } from '../database/coalesce.js'
import { isLockTimeout } from '../database/databaseErrors.js'
import { inOneMessage } from '../database/statements.js'
import {
  type Asked,
  type Columns,
  columnsOf,
  deleteEnded,
  isStorable,
  keyOf,
  keysOf,
  payerColumns,
  place,
  planned,
  preview,
  readPreview,
  readResults,
  waitForLocks,
} from './holdStatements.js'

// With as many live holds as a payer may have, a transaction reads 10,000 rows.
const maxHoldsTogether = 50
// Rows are locked for the time of a short statement; only a process that stalls keeps them.
const lockTimeoutMs = 250

/**
 * Decides holds of many payers in one transaction, which saves a commit for each. Those whose payer or authorization another
 * transaction decides at the moment wait for it alone.
 */
export const createPlaceHolds = (pool: Pool): Pick<Holds, 'place' | 'findObstacle'> => {
  // One decision of this process per payer: a flood for one payer leaves the connections, and the batches, to the others.
  const inTurn = createKeyQueue()

  const placeTogether = (isDurableLater: boolean) =>
    coalesce<Asked, HoldResult | 'busy'>(
      async (asked) => {
        const first = new Map(asked.toReversed().map((each) => [each.hold.authorizationId, each]))
        const distinct = asked.filter((each) => first.get(each.hold.authorizationId) === each)
        const results = await inOneMessage(
          pool,
          (_isAwaited, leftMs) => {
            const asks = columnsOf(distinct)
            return [
              planned.tryLocks.run(keysOf(distinct)),
              planned.deleteEnded.run(asks.slice(0, payerColumns)),
              planned.place.run([...asks, String(leftMs)]),
            ]
          },
          {
            endsAt: Math.min(...asked.map(({ endsAt }) => endsAt)),
            isDurableLater,
            lockTimeoutMs,
            planned: Object.values(planned),
          },
        ).then(
          (rows) => readResults(distinct, rows),
          (error: unknown) => {
            // Another transaction has a row of one of them: each waits alone for its own.
            if (isLockTimeout(error)) return distinct.map(() => 'busy' as const)
            throw error
          },
        )
        const byAsked = new Map(distinct.map((each, index) => [each, results[index]]))
        // The hold of the same authorization for another payer or asset is seen afterwards.
        return asked.map((each) => byAsked.get(each) ?? 'busy')
      },
      // Those that come meanwhile share the next commit.
      { maxInputs: maxHoldsTogether, maxInFlight: 1 },
    )
  const placeDurably = placeTogether(false)
  // The claim that follows makes it durable; nothing is answered or sent before that.
  const placeForClaim = placeTogether(true)

  // A transaction that stalls elsewhere keeps the locks of up to `maxHoldsTogether` payers: all that wait for one of them
  // leave half of the connections to others.
  const alone = createSlots(Math.max(1, Math.floor(pool.options.max / 2)))

  const decideAlone = async (
    asked: Asked,
    decision: (columns: Columns, isAwaited: string) => string,
  ): Promise<readonly unknown[]> => {
    const columns = columnsOf([asked])
    // One that waited here for too long begins no transaction.
    return await alone.run(new AbortController().signal, () =>
      inOneMessage(
        pool,
        (isAwaited) => [waitForLocks(asked.hold), deleteEnded(columns), decision(columns, isAwaited)],
        { endsAt: asked.endsAt, isDurableLater: isOfClaim(asked.hold) },
      ),
    )
  }

  return {
    place: (hold, funds) =>
      inTurn(keyOf(hold), async (endsAt) => {
        const asked = { hold, funds, endsAt }
        if (!isStorable(hold)) throw new Error('The text of a hold cannot be stored')
        const result = await (isOfClaim(hold) ? placeForClaim : placeDurably)(asked)
        if (result !== 'busy') return result
        const [own] = readResults([asked], await decideAlone(asked, place))
        if (own === undefined || own === 'busy') throw new Error('A hold was not decided')
        return own
      }),

    findObstacle: (hold, funds) =>
      inTurn(keyOf(hold), async (endsAt) => {
        const [row] = await decideAlone({ hold, funds, endsAt }, preview)
        return readPreview(row)
      }),
  }
}

const isOfClaim = ({ purpose }: FundsHold): boolean => purpose === 'settle'
