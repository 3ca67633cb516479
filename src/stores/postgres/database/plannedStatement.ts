import { createHash } from 'node:crypto'
import { DatabaseError, escapeLiteral } from 'pg'

/**
 * A statement with parameters that each connection of the server parses and plans once. Its name says its text, so that
 * versions that share the connections of a pooler do not share statements.
 */
export interface PlannedStatement {
  /** With its parameters. */
  readonly text: string
  /** Prepares it anew, also on a connection that has it. */
  readonly prepare: string
  /** Runs it with literals, one for each parameter. */
  run(literals: readonly string[]): string
}

export const planStatement = (text: string): PlannedStatement => {
  // It names the group of a statement, also of one that only prepares it.
  const [comment = ''] = /^\s*\/\* \w+ \*\/\s/.exec(text) ?? []
  const statement = text.slice(comment.length)
  const name = `planned_${createHash('sha256').update(statement).digest('hex').slice(0, 24)}`
  return {
    text,
    // The connection may have an older plan, and by a pooler also that of another process.
    prepare: `${comment}do $planned$ begin if exists (select from pg_prepared_statements where name = '${name}') then deallocate ${name}; end if; execute $text$prepare ${name} as ${statement}$text$; end $planned$`,
    run: (literals) => `${comment}execute ${name} (${literals.join(', ')})`,
  }
}

/** A value, or an array of them, as a literal of whatever type its parameter has. */
export const toLiteral = (value: unknown): string => {
  if (value == null) return 'null'
  return escapeLiteral(Array.isArray(value) ? `{${value.map(toElement).join(',')}}` : toText(value))
}

const toElement = (value: unknown): string =>
  value == null ? 'null' : `"${toText(value).replace(/["\\]/g, '\\$&')}"`

const toText = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value))

/**
 * Settings of a transaction that runs planned statements. A plan is kept while tables grow, until they are analyzed or it is
 * prepared anew: no scan of a whole table may rest on its being small.
 */
export const plannedSettings: readonly string[] = [
  'set local plan_cache_mode = force_generic_plan',
  'set local enable_seqscan = off',
]

/**
 * The connection does not have the statement, as a pooler in transaction mode has given another one (26000), or a migration has
 * changed the type of what it returns (0A000). Nothing of its message is done.
 */
export const isUnplanned = (error: unknown): boolean =>
  error instanceof DatabaseError && (error.code === '26000' || error.code === '0A000')

// The cheapest plan for a table that is small or has no statistics can be to hash all its rows.
const firstRuns = 16
const mostRuns = 1_024

/** `left` of the `most` times that a plan is run. */
interface Runs {
  readonly most: number
  readonly left: number
}

/** What was prepared on connections. A plan is run twice as often as the one before, as tables grow by what is run. */
interface PreparedStatements<Connection extends object> {
  /** False: they are to be prepared before they run. */
  has(connection: Connection, planned: readonly PlannedStatement[]): boolean
  onRun(connection: Connection, planned: readonly PlannedStatement[]): void
}

export const createPreparedStatements = <Connection extends object>(): PreparedStatements<Connection> => {
  const runsOn = new WeakMap<Connection, Map<PlannedStatement, Runs>>()
  return {
    has: (connection, planned) => {
      const runs = runsOn.get(connection)
      return planned.every((each) => (runs?.get(each)?.left ?? 0) > 0)
    },
    onRun: (connection, planned) => {
      const runs = runsOn.get(connection) ?? new Map<PlannedStatement, Runs>()
      runsOn.set(connection, runs)
      for (const each of planned) {
        const last = runs.get(each) ?? { most: firstRuns / 2, left: 0 }
        const most = last.left > 0 ? last.most : Math.min(2 * last.most, mostRuns)
        runs.set(each, { most, left: (last.left > 0 ? last.left : most) - 1 })
      }
    },
  }
}
