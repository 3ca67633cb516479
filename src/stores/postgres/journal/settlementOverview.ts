import type { Pool } from 'pg'
import { z } from 'zod'
import type { Settlement, SettlementState } from '../../../ports/settlementJournal.js'
import type { SettlementOverview, SponsoringHistory } from '../../../ports/settlementOverview.js'
import { readSettlement, settlementColumns } from './settlementRow.js'
import { hasFailed, isClosedAs, isConfirmed, isOpen } from './settlementStates.js'

// The cursor is an id: a Date would lose microseconds.
const bounds = `($1::text is null or s.network = $1) and ($2::timestamptz is null or s.created_at >= $2)
  and ($3::uuid is null or (s.created_at, s.id) < ((select created_at from settlements where id = $3), $3))`

// An array, because a join may be planned as a scan of the journal while the size of the small table is unknown.
const isListedOpen = 's.id = any(array(select settlement_id from open_settlements))'

const openPage = `page as (
  select s.id, s.created_at from settlements s
  where ${isListedOpen} and ${isOpen('s')} and ${bounds} order by s.created_at desc, s.id desc limit $4)`

const closedPage = (status: 'confirmed' | 'failed', isOfOneNetwork: boolean): string =>
  newestSettlements({
    scope: isClosedAs('s', status),
    network: isOfOneNetwork ? '$1' : null,
    bounds,
    limit: '$4',
  })

const openCount = z.object({
  network: z.string(),
  state: z.enum(['claimed', 'pending']),
  count: z.string().transform(Number),
  oldest_seconds: z.number(),
})

export const createSettlementOverview = (pool: Pool): SettlementOverview => ({
  list: async ({ status, network, since, after, limit }) => {
    const page = status === 'pending' ? openPage : closedPage(status, network !== undefined)
    const { rows } = await pool.query(
      `/* find */ with recursive ${page}
       select ${settlementColumns} from page join settlements s on s.id = page.id
       order by page.created_at desc, page.id desc`,
      [network ?? null, since ?? null, after ?? null, limit],
    )
    return rows.map(readSettlement)
  },

  countOpen: async () => {
    const { rows } = await pool.query(
      `select s.network, s.state, count(*) as count,
         extract(epoch from now() - min(s.created_at))::float8 as oldest_seconds
       from settlements s where ${isListedOpen} and s.state in ('claimed', 'pending') group by s.network, s.state`,
    )
    return rows.map((value) => {
      const { oldest_seconds: oldestSeconds, ...rest } = openCount.parse(value)
      return { ...rest, oldestSeconds }
    })
  },
})

/** What is claimed or pending is one part, so that many of one cost nothing where those of the other are looked for. */
export type SettlementPart = 'open' | 'confirmed' | 'failed'

interface ListingSql {
  /** Condition on `s` that fixes the leading columns of the index and implies its predicate. */
  readonly scope: string
  /** The index of the scope has one part for each. Default: the scope fixes the part. */
  readonly parts?: readonly SettlementPart[]
  /** A parameter such as `$1`; null lists every network. */
  readonly network: string | null
  /** Bounds of (created_at, id) on `s`. */
  readonly bounds: string
  readonly limit: string
}

/**
 * Recursive CTEs that end in `page (id, created_at)`, newest first. The index is read once for each network and part,
 * and what it yields is merged: the cost is that of the page, also for a filter that few rows match.
 */
export const newestSettlements = ({ scope, parts, network, bounds, limit }: ListingSql): string => `
  networks (network) as (${network === null ? everyNetwork(scope) : `select ${network}::text`}
  ), page as (
    select p.id, p.created_at
    from networks n cross join ${flag} cross join lateral (
      ${(parts?.map(isOfPart) ?? ['true'])
        .map(
          (isOfOne) => `(select s.id, s.created_at from settlements s
        where ${scope} and s.network = n.network and ${isOfOne} and ${bounds}
        order by s.created_at desc, s.id desc limit ${limit})`,
        )
        .join(' union all ')}) p
    where n.network is not null
    order by p.created_at desc, p.id desc limit ${limit}
  )`

const flag = '(select false as no offset 0) as flag'

/**
 * The columns of the index are `(closed_at is not null), (reason is null)`. The contrary of one is compared with a column of
 * another table: with a constant, Postgres would turn it into a condition that the index does not have.
 */
const isOfPart = (part: SettlementPart): string =>
  `${part === 'open' ? '(s.closed_at is not null) = flag.no' : 's.closed_at is not null'}
    and ${part === 'failed' ? '(s.reason is null) = flag.no' : 's.reason is null'}`

/** One index entry for each network. */
const everyNetwork = (scope: string): string => `
    (select s.network from settlements s where ${scope} order by s.network limit 1)
    union all
    select (select s.network from settlements s where ${scope} and s.network > n.network order by s.network limit 1)
    from networks n where n.network is not null`

export interface SettlementSearch {
  readonly state: SettlementState | null
  readonly network: string | null
  /** In the journal's form; EVM addresses in any case. */
  readonly payer: string | null
  readonly limit: number
}

/** Newest first. For operators: with filters it may read the whole journal. */
export const searchSettlements = async (
  pool: Pick<Pool, 'query'>,
  { state, network, payer, limit }: SettlementSearch,
): Promise<readonly Settlement[]> => {
  const { rows } = await pool.query(
    `/* find */ select ${settlementColumns} from settlements s
     where ($1::text is null or s.state = $1) and ($2::text is null or s.network = $2)
       and ($3::text is null or s.payer = $3 or (s.network like 'eip155:%' and lower(s.payer) = lower($3)))
     order by s.created_at desc, s.id desc limit $4`,
    [state, network, payer, limit],
  )
  return rows.map(readSettlement)
}

// A wallet that signs two payments at once loses one of them, and has paid for the other: failures count beyond what was
// paid, but never more than these are excused.
const maxExcused = 19

// The conditions repeat those of the partial indexes word for word, which have an entry for nothing else.
const ofPayer = (state: string, condition: string, limit: number): string => `
  (select count(*) from (select from settlements s
      where ${state} and details @> '{"sponsored": true}'
        and network = $1 and payer_wallet = $3 and closed_at > $4 and ${condition} limit ${limit}) as rows)`

export const readSponsoringHistory = `
  select exists (select from settlements s
      where ${isConfirmed('s')} and (network like 'ton:%' or network like 'tron:%')
        and network = $1 and payee_wallet = $2) as has_recipient_settled,
    ${ofPayer(hasFailed('s'), 'transaction is not null and reason = any($5)', maxExcused + 1)}
      > ${ofPayer(isConfirmed('s'), 'true', maxExcused)} as has_payer_failed`

const rows = z.tuple([z.object({ has_recipient_settled: z.boolean(), has_payer_failed: z.boolean() })])

export const createSponsoringHistory = (pool: Pool): SponsoringHistory => ({
  read: async ({ network, payer, payTo, reasons, since }) => {
    const result = await pool.query(readSponsoringHistory, [network, payTo, payer, since, reasons])
    const [record] = rows.parse(result.rows)
    return { hasRecipientSettled: record.has_recipient_settled, hasPayerFailed: record.has_payer_failed }
  },
})
