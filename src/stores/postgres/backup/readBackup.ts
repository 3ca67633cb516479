import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip } from 'node:zlib'
import type { PoolClient } from 'pg'
import { z } from 'zod'
import type { Migration } from '../database/migrationFiles.js'

export const backupFormat = 'quittance-backup'
export const formatVersion = 1

export type RowCounts = Readonly<Record<string, number>>

const headerShape = z.object({
  format: z.literal(backupFormat),
  formatVersion: z.number(),
  version: z.string(),
  createdAt: z.string(),
  /** Whether the payments are those of a sandbox. Null: nothing has decided it, or an older version wrote the file. */
  isSandbox: z.boolean().nullable().default(null),
  migrations: z.array(z.object({ number: z.number(), name: z.string(), sha256: z.string() })),
})
export type BackupHeader = z.infer<typeof headerShape>

const tableShape = z.object({ table: z.string(), columns: z.array(z.string()) })
const endShape = z.object({ rows: z.record(z.string(), z.number()), sha256: z.string() })

type BackupPart =
  | { readonly kind: 'header'; readonly header: BackupHeader }
  | { readonly kind: 'table'; readonly table: string; readonly columns: readonly string[] }
  /** JSON arrays with the texts of the columns. */
  | { readonly kind: 'rows'; readonly table: string; readonly lines: readonly string[] }
  | { readonly kind: 'end'; readonly rows: RowCounts }

const rowsPerPart = 500
// Longer than any row: a damaged file must not fill the memory.
const maxLineLength = 256 * 1024 * 1024

/** Operator-facing: the file is no complete backup of this format. */
export class BackupFileError extends Error {}

/**
 * Ends normally only for a complete, undamaged file. Throws `BackupFileError`.
 * Parts that came before an error are not to be kept.
 */
export async function* readBackup(file: string): AsyncGenerator<BackupPart> {
  const hash = createHash('sha256')
  const counts: Record<string, number> = {}
  let table: string | null = null
  let isBegun = false
  let isEnded = false
  let pending: string[] = []
  const takePending = (): BackupPart | null => {
    if (table === null || pending.length === 0) return null
    counts[table] = (counts[table] ?? 0) + pending.length
    const part: BackupPart = { kind: 'rows', table, lines: pending }
    pending = []
    return part
  }
  for await (const line of readLines(file)) {
    if (isEnded) throw damaged(file)
    if (!isBegun) {
      isBegun = true
      hash.update(`${line}\n`)
      yield { kind: 'header', header: readHeader(line, file) }
      continue
    }
    if (line.startsWith('[')) {
      if (table === null) throw damaged(file)
      hash.update(`${line}\n`)
      pending.push(line)
      if (pending.length < rowsPerPart) continue
    }
    const rows = takePending()
    if (rows !== null) yield rows
    if (line.startsWith('[')) continue
    const value = parseJson(line)
    const started = tableShape.safeParse(value)
    if (started.success) {
      hash.update(`${line}\n`)
      table = started.data.table
      if (counts[table] !== undefined) throw damaged(file)
      counts[table] = 0
      yield { kind: 'table', ...started.data }
      continue
    }
    const end = endShape.safeParse(value)
    if (!end.success || end.data.sha256 !== hash.digest('hex') || !isSame(end.data.rows, counts)) {
      throw damaged(file)
    }
    isEnded = true
    yield { kind: 'end', rows: counts }
  }
  if (!isEnded) throw isBegun ? damaged(file) : notABackup(file)
}

const damaged = (file: string, cause?: unknown): BackupFileError =>
  new BackupFileError(`${file} is damaged or incomplete. Nothing was restored.`, { cause })

const notABackup = (file: string, cause?: unknown): BackupFileError =>
  new BackupFileError(`${file} is not a backup that \`admin backup\` wrote. Nothing was restored.`, { cause })

const readHeader = (line: string, file: string): BackupHeader => {
  const header = headerShape.safeParse(parseJson(line))
  if (!header.success) throw notABackup(file)
  if (header.data.formatVersion !== formatVersion) {
    throw new BackupFileError(
      `${file} has format ${header.data.formatVersion}; this version reads format ${formatVersion}. Restore it with quittance ${readable(header.data.version)}.`,
    )
  }
  return header.data
}

/** Text of the file must not control the terminal. */
const readable = (text: string): string => text.replaceAll(/[^\w.+-]/g, '').slice(0, 40)

const isSame = (left: RowCounts, right: RowCounts): boolean => {
  const names = Object.keys(left)
  return names.length === Object.keys(right).length && names.every((name) => left[name] === right[name])
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

async function* readLines(file: string): AsyncGenerator<string> {
  const gunzip = createGunzip()
  const source = createReadStream(file)
  source.on('error', (error) => gunzip.destroy(error))
  source.pipe(gunzip)
  const decoder = new StringDecoder('utf8')
  let rest = ''
  try {
    for await (const chunk of gunzip) {
      if (!Buffer.isBuffer(chunk)) continue
      const lines = `${rest}${decoder.write(chunk)}`.split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > maxLineLength) throw damaged(file)
      yield* lines
    }
  } catch (error) {
    if (error instanceof BackupFileError) throw error
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code.startsWith('Z_')) {
      const isForeign = error instanceof Error && error.message.includes('header')
      throw isForeign ? notABackup(file, error) : damaged(file, error)
    }
    if (/^E[A-Z]+$/.test(code))
      throw new BackupFileError(`${file} cannot be read: ${code}.`, { cause: error })
    throw error
  } finally {
    source.destroy()
  }
  if (rest !== '') throw damaged(file)
}

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
