import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type {
  DiscoveryCatalogue,
  ListedTerms,
  RecordPlan,
  SettlementRecord,
} from '../../../ports/discovery.js'
import { foldAddress } from '../../../protocol/assetId.js'
import { inTransaction, withoutNul } from '../database/statements.js'
import { entryColumns, readEntry, readStated } from './catalogueRow.js'
import { challengeColumns, joinChallenge, readChallenge, recordChallenge } from './ownerChallenges.js'

/** More payers of one resource are not counted: the order would hardly change, and the table would grow. */
const maxPayers = 10_000

/** It reads `payers` and `last_settled_at` of a row. */
const scoreSql = `(extract(epoch from last_settled_at)::bigint
  + round(604800 * ln(1 + payers) / ln(2))::bigint)`

type WritePlan = Extract<RecordPlan, { readonly kind: 'write' }>

const idRow = z.object({ id: z.string() })
const knownRow = z.looseObject({ is_known: z.boolean() })

export const createRecordSettlement = (pool: Pool): DiscoveryCatalogue['record'] => {
  const read = async (
    client: Pick<PoolClient, 'query'>,
    { key, payer, payTo, network, plan }: SettlementRecord,
    isLocked: boolean,
  ) => {
    const { rows } = await client.query(
      `select ${entryColumns}, r.stated, ${challengeColumns}, (r.payers >= $4 or exists (select from discovery_payers p
         where p.resource_id = r.id and p.payer = $3)) as is_known
       from discovery_resources r
       ${joinChallenge('$5', '$6')}
       where r.url = $1 and r.tool_name = $2 ${isLocked ? 'for update of r' : ''}`,
      [key.url, key.toolName, payer, maxPayers, withoutNul(network), withoutNul(payTo)],
    )
    const existing = rows[0] === undefined ? null : readEntry(rows[0])
    const isKnown = rows[0] !== undefined && knownRow.parse(rows[0]).is_known
    const challenge = rows[0] === undefined ? null : readChallenge(rows[0])
    const stated = rows[0] === undefined ? null : readStated(rows[0])
    return { existing, plan: plan(existing, { isKnownPayer: isKnown, challenge, stated }) }
  }

  return async (settlement) => {
    const first = await read(pool, settlement, false)
    const firstPlan = first.plan
    if (!changesRows(firstPlan)) return { plan: firstPlan, id: first.existing?.id ?? null }
    return await inTransaction(pool, async (client) => {
      if (first.existing === null && firstPlan.kind === 'write') {
        const id = await insert(client, settlement, firstPlan)
        if (id !== null) {
          await countPayer(client, id, settlement, firstPlan)
          return { plan: firstPlan, id }
        }
      }
      const { existing, plan } = await read(client, settlement, true)
      if (existing === null) return { plan, id: null }
      const asks = plan.kind === 'pending' || plan.kind === 'write' ? plan.asks : null
      if (asks !== null) await recordChallenge(client, existing.id, settlement, asks)
      if (plan.kind !== 'write') return { plan, id: existing.id }
      if (plan.resolves === 'added') await endChallenge(client, existing.id, settlement)
      if (plan.resolves === 'moved') await forgetOwner(client, existing.id)
      await update(client, existing.id, settlement, plan)
      await countPayer(client, existing.id, settlement, plan)
      return { plan, id: existing.id }
    })
  }
}

const changesRows = (plan: RecordPlan): boolean =>
  plan.kind === 'write' || (plan.kind === 'pending' && plan.asks !== null)

/** Its answer is used once: a conflict an hour later is asked anew. */
const endChallenge = async (
  client: PoolClient,
  id: string,
  { network, payTo }: SettlementRecord,
): Promise<void> => {
  await client.query(
    'delete from discovery_challenges where resource_id = $1 and network = $2 and pay_to = $3',
    [id, withoutNul(network), withoutNul(payTo)],
  )
}

/** With the answers that its settlements were decided by. */
const forgetOwner = async (client: PoolClient, id: string): Promise<void> => {
  await client.query('delete from discovery_challenges where resource_id = $1', [id])
  await client.query('delete from discovery_payers where resource_id = $1', [id])
  await client.query('update discovery_resources set payers = 0 where id = $1', [id])
}

const columns = [
  'type',
  'account_id',
  'method',
  'version',
  'declaration',
  'terms',
  'offers',
  'extension_keys',
  'description',
  'mime_type',
  'service_name',
  'tags',
  'icon_url',
  'tokens',
] as const

const valuesOf = ({ resource, accountId, terms, tokens }: WritePlan): readonly unknown[] => [
  resource.type,
  accountId,
  resource.method,
  resource.version,
  JSON.stringify(resource.declaration),
  JSON.stringify(terms),
  JSON.stringify(terms.map(toOffer)),
  resource.extensionKeys,
  resource.description,
  resource.mimeType,
  resource.serviceName,
  resource.tags,
  resource.iconUrl,
  tokens.map(withoutNul),
]

/** The spelling that filters compare. */
const toOffer = ({ network, scheme, asset, payTo, amount }: Omit<ListedTerms, 'extra'>) => ({
  network: withoutNul(network),
  scheme: withoutNul(scheme),
  asset: withoutNul(foldAddress(asset)),
  payTo: withoutNul(foldAddress(payTo)),
  amount,
})

const initialScore = 'extract(epoch from $3::timestamptz)::bigint'

/** Null: another settlement was first. */
const insert = async (
  client: PoolClient,
  { key, settledAt }: SettlementRecord,
  plan: WritePlan,
): Promise<string | null> => {
  const places = columns.map((_, index) => `$${index + 4}`)
  const { rows } = await client.query(
    `insert into discovery_resources
       (url, tool_name, state, first_settled_at, last_settled_at, score, ${columns.join(', ')})
     values ($1, $2, 'listed', $3, $3, ${initialScore}, ${places.join(', ')})
     on conflict (url, tool_name) do nothing returning id`,
    [key.url, key.toolName, settledAt, ...valuesOf(plan)],
  )
  return rows[0] === undefined ? null : idRow.parse(rows[0]).id
}

const update = async (
  client: PoolClient,
  id: string,
  { settledAt }: SettlementRecord,
  plan: WritePlan,
): Promise<void> => {
  const changes = columns.map((column, index) => `${column} = $${index + 3}`)
  await client.query(
    `update discovery_resources set state = 'listed', last_settled_at = greatest(last_settled_at, $2::timestamptz),
       score = ${scoreSql.replace('last_settled_at', 'greatest(last_settled_at, $2::timestamptz)')},
       ${changes.join(', ')} where id = $1`,
    [id, settledAt, ...valuesOf(plan)],
  )
}

/** Recipients of the resource and of its owner do not count as payers, also if they became recipients later. */
const countPayer = async (
  client: PoolClient,
  id: string,
  { payer, payTo }: SettlementRecord,
  { accountId, terms }: WritePlan,
): Promise<void> => {
  const isNewRecipient = accountId !== null && (await addRecipient(client, accountId, payTo))
  await client.query(
    `with gone as (
       delete from discovery_payers p using discovery_resources r
       where r.id = p.resource_id and p.payer = $2 and (r.id = $1 or ($4 and r.account_id = $3)) returning p.resource_id
     )
     update discovery_resources set payers = payers - 1, score = ${scoreSql.replace('payers', 'payers - 1')}
     where id in (select resource_id from gone)`,
    [id, payTo, accountId, isNewRecipient],
  )
  const own = terms.some((each) => foldAddress(each.payTo) === payer)
  if (own) return
  await client.query(
    `with added as (
       insert into discovery_payers (resource_id, payer)
       select $1, $2 where not exists (
         select from discovery_recipients where account_id = $3 and pay_to = $2)
         and (select payers from discovery_resources where id = $1) < $4
       on conflict do nothing returning resource_id
     )
     update discovery_resources set payers = payers + 1, score = ${scoreSql.replace('payers', 'payers + 1')}
     where id in (select resource_id from added)`,
    [id, payer, accountId, maxPayers],
  )
}

const addRecipient = async (client: PoolClient, accountId: string, payTo: string): Promise<boolean> => {
  const { rowCount } = await client.query(
    'insert into discovery_recipients (account_id, pay_to) values ($1, $2) on conflict do nothing',
    [accountId, payTo],
  )
  return rowCount === 1
}
