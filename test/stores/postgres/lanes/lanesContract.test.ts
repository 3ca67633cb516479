import { afterAll, beforeAll } from 'vitest'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createSignerLanes } from '../../../../src/stores/postgres/lanes/signerLanes.js'
import { describeLaneNumbering, observeRecorder } from '../../../contracts/laneNumberingContract.js'
import { claimOf } from '../../../support/claimOf.js'
import { addInstance } from '../../../support/instances.js'
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.js'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

describeLaneNumbering('the lanes in Postgres', async () => {
  const pool = database.pool()
  await pool.query('truncate settlements, broadcasts, broadcast_settlements, signer_lanes, instances')
  const instance = await addInstance(pool)
  const journal = createSettlementJournal(pool, instance)
  return {
    lanes: createSignerLanes(pool, instance),
    openRecorder: async (network) => {
      const settlement = await journal.claim(claimOf({ network }))
      if (settlement === null) throw new Error('The authorization already has an open row')
      return observeRecorder(journal.recorderFor(settlement.id))
    },
    close: async () => undefined,
  }
})
