import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { JobLeases } from '../../../../src/ports/job.js'
import { createJobLeases, type Instance } from '../../../../src/stores/postgres/database/instance.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance, killInstance, reviveInstance } from '../../../support/instances.js'
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
    expect(await ours.take('reconcile', 3_600_000)).toBe(true)
    expect(await theirs.take('reconcile', 3_600_000)).toBe(false)
    expect(await ours.take('reconcile', 3_600_000)).toBe(true)
    expect(await theirs.take('purge', 3_600_000)).toBe(true)
  })

  it('are granted to exactly one of many concurrent instances', async () => {
    const leases = await Promise.all(
      Array.from({ length: 12 }, async (_, index) =>
        createJobLeases(index % 2 === 0 ? pool : otherPool, await addInstance(pool)),
      ),
    )
    const answers = await Promise.all(leases.map((each) => each.take('reconcile', 3_600_000)))
    expect(answers.filter((isHeld) => isHeld)).toHaveLength(1)
  })

  it('pass to another instance when the holder is dead', async () => {
    await ours.take('reconcile', 3_600_000)
    await killInstance(pool, ourInstance)
    expect(await theirs.take('reconcile', 3_600_000)).toBe(true)
    await reviveInstance(pool, ourInstance)
    expect(await ours.take('reconcile', 3_600_000)).toBe(false)
  })

  it('pass to another instance when the holder is alive but has not renewed them', async () => {
    await ours.take('reconcile', 3_600_000)
    await pool.query('update job_leases set expires_at = now()')
    expect(await theirs.take('reconcile', 3_600_000)).toBe(true)
    expect(await ours.take('reconcile', 3_600_000)).toBe(false)
  })

  it('are not asked again for a while after they were taken', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const remembering = createJobLeases(otherPool, await addInstance(pool), 3_000)
      await remembering.take('reconcile', 3_600_000)
      const query = vi.spyOn(otherPool, 'query')
      vi.advanceTimersByTime(2_999)
      expect(await remembering.take('reconcile', 3_600_000)).toBe(true)
      expect(query).not.toHaveBeenCalled()
      vi.advanceTimersByTime(1)
      expect(await remembering.take('reconcile', 3_600_000)).toBe(true)
      expect(query).toHaveBeenCalledOnce()
    } finally {
      vi.useRealTimers()
      vi.restoreAllMocks()
    }
  })

  it('write nothing where another instance holds the job', async () => {
    await ours.take('reconcile', 3_600_000)
    const read = async () =>
      (await pool.query('select xmin::text, xmax::text, expires_at from job_leases')).rows
    const before = await read()
    await theirs.take('reconcile', 3_600_000)
    expect(await read()).toEqual(before)
  })
})
