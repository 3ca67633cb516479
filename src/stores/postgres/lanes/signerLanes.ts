import { escapeLiteral, type Pool, type PoolClient } from 'pg'
import { z } from 'zod'
import type { Lane } from '../../../ports/settlementJournal.js'
import type {
  LaneTransaction,
  RecordResult,
  SignerLanes,
  SignNumbered,
  UrgentShare,
} from '../../../ports/signerLanes.js'
import { nameLane } from '../database/heartbeat.js'
import { type Instance, isAlive, leaseAwakeMs } from '../database/instance.js'
import { inTransaction } from '../database/statements.js'
import { storeBroadcast } from '../journal/storeBroadcast.js'
import {
  createLaneQueue,
  fillNonceGap,
  maxSigningMs,
  replaceBroadcast,
  rewindNonce,
  signWithDeadline,
} from './changeLane.js'

const laneTransaction = z
  .object({
    transaction: z.string(),
    bytes: z.string(),
    nonce: z.coerce.number(),
    recorded_at: z.date(),
    replaced: z.array(z.string()),
    urgent_shares: z.array(z.object({ account: z.string(), share: z.number() })).nullable(),
  })
  .transform(
    ({ recorded_at: recordedAt, urgent_shares: urgentShares, ...rest }): LaneTransaction => ({
      ...rest,
      recordedAt,
      urgentShares: urgentShares ?? [],
    }),
  )

export const createSignerLanes = (pool: Pool, instance: Instance): SignerLanes => {
  const queue = createLaneQueue()
  /** Of each network: the last answer of the database, and for how many instances it divided the lanes. */
  const leases = new Map<string, { readonly signers: readonly string[]; readonly others: number }>()

  /** Null: something has changed, or our leases are to be renewed. */
  const findUnchanged = ({ network, signers }: LanesOfNetwork): readonly string[] | null => {
    const [leased, beat] = [leases.get(network), instance.heartbeat?.readLast()]
    if (leased === undefined || beat == null || beat.others !== leased.others) return null
    const isUnchanged = signers.every((signer) => {
      const expected = leased.signers.includes(signer) ? 'ours' : 'theirs'
      return beat.lanes.get(nameLane(network, signer))?.holder === expected
    })
    return isUnchanged ? leased.signers : null
  }

  const storeInLane = async (
    client: PoolClient,
    { lane, nonce, urgentShares }: AllocatedNonce,
    settlementIds: readonly string[],
    sign: SignNumbered,
  ): Promise<RecordResult> => {
    const signed = await signWithDeadline(sign, nonce)
    const held = await storeBroadcast(client, instance, {
      signed,
      position: { ...lane, nonce },
      settlementIds,
      urgentShares,
    })
    if (held.length === settlementIds.length) return { recorded: signed }
    throw new OwnershipLostError(settlementIds.filter((id) => !held.includes(id)))
  }

  return {
    advance: async ({ network, signer }, chainNonce) => {
      await pool.query(
        `insert into signer_lanes as lane (network, signer, next_nonce) values ($1, $2, $3)
         on conflict (network, signer) do update set next_nonce = greatest(lane.next_nonce, excluded.next_nonce)`,
        [network, signer, chainNonce],
      )
    },

    record: async (lane, recorders, sign, urgentShares = []) => {
      const ids = recorders.map(({ settlementId }) => settlementId)
      const answer = await queue(lane, () =>
        inTransaction(
          pool,
          (client, [row]) =>
            storeInLane(client, { lane, nonce: readNonce(lane, row), urgentShares }, ids, sign),
          { opening: allocateNonce(lane) },
        ),
      ).catch(readLost)
      if ('lost' in answer) return answer
      await Promise.all(recorders.map((recorder) => recorder.record(answer.recorded, isStored)))
      return answer
    },

    replace: (lane, replaced, sign) =>
      queue(lane, () =>
        inTransaction(pool, (client) => replaceBroadcast(client, instance, { lane, replaced, sign })),
      ),

    fillNonceGap: (lane, nonce, sign) =>
      queue(lane, () =>
        inTransaction(pool, (client) => fillNonceGap(client, instance, { lane, nonce, sign })),
      ),

    listFrom: async ({ network, signer }, nonce, limit) => {
      const { rows } = await pool.query(
        `select distinct on (b.nonce) b.transaction, b.bytes, b.nonce, b.recorded_at, b.urgent_shares, array(
           select o.transaction from broadcasts o
           where o.network = b.network and o.signer = b.signer and o.nonce = b.nonce
             and o.transaction <> b.transaction) as replaced
         from broadcasts b where b.network = $1 and b.signer = $2 and b.nonce >= $3
         order by b.nonce, b.recorded_at desc limit $4`,
        [network, signer, nonce, limit],
      )
      return rows.map((row) => laneTransaction.parse(row))
    },

    readNext: async ({ network, signer }) => {
      const { rows } = await pool.query<{ next_nonce: string }>(
        'select next_nonce from signer_lanes where network = $1 and signer = $2',
        [network, signer],
      )
      return Number(rows[0]?.next_nonce ?? 0)
    },

    rewindNonce: (lane, chainNonce, reach) =>
      queue(lane, () =>
        inTransaction(pool, (client) =>
          rewindNonce(client, instance, { lane, chainNonce, reach: reach ?? null }),
        ),
      ),

    lease: async (network, signers) => {
      const unchanged = findUnchanged({ network, signers })
      if (unchanged !== null) return unchanged
      await instance.heartbeat?.wake(leaseAwakeMs)
      const others = instance.heartbeat?.readLast()?.others
      const leased = await inTransaction(pool, (client) => leaseLanes(client, instance, { network, signers }))
      if (others === undefined) leases.delete(network)
      else leases.set(network, { signers: leased, others })
      return leased
    },

    peekNext: ({ network, signer }) =>
      instance.heartbeat?.readLast()?.lanes.get(nameLane(network, signer))?.nextNonce ?? null,
  }
}

interface AllocatedNonce {
  readonly lane: Lane
  readonly nonce: number
  readonly urgentShares: readonly UrgentShare[]
}

/** Rolls back the whole transaction when any of its settlements has another owner. */
class OwnershipLostError extends Error {
  readonly lost: readonly string[]

  constructor(lost: readonly string[]) {
    super('A settlement was taken over by another instance: nothing is sent')
    this.name = 'OwnershipLostError'
    this.lost = lost
  }
}

const readLost = (error: unknown): RecordResult => {
  if (error instanceof OwnershipLostError) return { lost: error.lost }
  throw error
}

// The transaction that stored the bytes has committed.
const isStored = async (): Promise<void> => {}

/** The row lock makes nonces gapless across instances. */
const allocateNonce = ({ network, signer }: Lane): string =>
  `update signer_lanes set next_nonce = next_nonce + 1
     where network = ${escapeLiteral(network)} and signer = ${escapeLiteral(signer)}
     returning next_nonce - 1 as nonce, set_config('idle_in_transaction_session_timeout', '${maxSigningMs}', true)`

const allocated = z.object({ nonce: z.coerce.number() }).optional()

const readNonce = ({ network, signer }: Lane, row: unknown): number => {
  const { nonce } = allocated.parse(row) ?? {}
  if (nonce === undefined) throw new Error(`The lane of ${signer} on ${network} is not open`)
  return nonce
}

// Three renewal intervals.
const leaseLength = "interval '15 seconds'"

interface LanesOfNetwork {
  readonly network: string
  readonly signers: readonly string[]
}

/** Renews our leases, takes those of dead holders, and releases what exceeds our share. */
const leaseLanes = async (
  client: PoolClient,
  instance: Instance,
  { network, signers }: LanesOfNetwork,
): Promise<readonly string[]> => {
  const { rows } = await client.query<{ signer: string }>(
    `with lanes as (
       select signer, holder, (holder is not null and lease_expires_at > now()
         and (holder = $3 or ${isAlive('holder')})) as is_held
       from signer_lanes where network = $1 and signer = any($2) order by signer for update
     ), share as (
       select ceil(cardinality($2::text[])::numeric / greatest(1, (
         select count(*) from instances i where i.seen_at > now() - interval '10 seconds'))) as size
     ), ranked as (
       -- Keeps current lanes first, so that leases stay put.
       select signer, row_number() over (order by (is_held and holder = $3) desc, signer) as rank
       from lanes where not is_held or holder = $3
     ), ours as (
       select signer from ranked, share where rank <= size
     )
     update signer_lanes l set
       holder = case when l.signer in (select signer from ours) then $3::uuid end,
       lease_expires_at = case when l.signer in (select signer from ours) then now() + ${leaseLength} end
     where l.network = $1 and l.signer in (select signer from ranked)
     returning case when holder is not null then signer end as signer`,
    [network, signers, instance.id],
  )
  return rows.flatMap(({ signer }) => (signer === null ? [] : [signer])).sort()
}
