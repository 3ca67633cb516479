import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { JobLeases } from '../../../../src/ports/job.js'
import { createJobLeases, type Instance } from '../../../../src/stores/postgres/database/instance.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance, killInstance } from '../../../support/instances.js'
import { useTestDatabase } from '../../../support/postgres.js'

describe('job leases', () => {
  const { pool, otherPool } = useTestDatabase()
  let ours: JobLeases
  let theirs: JobLeases
  let ourInstance: Instance

  beforeEach(async () => {
    await emptyTables(pool, 'instances', 'job_leases')
    ourInstance = await addInstance(pool)
    ours = createJobLeases(pool, ourInstance)
    theirs = createJobLeases(otherPool, await addInstance(pool))
  })

  it('are granted to one instance, which keeps the job, and per job', async () => {
    expect(await ours.take('reconcile', 60_000)).toBe(true)
    expect(await theirs.take('reconcile', 60_000)).toBe(false)
    expect(await ours.take('reconcile', 60_000)).toBe(true)
    expect(await theirs.take('purge', 60_000)).toBe(true)
  })

  it('are granted to exactly one of many concurrent instances', async () => {
    const leases = await Promise.all(
      Array.from({ length: 12 }, async (_, index) =>
        createJobLeases(index % 2 === 0 ? pool : otherPool, await addInstance(pool)),
      ),
    )
    const answers = await Promise.all(leases.map((each) => each.take('reconcile', 60_000)))
    expect(answers.filter((isHeld) => isHeld)).toHaveLength(1)
  })

  it('pass to another instance when the holder is dead', async () => {
    await ours.take('reconcile', 3_600_000)
    await killInstance(pool, ourInstance)
    expect(await theirs.take('reconcile', 60_000)).toBe(true)
    await pool.query('update instances set seen_at = now()')
    expect(await ours.take('reconcile', 60_000)).toBe(false)
  })

  it('pass to another instance when the holder is alive but has not renewed them', async () => {
    await ours.take('reconcile', 60_000)
    await pool.query("update job_leases set expires_at = expires_at - interval '60 seconds'")
    expect(await theirs.take('reconcile', 60_000)).toBe(true)
    expect(await ours.take('reconcile', 60_000)).toBe(false)
  })

  describe('of an instance that remembers them', () => {
    const memoryMs = 3_000
    afterEach(() => {
      vi.useRealTimers()
      vi.restoreAllMocks()
    })

    const countQueries = () => {
      const query = vi.spyOn(otherPool, 'query')
      return () => query.mock.calls.length
    }

    it('are read once for all jobs of others, and taken over after that time', async () => {
      vi.useFakeTimers({ toFake: ['performance'] })
      const remembering = createJobLeases(otherPool, await addInstance(pool), memoryMs)
      for (const job of ['reconcile', 'purge']) await ours.take(job, 60_000)
      const count = countQueries()
      for (const job of ['reconcile', 'purge', 'reconcile'])
        expect(await remembering.take(job, 60_000)).toBe(false)
      expect(count()).toBe(1)
      await killInstance(pool, ourInstance)
      vi.advanceTimersByTime(memoryMs - 1)
      expect(await remembering.take('reconcile', 60_000)).toBe(false)
      vi.advanceTimersByTime(1)
      expect(await remembering.take('reconcile', 60_000)).toBe(true)
      expect(count()).toBe(3)
    })

    it('are not renewed at every round', async () => {
      vi.useFakeTimers({ toFake: ['performance'] })
      const remembering = createJobLeases(otherPool, await addInstance(pool), memoryMs)
      await remembering.take('reconcile', 60_000)
      const count = countQueries()
      expect(await remembering.take('reconcile', 60_000)).toBe(true)
      expect(count()).toBe(0)
      vi.advanceTimersByTime(memoryMs)
      expect(await remembering.take('reconcile', 60_000)).toBe(true)
      expect(count()).toBe(2)
    })

    it('are asked again at once after a failure', async () => {
      const remembering = createJobLeases(otherPool, await addInstance(pool), 600_000)
      vi.spyOn(otherPool, 'query').mockRejectedValueOnce(new Error('the server is gone') as never)
      await expect(remembering.take('reconcile', 60_000)).rejects.toThrow('gone')
      expect(await remembering.take('reconcile', 60_000)).toBe(true)
    })
  })

  it('write nothing where another instance holds the job', async () => {
    await ours.take('reconcile', 60_000)
    const read = async () =>
      (await pool.query('select xmin::text, xmax::text, expires_at from job_leases')).rows
    const before = await read()
    await theirs.take('reconcile', 60_000)
    expect(await read()).toEqual(before)
  })
})
