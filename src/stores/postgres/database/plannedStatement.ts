import { createHash } from 'node:crypto'
import { DatabaseError, escapeLiteral } from 'pg'

/**
 * A statement with parameters that each connection of the server parses and plans once. Its name says its text, so that
 * versions that share the connections of a pooler do not share statements.
 */
export interface PlannedStatement {
  /** With its parameters. */
  readonly text: string
  /** Prepares it on a connection that does not have it. */
  readonly prepare: string
  /** Runs it with literals, one for each parameter. */
  run(literals: readonly string[]): string
}

export const planStatement = (text: string): PlannedStatement => {
  // It names the group of a statement, and must come first in a message.
  const [comment = ''] = /^\s*\/\* \w+ \*\/\s/.exec(text) ?? []
  const statement = text.slice(comment.length)
  const name = `planned_${createHash('sha256').update(statement).digest('hex').slice(0, 24)}`
  return {
    text,
    // A pooler may have given the connection to another process that prepared it.
    prepare: `${comment}do $planned$ begin if not exists (select from pg_prepared_statements where name = '${name}') then execute $text$prepare ${name} as ${statement}$text$; end if; end $planned$`,
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
