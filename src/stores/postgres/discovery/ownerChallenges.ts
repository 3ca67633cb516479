import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { OwnerChallenge, OwnerChallenges, SettlementRecord } from '../../../ports/discovery.js'
import { inTransaction, runInBatches, withoutNul } from '../database/statements.js'
import { writeStated } from './catalogueRow.js'

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
    runInBatches(pool, {
      text: `delete from discovery_challenges where ctid = any(array(
        select ctid from discovery_challenges
        where state = 'answered' and answered_at < $1
        order by answered_at limit $2 for update skip locked))`,
      values: [answeredBefore],
      stopped,
    }),
})

/**
 * Of one claimant at one resource; more at once are not recorded. Those of others cost no request, since one answer serves
 * all, and must not keep a shop from being asked.
 */
const maxWaiting = 8
/** It bounds one claimant, over all resources. */
const maxWaitingOfClaimant = 64

const challengeRow = z.object({
  challenge_is_own: z.boolean().nullable(),
  challenge_state: z.enum(['waiting', 'answered']).nullable(),
  challenge_recipients: z.array(z.object({ network: z.string(), payTo: z.string() })).nullable(),
  challenge_problem: z.string().nullable(),
  challenge_answered_at: z.date().nullable(),
})

const challengeFields = ['is_own', 'state', 'recipients', 'problem', 'answered_at']

/** Columns of `joinChallenge`. */
export const challengeColumns = challengeFields
  .map((column) => `c.${column} as challenge_${column}`)
  .join(', ')

/** To `discovery_resources r`; the arguments are placeholders. */
export const joinChallenge = (network: string, payTo: string): string => `left join lateral (
  select network = ${network} and pay_to = ${payTo} as is_own, state, recipients, problem, answered_at
  from discovery_challenges
  where resource_id = r.id and (state = 'answered' or (network = ${network} and pay_to = ${payTo}))
  order by state = 'waiting' desc, answered_at desc, network = ${network} and pay_to = ${payTo} desc
  limit 1) c on true`

/** Null: none is recorded. */
export const readChallenge = (value: unknown): OwnerChallenge | null => {
  const {
    challenge_is_own: isOwn,
    challenge_state: state,
    challenge_recipients: recipients,
    challenge_problem: problem,
    challenge_answered_at: answeredAt,
  } = challengeRow.parse(value)
  if (state === null || isOwn === null) return null
  return { isOwn, answer: answeredAt === null ? null : { recipients, problem, answeredAt } }
}

/** With the resource's row locked. */
export const recordChallenge = async (
  client: PoolClient,
  resourceId: string,
  { network, payTo, claimant, settledAt }: SettlementRecord,
  url: string,
): Promise<void> => {
  await client.query(
    `insert into discovery_challenges (resource_id, network, pay_to, url, host, claimant, state, due_at)
     select $1, $2, $3, $4, $5, $6, 'waiting', $7
     where (select count(*) from discovery_challenges
         where resource_id = $1 and claimant = $6 and state = 'waiting') < $8
       and (select count(*) from discovery_challenges where claimant = $6 and state = 'waiting') < $9
     on conflict (resource_id, network, pay_to) do update set url = excluded.url, host = excluded.host,
       claimant = excluded.claimant, state = 'waiting', due_at = excluded.due_at, recipients = null, problem = null,
       answered_at = null`,
    [
      resourceId,
      withoutNul(network),
      withoutNul(payTo),
      url,
      new URL(url).hostname,
      claimant,
      settledAt,
      maxWaiting,
      maxWaitingOfClaimant,
    ],
  )
}
