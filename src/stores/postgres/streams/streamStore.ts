import type { Pool } from 'pg'
import { z } from 'zod'
import type { Stream, StreamStore, StreamToSettle } from '../../../ports/streamStore.js'
import { streamStates } from '../../../protocol/streams.js'
import { coalesce } from '../database/coalesce.js'
import { uuidForm } from '../database/columnValues.js'
import { changeStreams } from './changeStreams.js'
import { openStream } from './openStream.js'
import { readStream, streamColumns } from './streamRow.js'

const withPayment = z.looseObject({ payment: z.unknown() })
const idRow = z.object({ id: z.string() })
const networkRow = z.object({ network: z.string() })
const openCount = z.object({
  network: z.string(),
  state: z.enum(streamStates),
  count: z.string().transform(Number),
  oldest_seconds: z.number(),
})

const readWithPayment = (value: unknown): StreamToSettle => ({
  stream: readStream(value),
  payment: withPayment.parse(value).payment,
})

/** Concurrent changes share transactions: one commit acknowledges many. */
export const createStreamStore = (pool: Pool): StreamStore => {
  const queues = { updates: coalesce(changeStreams(pool)), closes: coalesce(changeStreams(pool)) }

  const findWhere = async (condition: string, value: string): Promise<Stream | null> => {
    const { rows } = await pool.query(`select ${streamColumns} from streams s where ${condition}`, [value])
    return rows[0] === undefined ? null : readStream(rows[0])
  }

  return {
    open: openStream(pool),

    change: async (id, decide, queue = 'updates') =>
      uuidForm.test(id) ? await queues[queue]({ id, decide }) : decide(null),

    find: async (id) => (uuidForm.test(id) ? await findWhere('s.id = $1', id) : null),

    findOpen: (authorizationId) =>
      findWhere(`s.authorization_id = $1 and s.state in ('active', 'paused', 'closing')`, authorizationId),

    findPayment: async (id) => {
      const { rows } = await pool.query('select payment from stream_payments where stream_id = $1', [id])
      return rows[0] === undefined ? null : withPayment.parse(rows[0]).payment
    },

    list: async ({ caller, state, limit, after }) => {
      const { rows } = await pool.query(
        `select ${streamColumns} from streams s
         where s.caller = $1 ${state === null ? '' : 'and s.state = $4'}
           and ($3::uuid is null or (s.created_at, s.id)
             < (select c.created_at, c.id from streams c where c.id = $3 and c.caller = $1))
         order by s.created_at desc, s.id desc limit $2`,
        state === null ? [caller, limit, after] : [caller, limit, after, state],
      )
      return rows.map(readStream)
    },

    listDue: async (now, limit) => {
      const { rows } = await pool.query(
        `select id from streams where state in ('active', 'paused') and closes_at <= $1 order by closes_at limit $2`,
        [now, limit],
      )
      return rows.map((row) => idRow.parse(row).id)
    },

    listClosingNetworks: async (now) => {
      const { rows } = await pool.query(
        `select distinct network from streams where state = 'closing' and attend_at <= $1`,
        [now],
      )
      return rows.map((row) => networkRow.parse(row).network)
    },

    leaseClosing: async ({ network, now, leasedUntil, limit }) => {
      const { rows } = await pool.query(
        `with leased as (
           update streams set attend_at = $3 where id in (
             select id from streams where state = 'closing' and network = $1 and attend_at <= $2
             order by settles_until limit $4 for update skip locked)
           returning *)
         select ${streamColumns}, p.payment from leased s join stream_payments p on p.stream_id = s.id`,
        [network, now, leasedUntil, limit],
      )
      return rows.map(readWithPayment)
    },

    takeToCheck: async (before, now, limit) => {
      const { rows } = await pool.query(
        `with taken as (
           update streams set checked_at = $2 where id in (
             select id from streams where state in ('active', 'paused') and checked_at < $1
             order by checked_at limit $3 for update skip locked)
           returning *)
         select ${streamColumns}, p.payment from taken s join stream_payments p on p.stream_id = s.id`,
        [before, now, limit],
      )
      return rows.map(readWithPayment)
    },

    countOpen: async () => {
      // As the partial unique index has it, so that streams that have ended cost nothing.
      const { rows } = await pool.query(
        `select network, state, count(*) as count,
           extract(epoch from now() - min(updated_at))::float8 as oldest_seconds
         from streams where state in ('active', 'paused', 'closing') group by network, state`,
      )
      return rows.map((value) => {
        const { oldest_seconds: oldestSeconds, ...rest } = openCount.parse(value)
        return { ...rest, oldestSeconds }
      })
    },
  }
}
