import type { Pool } from 'pg'
import { z } from 'zod'
import type { EventFeed, FeedEvent } from '../../../ports/webhookOutbox.js'
import { inTransaction } from '../database/statements.js'
import { deliveryColumns, readDelivery } from './webhookEvents.js'

const maxSkipped = 20_000

const lastRow = z.object({ last: z.coerce.bigint() })
const positionRow = z.looseObject({ position: z.coerce.bigint() })
const unnumberedRow = z.object({ exists: z.boolean() })

// Rows that a delivery attempt has locked get a later number: waiting for them could deadlock.
const number = `
  with fresh as (
    select id, row_number() over (order by created_at, id) as place from (
      select id, created_at from webhook_deliveries where account_id = $1 and position is null
      order by created_at, id limit $2 for update skip locked) unnumbered
  ), numbered as (
    update webhook_deliveries d set position = $3 + fresh.place from fresh where d.id = fresh.id
    returning d.position
  )
  update event_counters set last = coalesce((select max(position) from numbered), last)
  where account_id = $1 returning last`

/** `views` must not be a replica: it could lag behind a number that was already read. */
export const createEventFeed = (pool: Pool, views: Pool = pool): EventFeed => {
  const select = async (accountId: string, after: bigint, limit: number): Promise<readonly FeedEvent[]> => {
    const { rows } = await views.query(
      `select ${deliveryColumns}, d.position from webhook_deliveries d
       where d.account_id = $1 and d.position > $2 order by d.position limit $3`,
      [accountId, after.toString(), limit],
    )
    return rows.map((row) => ({ ...readDelivery(row), position: positionRow.parse(row).position }))
  }
  const hasUnnumbered = async (accountId: string): Promise<boolean> => {
    const { rows } = await views.query(
      'select exists (select from webhook_deliveries where account_id = $1 and position is null)',
      [accountId],
    )
    return unnumberedRow.parse(rows[0]).exists
  }
  /** The lock of the counter is held until the commit: numbers become visible in order. */
  const numberNext = (accountId: string, limit: number): Promise<bigint> =>
    inTransaction(pool, async (client) => {
      const { rows: locked } = await client.query(
        `insert into event_counters (account_id) values ($1)
         on conflict (account_id) do update set account_id = excluded.account_id returning last`,
        [accountId],
      )
      const { last } = lastRow.parse(locked[0])
      const { rows } = await client.query(number, [accountId, limit, last.toString()])
      return lastRow.parse(rows[0]).last
    })
  const findLast = async (accountId: string): Promise<bigint> => {
    const { rows } = await views.query('select last from event_counters where account_id = $1', [accountId])
    return rows[0] === undefined ? 0n : lastRow.parse(rows[0]).last
  }

  return {
    read: async (accountId, { after, limit }) => {
      // Before the page is read: what another reader numbers meanwhile is then on it.
      if (await hasUnnumbered(accountId)) await numberNext(accountId, limit)
      const found = await select(accountId, after, limit)
      const isUnknown = found.length === 0 && after > 0n && after > (await findLast(accountId))
      return isUnknown ? null : found
    },
    skip: async (accountId) => {
      const position = await numberNext(accountId, maxSkipped)
      return { position, isEnd: !(await hasUnnumbered(accountId)) }
    },
  }
}
