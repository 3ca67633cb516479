import type { Pool } from 'pg'
import { z } from 'zod'
import { AppError } from '../../../errors.js'
import type { Closing, Recorder, Settlement, SettlementJournal } from '../../../ports/settlementJournal.js'
import { secondsUntilNextMonth } from '../../../protocol/tiers.js'
import { coalesce, type RunBatch } from '../database/coalesce.js'
import { databaseUnavailable, mapDatabaseErrors } from '../database/databaseErrors.js'
import { type Instance, isOwned } from '../database/instance.js'
import { type PlannedStatement, planStatement } from '../database/plannedStatement.js'
import { maxCallMs } from '../database/pool.js'
import {
  createBackgroundRetries,
  hasNul,
  queryPlanned,
  timeOrderedUuid,
  uuidForm,
} from '../database/statements.js'
import { ensureQuotaRow, lockQuotas, quotasAreLocked, refundQuota } from '../quota/quotas.js'
import { insertSettlementEvents } from '../webhooks/webhookEvents.js'
import { claimSettlements, isRenewable } from './claimSettlements.js'
import { readSettlement, settlementColumns } from './settlementRow.js'
import { newestTransaction, takesAuthorization } from './settlementStates.js'
import { storeBroadcast } from './storeBroadcast.js'

const isOpen = "state in ('claimed', 'pending')"
// An array, because a join may be planned as a scan of the journal while the size of the small table is unknown.
const isListedOpen = 'id = any(array(select settlement_id from open_settlements))'

/** Every transition is one statement that names the state it leaves. */
export const createSettlementJournal = (pool: Pool, instance: Instance): SettlementJournal => {
  const select = async (where: string, values: readonly unknown[]): Promise<readonly Settlement[]> => {
    const { rows } = await pool.query(
      `/* find */ select ${settlementColumns} from settlements s where ${where}`,
      [...values],
    )
    return rows.map(readSettlement)
  }
  const selectOne = async (where: string, values: readonly unknown[]): Promise<Settlement | null> =>
    (await select(where, values))[0] ?? null
  const retryInBackground = createBackgroundRetries()
  const claimBatched = coalesce(claimSettlements(pool, instance), {
    onUncertain: ({ id }) => retryInBackground(() => release(id)),
  })
  const closeBatched = coalesce(closeSettlements(pool))
  const findOpenBatched = coalesce(async (ids: readonly string[]) => {
    const open = await select(`s.authorization_id = any($1) and ${takesAuthorization('s')}`, [ids])
    const byAuthorization = new Map(open.map((settlement) => [settlement.authorizationId, settlement]))
    return ids.map((id) => ({ settlement: byAuthorization.get(id) ?? null }))
  })
  const update = async (statement: string, values: readonly unknown[]): Promise<boolean> =>
    (await pool.query(statement, [...values])).rowCount === 1
  const release = async (id: string): Promise<void> => {
    await pool.query(
      // Inserts `settlement.pending` once, also when the previous owner died before it did.
      `with released as (
         update settlements set owner = null where id = $1 and owner = $2 and ${isOpen} returning *
       ), open as (
         select * from (
           select * from released
           union all select * from settlements where id = $1 and owner is distinct from $2
             and (owner is null or not ${isOwned('owner', 'created_at')})
         ) s where state = 'pending' and not exists (select 1 from webhook_deliveries
           where settlement_id = $1 and type in ('settlement.pending', 'settlement.reorged'))
       )
       ${insertSettlementEvents('open', "'settlement.pending'", { mayBePending: true })}`,
      [id, instance.id],
    )
  }
  /** When the write fails, releases ownership in the background. */
  const releaseOnFailure = async <T>(id: string, write: Promise<T>): Promise<T> => {
    try {
      return await write
    } catch (error) {
      retryInBackground(() => release(id))
      throw error
    }
  }

  const recorderFor = (settlementId: string): Recorder =>
    mapDatabaseErrors(createRecorder({ pool, instance }, settlementId))

  return {
    claim: async (claim, quota = null, hold = null) => {
      const endsAt = performance.now() + maxCallMs
      do {
        const id = timeOrderedUuid()
        const answer = await claimBatched({ id, claim, quota, hold })
        switch (answer.state) {
          case 'opened':
            return answer.settlement
          case 'duplicate':
          case 'held':
            return null
          case 'exhausted':
            throw new AppError('QUOTA_EXCEEDED', "This month's quota is used up", {
              ...(quota === null ? {} : { retryAfterSeconds: secondsUntilNextMonth(quota.at) }),
            })
          case 'uncounted':
            if (quota !== null) await ensureQuotaRow(pool, quota.customer ?? claim.caller, quota.at)
            break
          case 'undecided':
            break
        }
      } while (performance.now() < endsAt)
      throw databaseUnavailable()
    },

    findOpen: async (authorizationId) => (await findOpenBatched(authorizationId)).settlement,
    isConsumed: async (authorizationId) =>
      (
        await pool.query('select from consumed_authorizations where digest = digest_authorization($1)', [
          authorizationId,
        ])
      ).rowCount === 1,
    find: async (id) => (uuidForm.test(id) ? await selectOne('s.id = $1', [id]) : null),
    // Includes earlier broadcasts: a caller may know a transaction that was replaced.
    listByTransaction: async (network, transaction) =>
      hasNul(network) || hasNul(transaction)
        ? []
        : await select(
            `s.id in (
               select id from settlements where network = $1 and transaction = $2
               union select settlement_id from broadcast_settlements where network = $1 and transaction = $2)
             order by s.created_at, s.id`,
            [network, transaction],
          ),

    recorderFor,

    close: (id, closing, consumer, newest) =>
      releaseOnFailure(id, closeBatched({ id, closing, consumer, newest })),

    abandon: (id) =>
      releaseOnFailure(
        id,
        update(
          `/* close */ with ${lockQuotas('$1')}, open as (
             select id from settlements
             where id = $1 and state = 'claimed' and ${quotasAreLocked}
               and (owner is null or owner = $2 or not ${isOwned('owner', 'created_at')}) for update
           ), closed as (
             update settlements s
             set state = 'failed', reason = 'settlement_abandoned', closed_at = now(), owner = null
             from open where s.id = open.id
             returning s.*
           ), ${refundQuota}, events as (${insertSettlementEvents('closed', "'settlement.failed'")})
           select id from closed`,
          [id, instance.id],
        ),
      ),

    release: (id) => releaseOnFailure(id, release(id)),

    takeOver: async ({ id, transaction }) => {
      const isTaken = await releaseOnFailure(
        id,
        update(
          `update settlements s set owner = $2 where id = $1 and state = 'pending' and ${newestTransaction('s')} = $3
           and (owner is null or not ${isOwned('owner', 'created_at')})`,
          [id, instance.id, transaction],
        ),
      )
      return isTaken ? recorderFor(id) : null
    },

    consume: (id, consumer) =>
      update(
        `update settlements set consumed_by = $2
         where id = $1 and state = 'confirmed' and (consumed_by is null or consumed_by = $2)`,
        [id, consumer],
      ),

    listOrphaned: (limit) =>
      select(
        `s.${isListedOpen} and s.${isOpen}
         and (s.owner is null or not ${isOwned('s.owner', 's.created_at')}) order by random() limit $1`,
        [limit],
      ),
  }
}

interface RecorderDependencies {
  readonly pool: Pool
  readonly instance: Instance
}

const createRecorder = ({ pool, instance }: RecorderDependencies, settlementId: string): Recorder => ({
  settlementId,
  record: async (signed, write) => {
    if (write !== undefined) return await write()
    const broadcast = { signed, position: null, settlementIds: [settlementId] }
    const held = await storeBroadcast(pool, instance, broadcast)
    if (held.length === 0)
      throw new Error('The settlement was taken over by another instance: nothing is sent')
  },
})

interface CloseRequest {
  readonly id: string
  readonly closing: Closing
  readonly consumer: string | undefined
  readonly newest?: string | null | undefined
}

interface CloseSql {
  /** CTEs that come before, each with a comma. */
  readonly locks: string
  /** CTEs that name the rows to close. */
  readonly open: string
  /** Condition of row `s`, for what is not locked yet: Postgres checks it again after it has waited. */
  readonly isStillOpen: string
  readonly after: string
}

/** Row locks in id order prevent deadlocks. */
const lockOpen = (isLocked: string): string => `open as (
    select id from settlements
    where id = any($1) and ${isOpen} and ${isLocked} order by id for update
  )`
// One row can be in no circle of locks: the update itself waits for it, which logs no lock. It is found by its id: a join with
// `closing` would be planned as a scan of the journal while that is small, and the plan is kept while it grows.
const oneOpen = 'open as (select ($1::uuid[])[1] as id)'

// A consumed row closes only for its consumer, or for the reconciler. What has a shared outcome and fails is as if it had not
// been consumed: the same can be asked for again.
const close = ({ locks, open, isStillOpen, after }: CloseSql): string => `/* close */
  with closing as (
    select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::numeric[], $7::text[],
      $8::numeric[], $9::numeric[], $10::text[])
      as c (id, state, transaction, reason, consumer, block_number, block_hash, settled_amount, gas_used, newest)
  ), ${locks} ${open}, closed as (
    update settlements s set state = c.state, transaction = coalesce(c.transaction, ${newestTransaction('s')}),
      reason = c.reason, closed_at = now(), owner = null,
      consumed_by = case when c.state = 'failed' and ${isRenewable('s')} then null
        else coalesce(s.consumed_by, case when c.state = 'confirmed' then c.consumer end) end,
      block_number = c.block_number, block_hash = c.block_hash, gas_used = c.gas_used,
      settled_amount = case when c.state = 'confirmed' then coalesce(c.settled_amount, s.amount) end
    from closing c join open using (id)
    where s.id = c.id and ${isStillOpen} and (c.newest is null or ${newestTransaction('s')} = c.newest)
      and (s.consumed_by is null or c.consumer is null or (c.state = 'confirmed' and s.consumed_by = c.consumer))
    returning s.*
  ) ${after}, events as (${insertSettlementEvents('closed', "'settlement.' || s.state")})
  select id from closed`

const closeOne = planStatement(close({ locks: '', open: oneOpen, isStillOpen: `s.${isOpen}`, after: '' }))
const closeWithoutRefund = planStatement(
  close({ locks: '', open: lockOpen('true'), isStillOpen: 'true', after: '' }),
)

const closeWithRefund = planStatement(
  close({
    locks: `${lockQuotas("select id from closing where state = 'failed'")},`,
    open: lockOpen(quotasAreLocked),
    isStillOpen: 'true',
    after: `, ${refundQuota}`,
  }),
)

const statementFor = (closings: readonly CloseRequest[]): PlannedStatement => {
  if (closings.some(({ closing }) => closing.state === 'failed')) return closeWithRefund
  return closings.length === 1 ? closeOne : closeWithoutRefund
}

const closedRow = z.object({ id: z.string() })

/** Closes open rows; true for each that this call closed. */
export const closeSettlements =
  (pool: Pool): RunBatch<CloseRequest, boolean> =>
  async (requests) => {
    // If one row is closed several times, the first counts.
    const first = new Map(requests.toReversed().map((each) => [each.id, each]))
    const closings = [...first.values()]
    const rows = await queryPlanned(pool, statementFor(closings), [
      closings.map(({ id }) => id),
      closings.map(({ closing }) => closing.state),
      closings.map(({ closing }) => closing.transaction || null),
      closings.map(({ closing }) => (closing.state === 'failed' ? closing.reason : null)),
      closings.map(({ consumer }) => consumer ?? null),
      closings.map(({ closing }) => blockOf(closing)?.number.toString() ?? null),
      closings.map(({ closing }) => blockOf(closing)?.hash ?? null),
      closings.map(({ closing }) => confirmedOf(closing)?.settledAmount?.toString() ?? null),
      closings.map(({ closing }) => confirmedOf(closing)?.gasUsed?.toString() ?? null),
      closings.map(({ newest }) => newest ?? null),
    ])
    const closed = new Set(rows.map((row) => closedRow.parse(row).id))
    return requests.map((each) => first.get(each.id) === each && closed.has(each.id))
  }

const confirmedOf = (closing: Closing) => (closing.state === 'confirmed' ? closing : undefined)

const blockOf = (closing: Closing) => confirmedOf(closing)?.block
