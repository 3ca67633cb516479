import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import { type Instance, isAttended } from './instance.js'
import { createRecorder } from './recorder.js'
import { readSettlement, settlementColumns } from './settlementRow.js'

const isOpen = "state in ('claimed', 'pending')"

/** The journal in Postgres: every transition is one statement that names the state it leaves. */
export const createSettlementJournal = (pool: Pool, instance: Instance): SettlementJournal => {
  const select = async (where: string, values: readonly unknown[]): Promise<readonly Settlement[]> => {
    const { rows } = await pool.query(`select ${settlementColumns} from settlements s where ${where}`, [
      ...values,
    ])
    return rows.map(readSettlement)
  }
  const selectOne = async (where: string, values: readonly unknown[]): Promise<Settlement | null> =>
    (await select(where, values))[0] ?? null
  /** True when exactly this call changed the row. */
  const update = async (statement: string, values: readonly unknown[]): Promise<boolean> =>
    (await pool.query(statement, [...values])).rowCount === 1

  return {
    claim: async (claim) => {
      const { rows } = await pool.query(
        `insert into settlements as s (id, authorization_id, caller, fingerprint, scheme, network, asset, payer,
           pay_to, amount, resource, expires_at, state, owner)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'claimed', $13)
         on conflict (authorization_id) where state <> 'failed' do nothing
         returning ${settlementColumns}`,
        [
          randomUUID(),
          claim.authorizationId,
          claim.caller,
          claim.fingerprint,
          claim.scheme,
          claim.network,
          claim.asset,
          claim.payer,
          claim.payTo,
          claim.amount.toString(),
          // A stranger's words, and only for people to read.
          claim.resource?.replaceAll(nul, '') ?? null,
          toTimestamp(claim.expiresAt),
          instance.id,
        ],
      )
      return rows[0] === undefined ? null : readSettlement(rows[0])
    },

    findOpen: (authorizationId) =>
      selectOne("s.authorization_id = $1 and s.state <> 'failed'", [authorizationId]),
    find: async (id) => (idForm.test(id) ? await selectOne('s.id = $1', [id]) : null),
    // A caller may hold the hash of an earlier transaction than the one that settled the payment.
    listByTransaction: async (network, transaction) =>
      hasNul(network) || hasNul(transaction)
        ? []
        : await select(
            `s.id in (
               select id from settlements where network = $1 and transaction = $2
               union select settlement_id from broadcast_settlements where network = $1 and transaction = $2)
             order by s.created_at, s.id`,
            [network, transaction],
          ),

    recorderFor: (settlementId) => createRecorder({ pool, instance }, settlementId),

    close: (id, closing, consumer) =>
      update(
        `update settlements set state = $2, transaction = coalesce($3, transaction), reason = $4, consumed_by = $5,
           closed_at = now(), owner = null
         where id = $1 and ${isOpen}`,
        [
          id,
          closing.state,
          closing.transaction ?? null,
          closing.state === 'failed' ? closing.reason : null,
          closing.state === 'confirmed' ? (consumer ?? null) : null,
        ],
      ),

    abandon: (id) =>
      update(
        `update settlements set state = 'failed', reason = 'settlement_abandoned', closed_at = now(), owner = null
         where id = $1 and state = 'claimed' and (owner is null or owner = $2 or not ${isAttended('owner', 'created_at')})`,
        [id, instance.id],
      ),

    release: async (id) => {
      await pool.query(`update settlements set owner = null where id = $1 and owner = $2 and ${isOpen}`, [
        id,
        instance.id,
      ])
    },

    consume: (id, consumer) =>
      update(
        `update settlements set consumed_by = $2
         where id = $1 and state = 'confirmed' and (consumed_by is null or consumed_by = $2)`,
        [id, consumer],
      ),

    listUnattended: (limit) =>
      select(
        `s.state in ('claimed', 'pending') and (s.owner is null or not ${isAttended('s.owner', 's.created_at')})
         order by random() limit $1`,
        [limit],
      ),

    countByState: async () => {
      const { rows } = await pool.query<{ state: string; count: string }>(
        `select case state when 'claimed' then 'pending' else state end as state, count(*) as count
         from settlements group by 1`,
      )
      const counts = new Map(rows.map(({ state, count }) => [state, Number(count)]))
      return {
        pending: counts.get('pending') ?? 0,
        confirmed: counts.get('confirmed') ?? 0,
        failed: counts.get('failed') ?? 0,
      }
    },
  }
}

const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

// The one character that a text in Postgres cannot hold: a statement that carries it is refused.
const nul = '\0'
const hasNul = (text: string): boolean => text.includes(nul)

// Postgres ends at the year 294276; an authorization that never expires is as good as that.
const latestTimestamp = Date.UTC(9999, 0, 1)

const toTimestamp = (date: Date | null): Date | null =>
  date === null || date.getTime() > latestTimestamp ? null : date
