import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { ProvidedPostgres } from './postgres.js'
import { compiledFolderVariable } from './program.js'

/* What the integration tests of this run sent to Postgres, for the test of the oldest supported one. */

interface RecordedStatements {
  /** Where they were sent. */
  readonly newest: ProvidedPostgres
  /** As they were sent: also scripts of several statements. */
  readonly texts: readonly string[]
}

const serverFile = 'server.json'
const server = z.object({ adminUrl: z.string(), template: z.string() })

/** In the folder of this run; null without one, or before the integration tests. */
export const findStatementsFolder = (): string | null => {
  const { [compiledFolderVariable]: compiled } = process.env
  const folder = compiled === undefined ? null : join(compiled, 'statements')
  return folder !== null && existsSync(folder) ? folder : null
}

/** Workers that start later record. In watch mode there is no folder of the run, and none does. */
export const startRecording = (newest: ProvidedPostgres): void => {
  const { [compiledFolderVariable]: compiled } = process.env
  if (compiled === undefined) return
  const folder = join(compiled, 'statements')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, serverFile), JSON.stringify(newest))
}

/** Null if no integration test runs. */
export const readRecordedStatements = (): RecordedStatements | null => {
  const folder = findStatementsFolder()
  if (folder === null) return null
  const lines = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
  return {
    newest: server.parse(JSON.parse(readFileSync(join(folder, serverFile), 'utf8'))),
    texts: lines.map((line) => z.string().parse(JSON.parse(line))),
  }
}

// One alternative for each form of text in which a semicolon or a digit means nothing.
const lexeme =
  /'(?:[^']|'')*'|"[^"]*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|\$\d+|\w+|;|[^'"$;\w/-]+|[\s\S]/g

/** Equal for statements that differ only in values. */
export const omitLiterals = (text: string): string =>
  text.replace(lexeme, (part) => (part.startsWith("'") || /^\d/.test(part) ? '?' : part))

// As `planStatement` prepares one, in a block whose text is a literal.
const planned = /\$text\$prepare \w+ as ([\s\S]*?)\$text\$/g

/** Its statements that can be prepared: neither DDL nor what controls transactions. */
export const listPreparable = (text: string): readonly string[] => {
  const inBlocks = [...text.matchAll(planned)].flatMap(([, statement = '']) => listPreparable(statement))
  const statements = ['']
  for (const [part] of text.matchAll(lexeme)) {
    if (part === ';') statements.push('')
    else if (!part.startsWith('--') && !part.startsWith('/*')) statements.push(`${statements.pop()}${part}`)
  }
  const own = statements.map((statement) => statement.trim())
  return [...inBlocks, ...own].filter((statement) =>
    /^\(*\s*(?:select|insert|update|delete|merge|values|with)\b/i.test(statement),
  )
}
