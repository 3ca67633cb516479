import type { Pool } from 'pg'
import type { Settlement, SettlementClaim } from '../../ports/settlementJournal.js'
import type { RunTogether } from './coalesce.js'
import type { Instance } from './instance.js'
import { readSettlement, settlementColumns } from './settlementRow.js'
import { withoutNul } from './text.js'

/** A claim, and the id that its row will have. */
export interface ClaimFor {
  readonly id: string
  readonly claim: SettlementClaim
}

/** A settlement, or null, for each of several. */
export interface Found {
  readonly settlement: Settlement | null
}

/** Opens rows for several claims; whoever comes second for an authorization gets none. */
export const claimSettlements =
  (pool: Pool, instance: Instance): RunTogether<ClaimFor, Found> =>
  async (rows) => {
    // In one order everywhere, so that two statements cannot wait for each other's authorizations.
    const ordered = rows.toSorted((left, right) =>
      left.claim.authorizationId < right.claim.authorizationId ? -1 : 1,
    )
    const column = <Value>(read: (row: (typeof rows)[number]) => Value): readonly Value[] => ordered.map(read)
    const { rows: opened } = await pool.query(
      `insert into settlements as s (id, authorization_id, caller, fingerprint, scheme, network, asset, payer,
         pay_to, amount, resource, expires_at, state, owner)
       select c.*, 'claimed', $13 from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
         $7::text[], $8::text[], $9::text[], $10::numeric[], $11::text[], $12::timestamptz[]) as c
       on conflict (authorization_id) where state <> 'failed' or consumed_by is not null do nothing
       returning ${settlementColumns}`,
      [
        column(({ id }) => id),
        column(({ claim }) => claim.authorizationId),
        column(({ claim }) => claim.caller),
        column(({ claim }) => claim.fingerprint),
        column(({ claim }) => claim.scheme),
        column(({ claim }) => claim.network),
        column(({ claim }) => claim.asset),
        column(({ claim }) => claim.payer),
        column(({ claim }) => claim.payTo),
        column(({ claim }) => claim.amount.toString()),
        // A stranger's words, and only for people to read.
        column(({ claim }) => (claim.resource === null ? null : withoutNul(claim.resource))),
        column(({ claim }) => toTimestamp(claim.expiresAt)),
        instance.id,
      ],
    )
    const byId = new Map(opened.map(readSettlement).map((settlement) => [settlement.id, settlement]))
    return rows.map(({ id }) => ({ settlement: byId.get(id) ?? null }))
  }

// Postgres ends at the year 294276; an authorization that never expires is as good as that.
const latestTimestamp = Date.UTC(9999, 0, 1)

const toTimestamp = (date: Date | null): Date | null =>
  date === null || date.getTime() > latestTimestamp ? null : date
