import type { Pool } from 'pg'
import { z } from 'zod'
import type { OwnerChallenges } from '../../../ports/ownerChallenges.js'
import { purgeInBatches } from '../database/purgeInBatches.js'
import { withoutNul } from '../database/text.js'

const batchSize = 1_000

const dueRow = z.object({
  resource_id: z.string(),
  network: z.string(),
  pay_to: z.string(),
  url: z.string(),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH']),
})

export const createOwnerChallenges = (pool: Pool): OwnerChallenges => ({
  lease: async ({ now, leasedUntil, limit }) => {
    const { rows } = await pool.query(
      `update discovery_challenges set due_at = $2 where (resource_id, network, pay_to) in (
         select resource_id, network, pay_to from discovery_challenges c
         where state = 'waiting' and due_at <= $1 and not exists (
           select from discovery_challenges o where o.state = 'waiting' and o.host = c.host
             -- Older, or leased: a host gets one request at a time.
             and (o.due_at > $1
               or (o.due_at, o.resource_id, o.network, o.pay_to) < (c.due_at, c.resource_id, c.network, c.pay_to)))
         order by due_at limit $3 for update skip locked)
       returning resource_id, network, pay_to, url, method`,
      [now, leasedUntil, limit],
    )
    return rows
      .map((row) => dueRow.parse(row))
      .map(({ resource_id: resourceId, network, pay_to: payTo, url, method }) => ({
        resourceId,
        network,
        payTo,
        target: { url, method },
      }))
  },

  answer: async ({ resourceId, target }, { recipients, problem, answeredAt }) => {
    await pool.query(
      `update discovery_challenges set state = 'answered', recipients = $4, problem = $5, answered_at = $6
       where resource_id = $1 and url = $2 and method = $3 and state = 'waiting'`,
      [
        resourceId,
        target.url,
        target.method,
        recipients === null ? null : JSON.stringify(recipients),
        problem === null ? null : withoutNul(problem),
        answeredAt,
      ],
    )
  },

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
