import type { Pool } from 'pg'
import { z } from 'zod'
import type { SandboxInbox, SandboxInboxes } from '../../../ports/sandbox.js'
import { purgeExpired } from '../database/purgeExpired.js'

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
