import type { Pool } from 'pg'
import type { Closing } from '../../../ports/settlementJournal.js'
import type { RunTogether } from '../database/coalesce.js'
import { lockQuotas, quotasAreLocked, refundQuota } from '../quota/quotaSql.js'
import { insertSettlementEvents } from '../webhooks/webhookEvents.js'

/** A row that is to be closed. */
export interface ClosingOf {
  readonly id: string
  readonly closing: Closing
  /** Who is about to be told. */
  readonly consumer: string | undefined
}

// Locked in one order, so that two statements over several rows cannot wait for each other. A row whose consumer was
// told success before may be closed for that one again, or by the reconciler.
const close = ({
  lockBefore,
  isLocked,
  after,
}: Record<'lockBefore' | 'isLocked' | 'after', string>): string => `
  with closing as (
    select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::numeric[], $7::text[],
      $8::numeric[], $9::numeric[])
      as c (id, state, transaction, reason, consumer, block_number, block_hash, settled_amount, gas_used)
  ), ${lockBefore} open as (
    select id from settlements
    where id = any($1) and state in ('claimed', 'pending') and ${isLocked} order by id for update
  ), closed as (
    update settlements s set state = c.state, transaction = coalesce(c.transaction, s.transaction),
      reason = c.reason, closed_at = now(), owner = null,
      consumed_by = coalesce(s.consumed_by, case when c.state = 'confirmed' then c.consumer end),
      block_number = c.block_number, block_hash = c.block_hash, gas_used = c.gas_used,
      settled_amount = case when c.state = 'confirmed' then coalesce(c.settled_amount, s.amount) end
    from closing c join open using (id)
    where s.id = c.id and (s.consumed_by is null or c.consumer is null
      or (c.state = 'confirmed' and s.consumed_by = c.consumer))
    returning s.*
  ) ${after}, told as (${insertSettlementEvents('closed', "'settlement.' || s.state")})
  select id from closed`

const closePlainly = close({ lockBefore: '', isLocked: 'true', after: '' })

const closeAndRefund = close({
  lockBefore: `${lockQuotas("select id from closing where state = 'failed'")},`,
  isLocked: quotasAreLocked,
  after: `, ${refundQuota}`,
})

/** Closes rows that are open, and answers for each whether this call did. */
export const closeSettlements =
  (pool: Pool): RunTogether<ClosingOf, boolean> =>
  async (asked) => {
    // A row that is closed twice in one moment is closed by the first.
    const first = new Map(asked.toReversed().map((each) => [each.id, each]))
    const closings = [...first.values()]
    const mayFail = closings.some(({ closing }) => closing.state === 'failed')
    const { rows } = await pool.query<{ id: string }>(mayFail ? closeAndRefund : closePlainly, [
      closings.map(({ id }) => id),
      closings.map(({ closing }) => closing.state),
      closings.map(({ closing }) => closing.transaction || null),
      closings.map(({ closing }) => (closing.state === 'failed' ? closing.reason : null)),
      closings.map(({ consumer }) => consumer ?? null),
      closings.map(({ closing }) => blockOf(closing)?.number.toString() ?? null),
      closings.map(({ closing }) => blockOf(closing)?.hash ?? null),
      closings.map(({ closing }) => confirmedOf(closing)?.settledAmount?.toString() ?? null),
      closings.map(({ closing }) => confirmedOf(closing)?.gasUsed?.toString() ?? null),
    ])
    const closed = new Set(rows.map(({ id }) => id))
    return asked.map((each) => first.get(each.id) === each && closed.has(each.id))
  }

const confirmedOf = (closing: Closing) => (closing.state === 'confirmed' ? closing : undefined)

const blockOf = (closing: Closing) => confirmedOf(closing)?.block
