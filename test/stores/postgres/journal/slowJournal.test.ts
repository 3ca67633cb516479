import type { Pool, PoolClient } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SettlementClaim, SettlementJournal } from '../../../../src/ports/settlementJournal.js'
import { openPool, type PoolOptions } from '../../../../src/stores/postgres/database/pool.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance } from '../../../support/instances.js'
import { patientPool } from '../../../support/patientPool.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { rejectionOf } from '../../../support/rejectionOf.js'

const database = useTestDatabase()

/** Counts what is sent to the server. */
const countStatements = (pool: Pool) => {
  let count = 0
  pool.on('connect', (client: PoolClient) => {
    const { query } = client
    Object.assign(client, {
      query: (...given: readonly unknown[]): unknown => {
        count += 1
        return Reflect.apply(query, client, given)
      },
    })
  })
  return {
    take: (): number => {
      const taken = count
      count = 0
      return taken
    },
  }
}

describe('fifty claims at the same time', () => {
  let pool: Pool
  let statements: ReturnType<typeof countStatements>
  let journal: SettlementJournal

  beforeEach(() => emptyTables(database.pool, 'consumed_authorizations', 'settlements', 'instances'))
  afterEach(() => pool.end())
  const open = async (limits: Partial<PoolOptions> = {}) => {
    pool = openPool({ ...patientPool, url: database.url, maxConnections: 4, ...limits })
    statements = countStatements(pool)
    journal = createSettlementJournal(pool, await addInstance(database.pool))
    await pool.query('select')
    statements.take()
  }

  const list = (changes: Partial<SettlementClaim> = {}) =>
    Array.from({ length: 50 }, (_, index) =>
      claimOf({ authorizationId: `authorization ${index}`, ...changes }),
    )
  const listRows = async () => {
    const { rows } = await database.pool.query<{ authorization_id: string }>(
      'select authorization_id from settlements order by created_at, authorization_id',
    )
    return rows.map(({ authorization_id }) => authorization_id)
  }
  const whileHolding = async (lock: string, work: () => Promise<void>) => {
    const holder = await database.otherPool.connect()
    try {
      await holder.query(`begin; ${lock}`)
      await work()
    } finally {
      await holder.query('rollback')
      holder.release()
    }
  }

  it('are answered while the journal is locked, in one statement, and can be made afterwards', async () => {
    // The journal is locked until everything is answered; a longer limit only makes the test last longer.
    await open({ statementTimeoutMs: 4_000 })
    const claims = list()
    await whileHolding('lock table settlements in access exclusive mode', async () => {
      const answers = await Promise.all(claims.map((claim) => rejectionOf(journal.claim(claim))))
      expect(answers).toMatchObject(
        claims.map(() => ({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1, cause: { code: '57014' } })),
      )
      expect(statements.take()).toBe(1)
    })
    const settlements = await Promise.all(claims.map((claim) => journal.claim(claim)))
    expect(settlements.map((settlement) => settlement?.authorizationId)).toEqual(
      claims.map(({ authorizationId }) => authorizationId),
    )
    expect((await listRows()).toSorted()).toEqual(
      claims.map(({ authorizationId }) => authorizationId).toSorted(),
    )
    expect(statements.take()).toBe(1)
  })

  it('are all made but the one whose data Postgres refuses', async () => {
    await open()
    const claims = list().map((claim, index) =>
      index === 17 ? { ...claim, amount: 10n ** 90n, authorizedAmount: 10n ** 90n } : claim,
    )
    const results = await Promise.allSettled(claims.map((claim) => journal.claim(claim)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(49)
    expect(results[17]).toMatchObject({ status: 'rejected', reason: { code: '22003' } })
    expect(await listRows()).toHaveLength(49)
    expect(statements.take()).toBeLessThanOrEqual(13)
  })

  it('are all made but those whose locks are taken, however many those are, in few statements', async () => {
    const taken = [3, 17, 41]
    const locks = taken.map(
      (index) => `select pg_advisory_xact_lock(hashtextextended('authorization ${index}', 13))`,
    )
    await open()
    const claims = list()
    await whileHolding(locks.join('; '), async () => {
      const settlements = await Promise.all(
        claims.map((claim) => journal.claim(claim, null, { purpose: 'settle' })),
      )
      expect(settlements.flatMap((settlement, index) => (settlement === null ? [index] : []))).toEqual(taken)
      // The claim that waited, then one transaction: begin, locks, claim, commit.
      expect(statements.take()).toBe(5)
    })
    expect(await journal.claim(claimOf({ authorizationId: 'authorization 17' }))).not.toBeNull()
  })
})
