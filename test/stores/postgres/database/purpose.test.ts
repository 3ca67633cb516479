import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claimPurpose } from '../../../../src/stores/postgres/database/purpose.js'
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.js'

let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase()
})
afterEach(() => database.drop())

describe('a database', () => {
  it.each([true, false])('that served a sandbox (%s) never serves the other', async (isSandbox) => {
    await claimPurpose(database.pool(), isSandbox, 'DATABASE_URL')
    await claimPurpose(database.pool(), isSandbox, 'DATABASE_URL')
    await expect(claimPurpose(database.pool(), !isSandbox, 'DATABASE_URL')).rejects.toMatchObject({
      variable: 'DATABASE_URL',
      problem: expect.stringContaining('sandbox'),
    })
  })

  it('is decided once by two first starts at the same time', async () => {
    const both = [true, false].map((isSandbox) =>
      claimPurpose(database.pool(), isSandbox, 'DATA_FOLDER').then(
        () => 'started',
        () => 'refused',
      ),
    )
    expect((await Promise.all(both)).sort()).toEqual(['refused', 'started'])
  })
})
