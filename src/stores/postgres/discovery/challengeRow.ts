import type { PoolClient } from 'pg'
import { z } from 'zod'
import type { OwnerChallenge, SettlementRecord } from '../../../ports/discovery.js'
import { withoutNul } from '../database/columnValues.js'

/**
 * Of one claimant at one resource; more at once are not recorded. Those of others cost no request, since one answer serves
 * all, and must not keep a shop from being asked.
 */
const maxWaiting = 8
/** It bounds one claimant, over all resources. */
const maxWaitingOfClaimant = 64

const row = z.object({
  challenge_is_own: z.boolean().nullable(),
  challenge_state: z.enum(['waiting', 'answered']).nullable(),
  challenge_recipients: z.array(z.object({ network: z.string(), payTo: z.string() })).nullable(),
  challenge_problem: z.string().nullable(),
  challenge_answered_at: z.date().nullable(),
})

const columns = ['is_own', 'state', 'recipients', 'problem', 'answered_at']

/** Columns of `joinChallenge`. */
export const challengeColumns = columns.map((column) => `c.${column} as challenge_${column}`).join(', ')

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
  } = row.parse(value)
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
