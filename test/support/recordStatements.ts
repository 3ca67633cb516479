import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { findStatementsFolder, omitLiterals } from './recordedStatements.js'

/*
 * Setup of the integration tests: records what they send to Postgres, each statement once per process. The project
 * postgres-15, which runs after them, prepares it on the oldest supported Postgres.
 */

const query: CallableFunction = Client.prototype.query
const folder = findStatementsFolder()
const seen = new Set<string>()

const record = (text: string, file: string): void => {
  if (seen.has(text)) return
  // Texts with literals are seldom sent twice.
  const shape = omitLiterals(text)
  if (shape === text) seen.add(text)
  else if (seen.has(shape)) return
  seen.add(shape)
  appendFileSync(file, `${JSON.stringify(text)}\n`)
}

const readText = (sent: unknown): string | null => {
  if (typeof sent === 'string') return sent
  if (typeof sent !== 'object' || sent === null || !('text' in sent)) return null
  return typeof sent.text === 'string' ? sent.text : null
}

// The files of a worker share its process, and each of them runs its setup.
if (folder !== null && query.name !== 'queryRecorded') {
  const file = join(folder, `${process.pid}.jsonl`)
  const queryRecorded = function (this: unknown, ...given: readonly unknown[]): unknown {
    const text = readText(given[0])
    if (text !== null) record(text, file)
    return Reflect.apply(query, this, given)
  }
  Object.assign(Client.prototype, { query: queryRecorded })
}
