import { describe, expect, it } from 'vitest'
import type { Core } from '../../src/compose.js'
import { openCore } from '../support/core.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'

describe('background work of three instances', () => {
  const database = useTestDatabase()

  interface Running {
    readonly core: Core
    readonly id: string
    stop(): Promise<void>
  }
  const start = async (): Promise<Running> => {
    const before = await listInstances()
    const core = await openCore({ databaseUrl: database.url })
    const [id = ''] = (await listInstances()).filter((each) => !before.includes(each))
    const stopJobs = core.startJobs()
    return {
      core,
      id,
      stop: async () => {
        await stopJobs()
        await core.close()
      },
    }
  }
  const listHolders = async () =>
    (await database.pool.query<{ job: string; holder: string }>('select job, holder from job_leases')).rows
  const listInstances = async () =>
    (await database.pool.query<{ id: string }>('select id from instances')).rows.map(({ id }) => id)

  it('is done by one of them, and by another one once that one is gone', async () => {
    const first = await start()
    await pollUntil(
      async () => (await listHolders()).length === first.core.jobs.filter(({ isShared }) => isShared).length,
      'the leases of all shared jobs',
      listHolders,
    )
    const instances = [first, await start(), await start()]
    expect(await listInstances()).toHaveLength(3)
    // On a busy machine a lease can lapse, and move once: then it is not the first one that is ended.
    const holder = await pollUntil(
      async () => {
        const holders = new Set((await listHolders()).map((each) => each.holder))
        return holders.size === 1 ? [...holders][0] : null
      },
      'one holder of all leases',
      listHolders,
    )

    const [ended, ...others] = instances.toSorted(
      (left, right) => Number(right.id === holder) - Number(left.id === holder),
    )
    expect(ended?.id).toBe(holder)
    await ended?.stop()
    const isTaken = (job: string) => async () => {
      const taken = (await listHolders()).find((each) => each.job === job)
      return taken !== undefined && taken.holder !== holder && (await listInstances()).includes(taken.holder)
    }
    for (const job of ['reconcileSettlements', 'detectReorgs', 'deliverWebhooks']) {
      await pollUntil(isTaken(job), `${job} to be taken over`)
    }
    await Promise.all(others.map((other) => other.stop()))
  })
})
