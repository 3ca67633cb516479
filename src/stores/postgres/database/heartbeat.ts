import { z } from 'zod'

/** What a heartbeat read, in the snapshot in which it was written. */
export interface Beat {
  /** `performance.now()` before it was sent: what committed later may be missing. */
  readonly sentAt: number
  /** Other instances with a recent heartbeat, and how many of them come before this one in the order of ids. */
  readonly others: number
  readonly before: number
  /** The database's time in milliseconds, at most as late as the answer. */
  readonly databaseMs: number
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

/** How often an instance beats that has something to do, in milliseconds. */
export const heartbeatMs = 2_000
// Within so many heartbeats of a working instance, each resting one looks once whether the others live.
const maxTurns = 8

const countTurns = ({ others }: Beat): number => Math.min(Math.max(1, others), maxTurns)

/**
 * How long an instance that holds nothing may go without a heartbeat: the more instances there are, the longer, because they
 * take turns in watching the holders of leases. Null: what it holds must be taken over soon after its death.
 */
export const findRestMs = (beat: Beat): number | null => {
  const isHolder =
    [...beat.jobs.values()].includes('ours') ||
    [...beat.lanes.values()].some(({ holder }) => holder === 'ours')
  return isHolder || beat.hasOpenSettlements ? null : heartbeatMs * countTurns(beat)
}

/** Says whether it is the turn of a resting instance, by the clock of the database, which all have in common. */
export const isTurn = (beat: Beat, nowMs: number): boolean => {
  const turns = countTurns(beat)
  return Math.floor((beat.databaseMs + nowMs - beat.sentAt) / heartbeatMs) % turns === beat.before % turns
}

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
 * renew and for how many milliseconds, $7: milliseconds for which it will rest, so that it counts as alive meanwhile.
 */
export const heartbeatText = `
  with written as (
    insert into instances (id, is_sandbox, is_admitted, newest_migration, seen_at)
    values ($1, $2, $3, $4, now() + $7 * interval '1 millisecond')
    on conflict (id) do update set seen_at = excluded.seen_at, is_admitted = excluded.is_admitted
  ), renewed as (
    update job_leases l set expires_at = now() + kept.ms * interval '1 millisecond'
    from unnest($5::text[], $6::float8[]) as kept (job, ms)
    where l.job = kept.job and l.holder = $1 and l.expires_at > now() and l.expires_at < now() + ${renewedBefore}
  )
  select alive.others, alive.before, extract(epoch from now())::float8 * 1000 as database_ms,
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
    exists (select from open_settlements) as has_open
  from (
    select count(*)::int as others, (count(*) filter (where id < $1))::int as before
    from instances where id <> $1 and seen_at > now() - interval '10 seconds') as alive`

const rows = z.tuple([
  z.object({
    others: z.number(),
    before: z.number(),
    database_ms: z.number(),
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
  const [{ others, before, database_ms: databaseMs, jobs, lanes, pauses, has_open: hasOpenSettlements }] =
    rows.parse(result)
  return {
    sentAt,
    others,
    before,
    databaseMs,
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
