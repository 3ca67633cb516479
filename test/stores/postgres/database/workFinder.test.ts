import type { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Work } from '../../../../src/ports/job.js'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { createWorkFinder } from '../../../../src/stores/postgres/database/workFinder.js'
import { patientPool } from '../../../support/patientPool.js'
import { useTestDatabase } from '../../../support/postgres.js'

const works: readonly Work[] = [
  'credit',
  'holds',
  'intents',
  'openSettlements',
  'ownerChallenges',
  'queues',
  'streams',
  'unfinalSettlements',
  'webhooks',
]

const tables = [
  'credit_changes',
  'credit_pairs',
  'credit_scores',
  'discovery_challenges',
  'held_payments',
  'intents',
  'open_settlements',
  'streams',
  'unfinal_settlements',
  'webhook_deliveries',
]

describe('work', () => {
  const database = useTestDatabase()
  let pool: Pool
  beforeEach(async () => {
    // One connection, whose tables have the columns of the others and none of their constraints.
    pool = openPool({ ...patientPool, url: database.url, maxConnections: 1 })
    for (const table of tables) {
      await pool.query(`create temporary table ${table} as table public.${table} with no data`)
    }
  })
  afterEach(async () => {
    vi.useRealTimers()
    await pool.end()
  })

  const listFound = async (): Promise<readonly Work[]> => {
    const finder = createWorkFinder(pool, { readLast: () => null, isResting: () => false })
    const found = await Promise.all(works.map((work) => finder.mayHave(work, 60_000)))
    return works.filter((_, index) => found[index])
  }
  const due = "now() - interval '1 second'"
  const later = "now() + interval '1 hour'"

  it.each<readonly [Work | readonly Work[], string, string]>([
    ['credit', 'credit_changes (wallet)', "'a'"],
    ['credit', 'credit_pairs (payer)', "'a'"],
    ['credit', 'credit_scores (scored_at)', "now() - interval '25 hours'"],
    ['holds', 'held_payments (network)', "'eip155:1'"],
    ['intents', 'intents (status)', "'executing'"],
    ['intents', 'intents (status)', "'pending'"],
    ['intents', 'intents (status)', "'routed'"],
    [['openSettlements', 'queues'], 'open_settlements (settlement_id)', 'gen_random_uuid()'],
    ['ownerChallenges', 'discovery_challenges (state)', "'waiting'"],
    ['streams', 'streams (state)', "'active'"],
    ['streams', 'streams (state)', "'paused'"],
    ['streams', 'streams (state)', "'closing'"],
    ['unfinalSettlements', 'unfinal_settlements (settlement_id)', 'gen_random_uuid()'],
    [['queues', 'webhooks'], 'webhook_deliveries (state, is_ready, due_at)', `'waiting', true, ${later}`],
    [['queues', 'webhooks'], 'webhook_deliveries (state, is_ready, due_at)', `'waiting', false, ${due}`],
    ['queues', 'webhook_deliveries (state, is_ready, due_at)', `'waiting', false, ${later}`],
  ])('of the kind %s is %s with %s', async (work, columns, values) => {
    await pool.query(`insert into ${columns} values (${values})`)
    expect(await listFound()).toEqual([work].flat())
  })

  it.each([
    ['credit_scores (scored_at)', "now() - interval '23 hours'"],
    ['intents (status)', "'completed'"],
    ['discovery_challenges (state)', "'answered'"],
    ['streams (state)', "'settled'"],
    ['webhook_deliveries (state, is_ready, due_at)', `'delivered', false, ${due}`],
  ])('is not %s with %s', async (columns, values) => {
    await pool.query(`insert into ${columns} values (${values})`)
    expect(await listFound()).toEqual([])
  })

  it('is asked for once by all jobs, and anew by a job for which the answer is too old', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const query = vi.spyOn(pool, 'query')
    const finder = createWorkFinder(pool, { readLast: () => null, isResting: () => false })
    await Promise.all(works.map((work) => finder.mayHave(work, 500)))
    vi.advanceTimersByTime(499)
    await finder.mayHave('streams', 500)
    expect(query).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(1)
    await finder.mayHave('streams', 500)
    expect(query).toHaveBeenCalledTimes(2)
    await finder.mayHave('webhooks', 0)
    expect(query).toHaveBeenCalledTimes(3)
  })

  it('is asked for again after a failure', async () => {
    vi.spyOn(pool, 'query').mockRejectedValueOnce(new Error('the server is gone') as never)
    const finder = createWorkFinder(pool, { readLast: () => null, isResting: () => false })
    await expect(finder.mayHave('streams', 60_000)).rejects.toThrow('gone')
    expect(await finder.mayHave('streams', 60_000)).toBe(false)
  })
})
