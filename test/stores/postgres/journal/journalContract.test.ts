import { afterAll, beforeAll } from 'vitest'
import { createConfirmedBlocks } from '../../../../src/stores/postgres/journal/confirmedBlocks.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { describeSettlementJournal } from '../../../contracts/settlementJournalContract.js'
import { addInstance } from '../../../support/instances.js'
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.js'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

describeSettlementJournal('the journal in Postgres', async () => {
  const pool = database.pool()
  await pool.query('truncate settlements, broadcasts, broadcast_settlements, instances')
  return {
    journal: createSettlementJournal(pool, await addInstance(pool)),
    blocks: createConfirmedBlocks(pool),
    close: async () => undefined,
  }
})
