import type { Pool } from 'pg'
import { z } from 'zod'
import { figure, printTable, toColumns } from './table.js'

export interface LogPosition {
  /** Since the first byte of the log. */
  readonly bytes: number
  readonly records: number
  /** Pages that were logged in full. */
  readonly pages: number
}

const position = z.tuple([
  z.object({ bytes: z.coerce.number(), records: z.coerce.number(), pages: z.coerce.number() }),
])

export const readLogPosition = async (pool: Pool): Promise<LogPosition> => {
  await pool.query('select pg_stat_force_next_flush()')
  const { rows } = await pool.query(
    `select pg_current_wal_insert_lsn() - '0/0' as bytes, wal_records as records, wal_fpi as pages from pg_stat_wal`,
  )
  return position.parse(rows)[0]
}

export interface LoggedRecords {
  /** Table, or index, of the record's first page; empty: it has none, such as a commit. */
  readonly relation: string
  readonly table: string
  /** As Postgres names it: `Heap INSERT`, `Btree SPLIT_L`. */
  readonly kind: string
  readonly records: number
  /** Without those of full pages. */
  readonly bytes: number
  readonly pageBytes: number
}

const logged = z.array(
  z.object({
    relation: z.string(),
    table: z.string(),
    kind: z.string(),
    records: z.coerce.number(),
    bytes: z.coerce.number(),
    pageBytes: z.coerce.number(),
  }),
)

const listRecords = `
  with bounds as (
    select '0/0'::pg_lsn + $1::numeric as start, '0/0'::pg_lsn + $2::numeric as "end"
  ), first_pages as (
    select distinct on (i.start_lsn) i.start_lsn, i.relfilenode
    from bounds b, pg_get_wal_block_info(b.start, b."end", false) i order by i.start_lsn, i.block_id
  )
  select coalesce(c.relname, '') as relation, coalesce(t.relname, c.relname, '') as table,
    r.resource_manager || ' ' || r.record_type as kind, count(*) as records,
    sum(r.record_length - r.fpi_length) as bytes, sum(r.fpi_length) as "pageBytes"
  from bounds b cross join lateral pg_get_wal_records_info(b.start, b."end") r
    left join first_pages p on p.start_lsn = r.start_lsn
    left join pg_class c on c.relfilenode = p.relfilenode
    left join pg_index x on x.indexrelid = c.oid left join pg_class t on t.oid = x.indrelid
  group by 1, 2, 3`

/** Null: the server has no pg_walinspect, or is older than 16, or the user may not read the log. */
export const readLoggedRecords = async (
  pool: Pool,
  start: LogPosition,
  end: LogPosition,
): Promise<readonly LoggedRecords[] | null> => {
  if (end.bytes === start.bytes) return []
  try {
    return logged.parse((await pool.query(listRecords, [start.bytes, end.bytes])).rows)
  } catch {
    return null
  }
}

interface LoggedStep {
  readonly name: string
  readonly logged: readonly LoggedRecords[]
}

const groupings: readonly ((logged: LoggedRecords) => string)[] = [
  ({ table }) => `all of ${table || 'no table'}`,
  ({ relation }) => relation || 'no relation',
  ({ kind }) => kind,
]

const sum = (list: readonly LoggedRecords[], read: (logged: LoggedRecords) => number): number =>
  list.reduce((total, logged) => total + read(logged), 0)

const leastListed = 10

/** By table, by relation and by kind of record, largest first, for each of `count` settlements. */
export const printLoggedRecords = (steps: readonly LoggedStep[], count: number): void => {
  const all = steps.flatMap(({ logged }) => logged)
  const table = printTable(
    'What the records of a settlement are of',
    `Mean of ${count}, without full pages. What is left out has less than ${leastListed} bytes.`,
    [
      { name: 'table, relation or kind of record', width: 44 },
      ...toColumns('bytes', 'records', ...steps.map(({ name }) => name)),
    ],
  )
  for (const nameOf of groupings) {
    const rows = [...new Set(all.map(nameOf))].map((name) => {
      const isOf = (logged: LoggedRecords): boolean => nameOf(logged) === name
      const list = all.filter(isOf)
      const means = steps.map(({ logged }) => sum(logged.filter(isOf), ({ bytes }) => bytes) / count)
      return {
        name,
        bytes: sum(list, ({ bytes }) => bytes) / count,
        records: sum(list, ({ records }) => records) / count,
        means,
      }
    })
    for (const { name, bytes, records, means } of rows.toSorted((one, other) => other.bytes - one.bytes)) {
      if (bytes >= leastListed) table.row(name, ...[bytes, records, ...means].map(figure))
    }
  }
}
