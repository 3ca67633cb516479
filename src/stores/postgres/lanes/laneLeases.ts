import type { PoolClient } from 'pg'
import { type Instance, isAlive } from '../database/instance.js'

// Three renewal intervals.
const leaseLength = "interval '15 seconds'"

export interface LanesOfNetwork {
  readonly network: string
  readonly signers: readonly string[]
}

/** Renews our leases, takes those of dead holders, and releases what exceeds our share. */
export const leaseLanes = async (
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
