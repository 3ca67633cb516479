import type { PoolClient } from 'pg'
import { z } from 'zod'
import type { Migration } from '../database/migrate.js'

export interface Table {
  readonly name: string
  /** With their SQL types, in the order of the catalog. */
  readonly columns: readonly { readonly name: string; readonly type: string; readonly isIdentity: boolean }[]
}

// Heartbeats and leases of running processes, and what the migrations themselves write.
const transient = ['instances', 'job_leases', 'schema_migration']

const rowShape = z.object({
  name: z.string(),
  columns: z.array(z.object({ name: z.string(), type: z.string(), isIdentity: z.boolean() })),
})

/** The tables that the migrations create, without those of running processes. Other tables of the database are foreign. */
export const listTables = async (
  client: Pick<PoolClient, 'query'>,
  migrations: readonly Migration[],
): Promise<readonly Table[]> => {
  const created = migrations.flatMap(({ sql }) =>
    [...sql.matchAll(/^create table (?:if not exists )?(\w+)/gim)].map(([, name = '']) => name),
  )
  const { rows } = await client.query(
    `select c.relname as name, json_agg(json_build_object(
       'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'isIdentity', a.attidentity <> '')
       order by a.attnum) as columns
     from pg_class c join pg_attribute a
       on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname = any($1)
     group by c.relname order by c.relname`,
    [created.filter((name) => !transient.includes(name))],
  )
  return rows.map((row) => rowShape.parse(row))
}

/** For SQL: names come from the catalog. */
export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`
