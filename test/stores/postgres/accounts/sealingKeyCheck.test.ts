import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { createSealingKeyCheck } from '../../../../src/stores/postgres/accounts/sealing.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { useTestDatabase } from '../../../support/postgres.js'

describe('the registered encryption secret', () => {
  const { pool } = useTestDatabase()
  const [ours, theirs] = [randomBytes(32), randomBytes(32)]
  const markOf = (mark: Uint8Array) => createSealingKeyCheck(pool, mark)
  beforeEach(() => emptyTables(pool, 'sealing_secret'))

  it('is that of the first instance that encrypts; others neither encrypt nor start', async () => {
    await markOf(ours).check()
    await markOf(theirs).check()
    await markOf(ours).claim()
    await markOf(ours).claim()
    await markOf(ours).check()
    await expect(markOf(theirs).claim()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    await expect(markOf(theirs).check()).rejects.toThrow(/another secret. Set KEY_ENCRYPTION_SECRET/)
  })

  it('is one under concurrency', async () => {
    const outcomes = await Promise.allSettled([markOf(ours).claim(), markOf(theirs).claim()])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })
})
