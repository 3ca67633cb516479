import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { Intent, IntentEvent, IntentStore } from '../../../ports/intentStore.js'
import { intentRequirements, intentRoute, intentStatus, unavailableRoute } from '../../../protocol/intents.js'
import { readReason } from '../../../protocol/reasons.js'
import { inTransaction, runInBatches, selectColumns, uuidForm } from '../database/statements.js'
import { insertEvents } from '../webhooks/webhookEvents.js'

const wallets = z.union([z.string(), z.record(z.string(), z.string())])

// Without the limits of requests: they may change.
const terms = z.object({
  payer: wallets,
  payee: wallets,
  amount: z.string(),
  asset: z.string(),
  decimals: z.int().optional(),
  sourceNetworks: z.array(z.string()).optional(),
  targetNetwork: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
})

const row = z.object({
  id: z.string(),
  caller: z.string(),
  status: intentStatus,
  terms,
  routes: z.array(intentRoute),
  unavailable: z.array(unavailableRoute),
  routesValidUntil: z.date(),
  selected: z.object({ route: intentRoute, requirements: intentRequirements }).nullable(),
  settlementId: z.string().nullable(),
  authorizationId: z.string().nullable(),
  transaction: z.string().nullable(),
  settledAmount: z.string().transform(BigInt).nullable(),
  reason: z.string().nullable().transform(readReason),
  createdAt: z.date(),
  expiresAt: z.date(),
  endsAt: z.date(),
  closedAt: z.date().nullable(),
  cancelledAt: z.date().nullable(),
  controlDigest: z.string().nullable(),
})

/** Columns of `intents i` for `readIntent`. */
const intentColumns = selectColumns('i', row.shape)

const readIntent = (value: unknown): Intent => {
  const { routes, unavailable, routesValidUntil, settlementId, authorizationId, ...intent } = keepCancelled(
    row.parse(value),
  )
  return {
    ...intent,
    plan: { routes, unavailable, validUntil: routesValidUntil },
    payment: settlementId === null || authorizationId === null ? null : { settlementId, authorizationId },
  }
}

/**
 * Versions before the migration that added `cancelled_at` may run beside this one. They end a payment without reading it: what
 * was cancelled is routed again, and expires.
 */
const keepCancelled = (parsed: z.infer<typeof row>): z.infer<typeof row> =>
  parsed.cancelledAt !== null && (parsed.status === 'routed' || parsed.status === 'expired')
    ? { ...parsed, status: 'cancelled', closedAt: parsed.cancelledAt }
    : parsed

/** The status of `intents i` as `readIntent` reads it. */
const shownStatus =
  "case when i.cancelled_at is not null and i.status in ('routed', 'expired') then 'cancelled' else i.status end"

/** Columns that change, in the order of `changingValues`. */
const changingColumns = [
  'status',
  'routes',
  'unavailable',
  'routes_valid_until',
  'selected',
  'settlement_id',
  'authorization_id',
  'transaction',
  'settled_amount',
  'reason',
  'ends_at',
  'closed_at',
  'cancelled_at',
] as const

const changingValues = ({ status, plan, selected, payment, ...intent }: Intent): unknown[] => [
  status,
  JSON.stringify(plan.routes),
  JSON.stringify(plan.unavailable),
  plan.validUntil,
  selected === null ? null : JSON.stringify(selected),
  payment?.settlementId ?? null,
  payment?.authorizationId ?? null,
  intent.transaction,
  intent.settledAmount?.toString() ?? null,
  intent.reason,
  intent.endsAt,
  intent.closedAt,
  intent.cancelledAt,
]

const fixedColumns = ['id', 'caller', 'terms', 'created_at', 'expires_at', 'control_digest'] as const

const insertIntent = `insert into intents (${[...fixedColumns, ...changingColumns].join(', ')})
  values (${[...fixedColumns, ...changingColumns].map((_column, at) => `$${at + 1}`).join(', ')})`

const updateIntent = `update intents set ${changingColumns.map((column, at) => `${column} = $${at + 2}`).join(', ')}
  where id = $1`

const insertEvent = insertEvents(
  'select $1::text as account_id, $2::text as type, null::uuid as settlement_id, $3::json as data',
)

/** `views` may be slightly out of date: pages are read from it. */
export const createIntentStore = (pool: Pool, views: Pool = pool): IntentStore => ({
  create: ({ intent, event }) =>
    inTransaction(pool, async (client) => {
      await client.query(insertIntent, [
        intent.id,
        intent.caller,
        JSON.stringify(intent.terms),
        intent.createdAt,
        intent.expiresAt,
        intent.controlDigest,
        ...changingValues(intent),
      ])
      await addEvent(client, intent, event)
    }),

  find: async (id) => {
    if (!uuidForm.test(id)) return null
    const { rows } = await pool.query(`select ${intentColumns} from intents i where i.id = $1`, [id])
    return rows[0] === undefined ? null : readIntent(rows[0])
  },

  change: async (id, decide) => {
    if (!uuidForm.test(id)) return null
    return await inTransaction(pool, async (client) => {
      const { rows } = await client.query(
        `select ${intentColumns} from intents i where i.id = $1 for update`,
        [id],
      )
      if (rows[0] === undefined) return null
      const before = readIntent(rows[0])
      const { intent, event } = decide(before)
      // What an older version wrote may be read as another status.
      if (intent === before && rows[0].status === before.status) return intent
      await client.query(updateIntent, [id, ...changingValues(intent)])
      await addEvent(client, intent, event)
      return intent
    })
  },

  list: async ({ caller, status, before, limit, now }) => {
    const { rows } = await views.query(
      // An intent whose time is over is shown as expired, also before its row says so. The first comparison is for the index.
      `select ${intentColumns} from intents i
       where i.caller = $1 and ($2::text is null or i.status = $2 or ($2 = 'cancelled' and i.status in ('routed', 'expired')))
         and ($2::text is null or ${shownStatus} = $2)
         and ($2::text is null or $2 not in ('pending', 'routed') or i.ends_at > $5)
         and ($3::uuid is null or (i.created_at, i.id) <
           (select created_at, id from intents where id = $3 and caller = $1))
       order by i.created_at desc, i.id desc limit $4`,
      [caller, status ?? null, before ?? null, limit, now],
    )
    return rows.map(readIntent)
  },

  listSettled: async (limit) => {
    const { rows } = await pool.query(
      `select ${intentColumns} from intents i join settlements s on s.id = i.settlement_id
       where i.status = 'executing' and s.state in ('confirmed', 'failed')
       order by random() limit $1`,
      [limit],
    )
    return rows.map(readIntent)
  },

  listOverdue: async (now, limit) => {
    const { rows } = await pool.query(
      `select ${intentColumns} from intents i
       where i.status in ('pending', 'routed') and i.ends_at <= $1 order by i.ends_at limit $2`,
      [now, limit],
    )
    return rows.map(readIntent)
  },

  purge: async ({ paid, unpaid }, stopped) => {
    await runInBatches(pool, { text: purgeEnded("('completed', 'failed')"), values: [paid], stopped })
    await runInBatches(pool, { text: purgeEnded("('expired', 'cancelled')"), values: [unpaid], stopped })
  },
})

/** The statuses are those of a partial index. */
const purgeEnded = (statuses: string): string => `delete from intents where id = any(array(
  select id from intents where status in ${statuses} and closed_at < $1
  order by closed_at limit $2 for update skip locked))`

const addEvent = async (client: PoolClient, { caller }: Intent, event: IntentEvent | null): Promise<void> => {
  if (event === null) return
  await client.query(insertEvent, [caller, event.type, JSON.stringify(event.data)])
}
