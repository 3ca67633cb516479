import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  readonly sha256: string
  /** The oldest migration whose code can run on the database afterwards; null: only code that has this one. */
  readonly runsBeside: number | null
  /** Index that the file builds outside a transaction; null: the file runs in one. */
  readonly index: IndexBuild | null
  /** Backfill that must have ended before; null: none. */
  readonly afterBackfill: string | null
  /** Starts with this migration; null: none. */
  readonly backfill: Backfill | null
}

export interface IndexBuild {
  readonly name: string
  readonly table: string
  readonly sql: string
}

export interface Backfill {
  readonly name: string
  /**
   * One batch. Takes the cursor as text (null: from the start) and the number of rows, and returns a row whose `cursor` is
   * the text of the last key of the batch; null: there was none.
   */
  readonly sql: string
}

const backfillSuffix = '.backfill.sql'

const alreadyRead = new WeakMap<URL, Promise<readonly Migration[]>>()

/**
 * Files `NNNN_what.sql` in order, each with its `NNNN_what.backfill.sql` if there is one. A URL, as of the folder of this
 * version, is read once per process: a start needs its files three times.
 */
export const readMigrations = (where: URL | string): Promise<readonly Migration[]> => {
  if (typeof where === 'string') return readFolder(where)
  const reading = alreadyRead.get(where) ?? readFolder(fileURLToPath(where))
  alreadyRead.set(where, reading)
  reading.catch(() => alreadyRead.delete(where))
  return reading
}

const readFolder = async (folder: string): Promise<readonly Migration[]> => {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  const names = files.filter((name) => !name.endsWith(backfillSuffix))
  const backfills = files.filter((name) => name.endsWith(backfillSuffix))
  for (const backfill of backfills) {
    const name = backfill.replace(backfillSuffix, '.sql')
    if (!names.includes(name)) throw new Error(`Backfill ${backfill} has no migration ${name}.`)
  }
  const migrations = await Promise.all(names.map((name) => readMigration(folder, name, backfills)))
  for (const [index, { number, name }] of migrations.entries()) {
    const expected = index + 1
    if (number === expected) continue
    const previous = migrations[index - 1]
    if (previous?.number === number) {
      throw new Error(`Migrations ${previous.name} and ${name} have the same number.`)
    }
    throw new Error(`Migration ${toDigits(expected)} is missing: the next file is ${name}.`)
  }
  return migrations
}

const toDigits = (number: number): string => String(number).padStart(4, '0')

async function readMigration(folder: string, name: string, backfills: readonly string[]): Promise<Migration> {
  const [, digits, what] = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(name) ?? []
  if (digits === undefined || what === undefined) {
    throw new Error(`Migration ${name} is not named like 0001_what_it_does.sql.`)
  }
  const sql = await readSql(join(folder, name))
  const backfill = name.replace('.sql', backfillSuffix)
  return {
    number: Number(digits),
    name,
    sql,
    sha256: createHash('sha256').update(sql).digest('hex'),
    ...readStatements(name, sql),
    backfill: backfills.includes(backfill)
      ? { name: what, sql: await readSql(join(folder, backfill)) }
      : null,
  }
}

// Git may check out other line endings; that is not a change.
const readSql = async (path: string): Promise<string> =>
  (await readFile(path, 'utf8')).replaceAll('\r\n', '\n')

type Statements = Pick<Migration, 'runsBeside' | 'index' | 'afterBackfill'>

/** What the first lines of a file state about it: `-- quittance: …`. */
const readStatements = (name: string, sql: string): Statements => {
  let statements: Statements = { runsBeside: null, index: null, afterBackfill: null }
  for (const line of sql.split('\n')) {
    const [, text] = /^-- quittance: (.*)$/.exec(line) ?? []
    if (text === undefined) return statements
    statements = { ...statements, ...readStatement(name, sql, text) }
  }
  return statements
}

const readStatement = (name: string, sql: string, text: string): Partial<Statements> => {
  const [, oldest] = /^runs beside (\d{4})$/.exec(text) ?? []
  if (oldest !== undefined) return { runsBeside: Number(oldest) }
  const [, afterBackfill] = /^after backfill ([a-z0-9_]+)$/.exec(text) ?? []
  if (afterBackfill !== undefined) return { afterBackfill }
  // The default, for a reader of the file.
  if (text === 'runs alone') return {}
  if (text !== 'no transaction') throw new Error(`Migration ${name} states what is unknown: ${text}.`)
  const statement = sql.replaceAll(/^--.*$/gm, '').trim()
  const [, index, table] =
    /^create (?:unique )?index concurrently (\w+) on (\w+)(?![\w.])[^;]+;$/.exec(statement) ?? []
  if (index !== undefined && table !== undefined) return { index: { name: index, table, sql: statement } }
  throw new Error(`Migration ${name} runs outside a transaction: it must be one "create index concurrently".`)
}
