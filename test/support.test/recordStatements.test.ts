import { expect, it } from 'vitest'
import { useTestDatabase } from '../support/postgres.js'
import { readRecordedStatements } from '../support/recordedStatements.js'

const { pool } = useTestDatabase()

it('records what is sent to Postgres, once for all values', async () => {
  const client = await pool.connect()
  for (const value of [1, 2, 2]) {
    await client.query(`begin; select ${value} as recorded; commit`)
    await client.query('select $1::text as recorded', [value])
    await client.query({ text: 'select $1::int as recorded', values: [value] })
  }
  client.release()
  const texts = readRecordedStatements()?.texts.filter((text) => text.includes('as recorded'))
  expect(texts).toEqual([
    'begin; select 1 as recorded; commit',
    'select $1::text as recorded',
    'select $1::int as recorded',
  ])
})
