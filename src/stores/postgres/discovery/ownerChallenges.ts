import type { Pool } from 'pg'
import { z } from 'zod'
import type { OwnerChallenges } from '../../../ports/discovery.js'
import { withoutNul } from '../database/columnValues.js'
import { purgeInBatches } from '../database/purgeExpired.js'
import { inTransaction } from '../database/transaction.js'
import { writeStated } from './catalogueRow.js'

const batchSize = 1_000

const dueRow = z.object({
  resource_id: z.string(),
  network: z.string(),
  pay_to: z.string(),
  url: z.string(),
  key_url: z.string(),
  tool_name: z.string(),
})

export const createOwnerChallenges = (pool: Pool): OwnerChallenges => ({
  lease: async ({ now, leasedUntil, limit }) => {
    const { rows } = await pool.query(
      `with head as (
         -- Of each host that of the claimant whose turn there was longest ago.
         select distinct on (c.host) c.resource_id, c.network, c.pay_to, c.claimant, c.due_at
         from discovery_challenges c
         left join lateral (
           select max(a.answered_at) as served_at from discovery_challenges a
           where a.state = 'answered' and a.host = c.host and a.claimant = c.claimant) served on true
         where c.state = 'waiting' and c.due_at <= $1 and not exists (
           -- Leased: a host gets one request at a time.
           select from discovery_challenges o where o.state = 'waiting' and o.host = c.host and o.due_at > $1)
         order by c.host, served.served_at nulls first, c.due_at, c.resource_id, c.network, c.pay_to
       ), due as (
         select resource_id, network, pay_to, due_at,
           row_number() over (partition by claimant order by due_at, resource_id, network, pay_to) as turn
         from head
       ), chosen as (
         select c.resource_id, c.network, c.pay_to
         from due join discovery_challenges c using (resource_id, network, pay_to)
         where c.state = 'waiting' and c.due_at <= $1
         order by due.turn, due.due_at limit $3 for update of c skip locked
       )
       update discovery_challenges c set due_at = $2 from chosen, discovery_resources r
       where c.resource_id = chosen.resource_id and c.network = chosen.network and c.pay_to = chosen.pay_to
         and r.id = c.resource_id
       returning c.resource_id, c.network, c.pay_to, c.url, r.url as key_url, r.tool_name`,
      [now, leasedUntil, limit],
    )
    return rows
      .map((row) => dueRow.parse(row))
      .map(
        ({ resource_id: resourceId, network, pay_to: payTo, url, key_url: keyUrl, tool_name: toolName }) => ({
          resourceId,
          network,
          payTo,
          url,
          key: { url: keyUrl, toolName },
        }),
      )
  },

  answer: ({ resourceId, url }, { recipients, problem, answeredAt, stated }) =>
    inTransaction(pool, async (client) => {
      // Before its challenges, as a settlement that is being recorded locks them: the other order would deadlock.
      await client.query('select from discovery_resources where id = $1 for update', [resourceId])
      const { rowCount } = await client.query(
        `update discovery_challenges set state = 'answered', recipients = $3, problem = $4, answered_at = $5
         where resource_id = $1 and url = $2 and state = 'waiting'`,
        [
          resourceId,
          url,
          recipients === null ? null : JSON.stringify(recipients),
          problem === null ? null : withoutNul(problem),
          answeredAt,
        ],
      )
      if (rowCount === 0 || stated === null) return
      await client.query('update discovery_resources set stated = $2 where id = $1', [
        resourceId,
        writeStated(stated),
      ])
    }),

  purge: (answeredBefore, stopped) =>
    purgeInBatches(stopped, async () => {
      const { rowCount } = await pool.query(
        `delete from discovery_challenges where (resource_id, network, pay_to) in (
           select resource_id, network, pay_to from discovery_challenges
           where state = 'answered' and answered_at < $1
           order by answered_at limit $2 for update skip locked)`,
        [answeredBefore, batchSize],
      )
      return rowCount === batchSize
    }),
})
