import { z } from 'zod'

/** What a heartbeat read, in the snapshot in which it was written. */
export interface Beat {
  /** `performance.now()` before it was sent: what committed later may be missing. */
  readonly sentAt: number
  /** Other instances with a recent heartbeat. */
  readonly others: number
  /** Jobs and lanes whose holder is certain: this instance, or another one that has missed no heartbeat. */
  readonly jobs: ReadonlyMap<string, Holder>
  readonly lanes: ReadonlyMap<string, LeasedLane>
  /** Rows of `operator_pauses`, oldest first. */
  readonly pauses: readonly unknown[]
  readonly hasOpenSettlements: boolean
}

type Holder = 'ours' | 'theirs'

interface LeasedLane {
  /** Null: uncertain, or to be leased again. */
  readonly holder: Holder | null
  readonly nextNonce: number
}

export const nameLane = (network: string, signer: string): string => `${network} ${signer}`

// One that misses a heartbeat may be dead. Its lease is taken no earlier than ten seconds after its last one, by who asks then.
const isFresh = "i.seen_at > now() - interval '5 seconds'"

// Renewed while that long is left, so that it outlasts heartbeats that fail.
const renewedBefore = "interval '10 seconds'"
// A holder leases its lanes again itself, two rounds before the lease expires at the latest.
const leasedAgainBefore = "interval '8 seconds'"

const listOf = (columns: string, from: string): string =>
  `(select coalesce(json_agg(json_build_object(${columns})), '[]') from ${from})`

/**
 * One statement, because each instance sends it every two seconds. $1: instance, $2 to $4: its columns, $5 and $6: jobs to
 * renew and for how many milliseconds.
 */
export const heartbeatText = `
  with written as (
    insert into instances (id, is_sandbox, is_admitted, newest_migration) values ($1, $2, $3, $4)
    on conflict (id) do update set seen_at = now(), is_admitted = excluded.is_admitted
  ), renewed as (
    update job_leases l set expires_at = now() + kept.ms * interval '1 millisecond'
    from unnest($5::text[], $6::float8[]) as kept (job, ms)
    where l.job = kept.job and l.holder = $1 and l.expires_at > now() and l.expires_at < now() + ${renewedBefore}
  )
  select (
      select count(*)::int from instances others
      where others.id <> $1 and others.seen_at > now() - interval '10 seconds') as others,
    ${listOf(
      "'job', l.job, 'isOurs', l.holder = $1",
      `job_leases l left join instances i on i.id = l.holder
       where l.expires_at > now() and (l.holder = $1 or ${isFresh})`,
    )} as jobs,
    ${listOf(
      `'network', l.network, 'signer', l.signer, 'nextNonce', l.next_nonce, 'isOurs', case
         when l.holder = $1 and l.lease_expires_at > now() + ${leasedAgainBefore} then true
         when l.holder <> $1 and l.lease_expires_at > now() and ${isFresh} then false end`,
      'signer_lanes l left join instances i on i.id = l.holder',
    )} as lanes,
    (select coalesce(json_agg(p order by p.since, p.kind), '[]') from operator_pauses p) as pauses,
    exists (select from open_settlements) as has_open`

const rows = z.tuple([
  z.object({
    others: z.number(),
    jobs: z.array(z.object({ job: z.string(), isOurs: z.boolean() })),
    lanes: z.array(
      z.object({
        network: z.string(),
        signer: z.string(),
        nextNonce: z.coerce.number(),
        isOurs: z.boolean().nullable(),
      }),
    ),
    pauses: z.array(z.unknown()),
    has_open: z.boolean(),
  }),
])

const holderOf = (isOurs: boolean): Holder => (isOurs ? 'ours' : 'theirs')

export const readBeat = (result: readonly unknown[], sentAt: number): Beat => {
  const [{ others, jobs, lanes, pauses, has_open: hasOpenSettlements }] = rows.parse(result)
  return {
    sentAt,
    others,
    jobs: new Map(jobs.map(({ job, isOurs }) => [job, holderOf(isOurs)])),
    lanes: new Map(
      lanes.map(({ network, signer, nextNonce, isOurs }) => [
        nameLane(network, signer),
        { holder: isOurs === null ? null : holderOf(isOurs), nextNonce },
      ]),
    ),
    pauses,
    hasOpenSettlements,
  }
}
