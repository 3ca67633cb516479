import type { Pool, PoolClient } from 'pg'
import { setNewest } from '../../../concurrency/boundedMap.js'
import { completeSpan, findCurrentSpan } from '../../../platform/tracer/currentSpan.js'

/** Statements of traced requests get a span each, without their text and values. */
export const tracePool = (pool: Pool): Pool => {
  Object.assign(pool, { query: traceQuery(pool, pool.query) })
  // Clients of transactions. The pool passes a callback with its own statements, which are not traced twice.
  pool.on('connect', (client: PoolClient) => {
    Object.assign(client, { query: traceQuery(client, client.query) })
  })
  return pool
}

const traceQuery =
  (target: object, query: CallableFunction) =>
  (...given: readonly unknown[]): unknown => {
    const run = (): unknown => Reflect.apply(query, target, given)
    const parent = findCurrentSpan()
    if (parent === undefined || typeof given.at(-1) === 'function') return run()
    const { name, table } = describeStatement(readStatementText(given[0]))
    const attributes = {
      'db.system.name': 'postgresql',
      'db.operation.name': name,
      ...(table === '' ? {} : { 'db.collection.name': table }),
    }
    const span = parent.startChild({
      name: table === '' ? name : `${name} ${table}`,
      kind: 'client',
      attributes,
    })
    return span === null ? run() : completeSpan(span, async () => await run())
  }

/** Of what is given to `query`: a text, or an object that has one. */
export const readStatementText = (given: unknown): string => {
  if (typeof given === 'string') return given
  return typeof given === 'object' && given !== null && 'text' in given && typeof given.text === 'string'
    ? given.text
    : ''
}

interface Operation {
  readonly name: string
  readonly table: string
}

/** Whether it is a message of several statements, whose text has values in it and does not recur. */
export const isMessage = (text: string): boolean => /^(?:begin|set local [^;]+); /.test(text)

const described = new Map<string, Operation>()
const maxDescribed = 1_000

const leadingComment = /^\s*\/\* \w+ \*\//
// After `from`, a name before a parenthesis is a function.
const firstTable = /\b(?:into|update)\s+([a-z_]+)|\b(?:from|join)\s+([a-z_]+)\b(?!\s*\()/i

/** The first word, and the first table that is named; of a message neither, as payers choose words in it. */
export const describeStatement = (text: string): Operation => {
  if (isMessage(text)) return { name: 'BEGIN', table: '' }
  const known = described.get(text)
  if (known !== undefined) return known
  const statement = text.replace(leadingComment, '')
  const [name = 'unknown'] = /[a-z]+/i.exec(statement) ?? []
  const [, written, read = ''] = firstTable.exec(statement) ?? []
  const operation = { name: name.toUpperCase(), table: (written ?? read).toLowerCase() }
  setNewest(described, text, operation, maxDescribed)
  return operation
}
