import { Client } from 'pg'
import { describe, expect, it } from 'vitest'
import { useTestDatabase } from '../../../support/postgres.js'
import { listPreparable, omitLiterals, readRecordedStatements } from '../../../support/recordedStatements.js'

// Null where this project runs alone.
const recorded = readRecordedStatements()

/** Statements with the error of the server, by which they are refused before they run. */
const listRefused = async (
  url: string,
  statements: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  const refused = new Map<string, string>()
  for (const statement of statements) {
    try {
      await client.query(`prepare recorded as ${statement}`)
      await client.query('deallocate recorded')
    } catch (error) {
      refused.set(statement, String(error))
    }
  }
  await client.end()
  return refused
}

describe.runIf(recorded !== null)('the oldest supported Postgres', () => {
  const { url } = useTestDatabase()
  const { newest, texts } = recorded ?? { newest: { adminUrl: '', template: '' }, texts: [] }
  const byShape = new Map(
    texts.flatMap(listPreparable).map((statement) => [omitLiterals(statement), statement]),
  )

  it('knows each statement that the integration tests sent to the newest one', async () => {
    const refused = await listRefused(url, [...byShape.values()])
    // Of other schemas, such as those of older versions, and with mistakes on purpose.
    const template = new URL(newest.adminUrl)
    template.pathname = `/${newest.template}`
    const refusedByBoth = await listRefused(template.href, [...refused.keys()])
    expect([...refused].filter(([statement]) => !refusedByBoth.has(statement))).toEqual([])
  })
})
