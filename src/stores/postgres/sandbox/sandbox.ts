import type { Pool } from 'pg'
import { z } from 'zod'
import { shareOfFree } from '../../../concurrency/slots.js'
import type { SandboxInbox, SandboxInboxes, SandboxScenarioStore, Scenario } from '../../../ports/sandbox.js'
import { readReason } from '../../../protocol/reasons.js'
import { purgeExpired } from '../database/statements.js'

const failure = z
  .string()
  .nullable()
  .transform((text) => readReason(text))

const row = z
  .object({
    id: z.string(),
    network: z.string(),
    payer: z.string(),
    script: z.object({
      verifyRefusal: failure,
      settle: z.object({ failure, pendingSeconds: z.number() }),
      reorg: z.object({ afterBlocks: z.number(), failure }).nullable(),
    }),
    clock_ms: z.coerce.number(),
    created_at: z.date(),
    expires_at: z.date(),
  })
  .transform(
    ({ clock_ms, created_at, expires_at, ...rest }): Scenario => ({
      ...rest,
      clockMs: clock_ms,
      createdAt: created_at,
      expiresAt: expires_at,
    }),
  )

const dueRow = z.object({ due_in: z.string().nullable() })

const liveRow = z.object({ live: z.coerce.number() })
const countLive = 'select count(*) as live from sandbox_scenarios where expires_at > now()'

const columns = 'id, network, payer, script, clock_ms, created_at, expires_at'

/** `maximum`: live scenarios of all callers; each holder may have an eighth of what is free. */
export const createSandboxScenarios = (pool: Pool, maximum: number): SandboxScenarioStore => {
  const findOne = async (sql: string, values: readonly unknown[]): Promise<Scenario | null> => {
    const { rows } = await pool.query(sql, [...values])
    return rows.length === 0 ? null : row.parse(rows[0])
  }
  return {
    create: async ({ network, payer, script, expiresAt, holders }) => {
      const created = await findOne(
        `insert into sandbox_scenarios (network, payer, script, expires_at, holders)
         select $1, $2, $3, $4, $6::text[] from (${countLive}) counted
         where live < $5 and not exists (
           select from sandbox_scenarios, unnest(holders) holder
           where expires_at > now() and holder = any($6::text[])
           group by holder having count(*) * ${shareOfFree} >= $5 - live)
         returning ${columns}`,
        [network, payer, JSON.stringify(script), expiresAt, maximum, holders],
      )
      if (created !== null) return created
      const { rows } = await pool.query(countLive)
      return liveRow.parse(rows[0]).live < maximum ? 'share' : 'full'
    },
    findByPayer: (network, payer) =>
      findOne(
        `select ${columns} from sandbox_scenarios where network = $1 and payer = $2 and expires_at > now()`,
        [network, payer],
      ),
    find: (id) =>
      findOne(`select ${columns} from sandbox_scenarios where id = $1 and expires_at > now()`, [id]),
    advance: (id, milliseconds) =>
      findOne(
        `with advanced as (
           update sandbox_scenarios set clock_ms = clock_ms + $2::bigint where id = $1 and expires_at > now()
           returning ${columns}),
         due as (
           update webhook_deliveries d set due_at = d.due_at - $2::bigint * interval '1 millisecond'
           from advanced a, settlements s
           where d.settlement_id = s.id and d.state = 'waiting' and d.lease is null
             and s.network = a.network and s.payer = a.payer)
         select ${columns} from advanced`,
        [id, milliseconds],
      ),
    findNextDueMs: async (id) => {
      const { rows } = await pool.query(
        `select ceil(extract(epoch from min(d.due_at) - now()) * 1000) as due_in
         from webhook_deliveries d join settlements s on s.id = d.settlement_id
           join sandbox_scenarios c on c.network = s.network and c.payer = s.payer
         where d.state = 'waiting' and d.lease is null and c.id = $1`,
        [id],
      )
      const { due_in: dueInMs } = dueRow.parse(rows[0])
      return dueInMs === null ? null : Math.max(0, Number(dueInMs))
    },
    purge: (stopped) => purgeExpired(pool, 'sandbox_scenarios', { stopped }),
  }
}

const keptMessages = 100

const inboxRow = z.object({ id: z.string(), failures_left: z.number(), expires_at: z.date() }).transform(
  ({ id, failures_left, expires_at }): SandboxInbox => ({
    id,
    failuresLeft: failures_left,
    expiresAt: expires_at,
  }),
)

const messageRow = z
  .object({
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    status: z.number(),
    received_at: z.date(),
  })
  .transform(({ received_at, ...rest }) => ({ ...rest, receivedAt: received_at }))

const statusRow = z.object({ status: z.number() })

export const createSandboxInboxes = (pool: Pool): SandboxInboxes => ({
  create: async ({ failures, expiresAt }) => {
    const { rows } = await pool.query(
      `insert into sandbox_inboxes (failures_left, expires_at) values ($1, $2)
       returning id, failures_left, expires_at`,
      [failures, expiresAt],
    )
    return inboxRow.parse(rows[0])
  },

  find: async (id) => {
    const { rows } = await pool.query(
      'select id, failures_left, expires_at from sandbox_inboxes where id = $1 and expires_at > now()',
      [id],
    )
    return rows.length === 0 ? null : inboxRow.parse(rows[0])
  },

  listMessages: async (id) => {
    const { rows } = await pool.query(
      `select headers, body, status, received_at from sandbox_messages where inbox_id = $1
       order by position desc limit ${keptMessages}`,
      [id],
    )
    return rows.map((each) => messageRow.parse(each))
  },

  receive: async (id, { headers, body }) => {
    const { rows } = await pool.query(
      `with inbox as (
         select id, failures_left from sandbox_inboxes where id = $1 and expires_at > now() for update),
       counted as (
         update sandbox_inboxes i set failures_left = greatest(i.failures_left - 1, 0) from inbox where i.id = inbox.id),
       trimmed as (
         delete from sandbox_messages m using inbox where m.inbox_id = inbox.id and m.position in (
           select position from sandbox_messages where inbox_id = $1 order by position desc offset ${keptMessages - 1}))
       insert into sandbox_messages (inbox_id, headers, body, status)
       select id, $2, $3, case when failures_left > 0 then 500 else 200 end from inbox
       returning status`,
      [id, JSON.stringify(headers), body],
    )
    return rows.length === 0 ? null : statusRow.parse(rows[0]).status
  },

  purge: (stopped) => purgeExpired(pool, 'sandbox_inboxes', { stopped }),
})
