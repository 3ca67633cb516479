import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { FoundAccount, OperatorAction, OperatorRecords } from '../../../ports/operatorRecords.js'
import type { JsonObject } from '../../../protocol/fields.js'
import { resolveTierName, specificationTiers, type Tiers } from '../../../protocol/tiers.js'
import { hasNul, withoutNul } from '../database/statements.js'

/** Call it in the transaction of the change, where there is one. */
export const insertAction = async (
  client: Pick<PoolClient, 'query'>,
  { action, target, by, address, before, after }: Omit<OperatorAction, 'id' | 'createdAt'>,
): Promise<void> => {
  await client.query(
    `insert into operator_actions (action, target, actor, address, before, after) values ($1, $2, $3, $4, $5, $6)`,
    [
      action,
      JSON.stringify(target),
      by === null ? null : withoutNul(by),
      address,
      toJson(before),
      toJson(after),
    ],
  )
}

const toJson = (value: JsonObject | null): string | null => (value === null ? null : JSON.stringify(value))

const object = z.record(z.string(), z.json())

const actionRow = z
  .object({
    id: z.string(),
    created_at: z.date(),
    action: z.string(),
    target: object,
    actor: z.string().nullable(),
    address: z.string().nullable(),
    before: object.nullable(),
    after: object.nullable(),
  })
  .transform(({ created_at: createdAt, actor: by, ...rest }): OperatorAction => ({ ...rest, createdAt, by }))

const retention = "interval '90 days'"

// The cursor is an id of either table: a Date would lose microseconds.
const cursor = `($1::uuid is null or (created_at, id) < (
  coalesce((select created_at from operator_actions where id = $1),
    (select created_at from audit_log where id = $1 and actor = 'operator')), $1))`

/** Each table is read by its own index, and what both yield is merged. */
const listActions = `
  select * from (
    (select id, created_at, action, target, actor, address, before, after from operator_actions
     where ${cursor} and created_at > now() - ${retention} order by created_at desc, id desc limit $2)
    union all
    (select id, created_at, action, jsonb_build_object('kind', 'account', 'accountId', account_id) as target,
       null as actor, address,
       case action when 'tier.changed' then jsonb_build_object('tier', details -> 'from')
         when 'account.revoked' then '{"status": "active"}'::jsonb end as before,
       case action when 'tier.changed' then jsonb_build_object('tier', details -> 'to')
         when 'account.revoked' then '{"status": "revoked"}'::jsonb else details end as after
     from audit_log
     where actor = 'operator' and ${cursor} and created_at > now() - ${retention}
     order by created_at desc, id desc limit $2)
  ) actions order by created_at desc, id desc limit $2`

const accountRow = z.object({
  id: z.string(),
  email: z.string(),
  project: z.string(),
  tier: z.string(),
  status: z.enum(['active', 'revoked']),
  created_at: z.date(),
  last_used_at: z.date().nullable(),
  keys: z.number(),
})

const foundColumns = `a.id, a.email, a.project, a.tier, a.status, a.created_at,
  (select max(k.last_used_at) from api_keys k where k.account_id = a.id) as last_used_at,
  (select count(*)::int from api_keys k where k.account_id = a.id and k.status in ('active', 'retiring')) as keys`

// As in the unique index, which serves the search and its order.
const folded = 'lower(a.email collate "C")'

/** The last code point: whatever begins with the prefix sorts before the prefix and this. */
const last = '\u{10FFFF}'

const accountOf = z.object({ account_id: z.string() })

/** `reads`: searches must not delay payments. */
export const createOperatorRecords = (
  pool: Pool,
  reads: Pool,
  tiers: Tiers = specificationTiers,
): OperatorRecords => {
  const readFound = (value: unknown): FoundAccount => {
    const { created_at: createdAt, last_used_at: lastUsedAt, tier, ...rest } = accountRow.parse(value)
    return { ...rest, tier: resolveTierName(tiers, tier), createdAt, lastUsedAt }
  }
  return {
    recordAction: (action) => insertAction(pool, action),

    listActions: async ({ limit, before }) => {
      const { rows } = await reads.query(listActions, [before ?? null, limit])
      return rows.map((value) => actionRow.parse(value))
    },

    purgeActions: async () => {
      await pool.query(`delete from operator_actions where created_at < now() - ${retention}`)
    },

    searchAccounts: async ({ emailPrefix, limit, after }) => {
      if (hasNul(emailPrefix)) return []
      const { rows } = await reads.query(
        `select ${foundColumns} from accounts a
         where ${folded} >= lower($1::text collate "C") and ${folded} < lower($1::text collate "C") || $4
           and ($2::uuid is null or (${folded}, a.project) > (
             select lower(c.email collate "C"), c.project from accounts c where c.id = $2))
         order by ${folded}, a.project limit $3`,
        [emailPrefix, after ?? null, limit, last],
      )
      return rows.map(readFound)
    },

    findAccount: async (id) => {
      const { rows } = await reads.query(`select ${foundColumns} from accounts a where a.id = $1`, [id])
      return rows[0] === undefined ? null : readFound(rows[0])
    },

    findDeliveryAccount: async (deliveryId) => {
      const { rows } = await reads.query('select account_id from webhook_deliveries where id = $1', [
        deliveryId,
      ])
      return rows[0] === undefined ? null : accountOf.parse(rows[0]).account_id
    },
  }
}
