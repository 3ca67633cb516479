import type { Pool } from 'pg'
import type { Closing } from '../../../ports/settlementJournal.js'
import type { RunBatch } from '../database/coalesce.js'
import { lockQuotas, quotasAreLocked, refundQuota } from '../quota/quotas.js'
import { insertSettlementEvents } from '../webhooks/webhookEvents.js'

interface CloseRequest {
  readonly id: string
  readonly closing: Closing
  readonly consumer: string | undefined
  readonly newest?: string | null | undefined
}

// Row locks in id order prevent deadlocks. A consumed row closes only for its consumer, or for the
// reconciler.
const close = ({
  quotaLock,
  isLocked,
  after,
}: Record<'quotaLock' | 'isLocked' | 'after', string>): string => `
  with closing as (
    select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::numeric[], $7::text[],
      $8::numeric[], $9::numeric[], $10::text[])
      as c (id, state, transaction, reason, consumer, block_number, block_hash, settled_amount, gas_used, newest)
  ), ${quotaLock} open as (
    select id from settlements
    where id = any($1) and state in ('claimed', 'pending') and ${isLocked} order by id for update
  ), closed as (
    update settlements s set state = c.state, transaction = coalesce(c.transaction, s.transaction),
      reason = c.reason, closed_at = now(), owner = null,
      consumed_by = coalesce(s.consumed_by, case when c.state = 'confirmed' then c.consumer end),
      block_number = c.block_number, block_hash = c.block_hash, gas_used = c.gas_used,
      settled_amount = case when c.state = 'confirmed' then coalesce(c.settled_amount, s.amount) end
    from closing c join open using (id)
    where s.id = c.id and (c.newest is null or s.transaction = c.newest) and (s.consumed_by is null or c.consumer is null
      or (c.state = 'confirmed' and s.consumed_by = c.consumer))
    returning s.*
  ) ${after}, events as (${insertSettlementEvents('closed', "'settlement.' || s.state")})
  select id from closed`

const closeWithoutRefund = close({ quotaLock: '', isLocked: 'true', after: '' })

const closeWithRefund = close({
  quotaLock: `${lockQuotas("select id from closing where state = 'failed'")},`,
  isLocked: quotasAreLocked,
  after: `, ${refundQuota}`,
})

/** Closes open rows; true for each that this call closed. */
export const closeSettlements =
  (pool: Pool): RunBatch<CloseRequest, boolean> =>
  async (requests) => {
    // If one row is closed several times, the first counts.
    const first = new Map(requests.toReversed().map((each) => [each.id, each]))
    const closings = [...first.values()]
    const mayFail = closings.some(({ closing }) => closing.state === 'failed')
    const { rows } = await pool.query<{ id: string }>(mayFail ? closeWithRefund : closeWithoutRefund, [
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
    const closed = new Set(rows.map(({ id }) => id))
    return requests.map((each) => first.get(each.id) === each && closed.has(each.id))
  }

const confirmedOf = (closing: Closing) => (closing.state === 'confirmed' ? closing : undefined)

const blockOf = (closing: Closing) => confirmedOf(closing)?.block
