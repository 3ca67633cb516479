import { expect, it } from 'vitest'
import { useTestDatabase } from '../support/postgres.js'
import { readRecordedStatements } from '../support/recordedStatements.js'

const { pool } = useTestDatabase()

it('records what is sent to Postgres, once for all values', async () => {
  const client = await pool.connect()
  for (const value of [1, 2, 2]) {
    await client.query(`begin; select ${value} as recorded_here; commit`)
    await client.query('select $1::text as recorded_here', [value])
    await client.query({ text: 'select $1::int as recorded_here', values: [value] })
  }
  client.release()
  const texts = readRecordedStatements()?.texts.filter((text) => text.includes('as recorded_here'))
  expect(texts).toEqual([
    'begin; select 1 as recorded_here; commit',
    'select $1::text as recorded_here',
    'select $1::int as recorded_here',
  ])
})
