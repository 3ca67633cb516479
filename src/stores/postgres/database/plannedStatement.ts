import { createHash } from 'node:crypto'
import { DatabaseError } from 'pg'

/**
 * A statement with parameters that each connection of the server parses and plans once. Its name says its text, so that
 * versions that share the connections of a pooler do not share statements.
 */
export interface PlannedStatement {
  /** Prepares it on a connection that does not have it. */
  readonly prepare: string
  /** Runs it with literals, one for each parameter. */
  run(literals: readonly string[]): string
}

export const planStatement = (types: readonly string[], text: string): PlannedStatement => {
  // In one line, where the comment that names the group of a statement is looked for.
  const line = text.trim().replace(/\s+/g, ' ')
  const name = `planned_${createHash('sha256').update(types.join()).update(line).digest('hex').slice(0, 24)}`
  return {
    // A pooler may have given the connection to another process that prepared it.
    prepare: `do $planned$ begin if not exists (select from pg_prepared_statements where name = '${name}') then execute $text$prepare ${name} (${types.join(', ')}) as ${line}$text$; end if; end $planned$`,
    run: (literals) => `execute ${name} (${literals.join(', ')})`,
  }
}

/**
 * Settings of a transaction that runs planned statements. A plan is kept while tables grow, until they are analyzed: it must not
 * rest on their being small.
 */
export const plannedSettings: readonly string[] = [
  'set local plan_cache_mode = force_generic_plan',
  'set local enable_seqscan = off',
]

/** The connection does not have the statement: a pooler in transaction mode has given another one. */
export const isUnplanned = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === '26000'
