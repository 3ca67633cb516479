import { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../../../../src/platform/logger.js'
import type { Pause } from '../../../../src/ports/operatorPauses.js'
import { type Beat, heartbeatText, isTurn } from '../../../../src/stores/postgres/database/heartbeat.js'
import {
  type AnnouncedInstance,
  announceInstance,
  createJobLeases,
  type Instance,
} from '../../../../src/stores/postgres/database/instance.js'
import { createWorkFinder } from '../../../../src/stores/postgres/database/workFinder.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createSignerLanes } from '../../../../src/stores/postgres/lanes/signerLanes.js'
import { createPauseStore } from '../../../../src/stores/postgres/operator/operatorPauses.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance } from '../../../support/instances.js'
import { useTestDatabase } from '../../../support/postgres.js'

/* What heartbeats read, so that an idle instance asks nothing else. */

// Leases and heartbeats are some seconds old; the tests say when time passes.
const { pool, otherPool } = useTestDatabase({ stopsClock: true })
const announced: AnnouncedInstance[] = []

beforeEach(async () => {
  await emptyTables(pool, 'instances', 'job_leases', 'signer_lanes', 'operator_pauses', 'settlements')
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  // A request waits as long as it takes for the heartbeat that it sends.
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal)
})
afterEach(async () => {
  vi.restoreAllMocks()
  await Promise.all(announced.splice(0).map((instance) => instance.close()))
  vi.useRealTimers()
})

const announce = async (on: Pool = pool): Promise<AnnouncedInstance> => {
  const instance = await announceInstance(on, silentLogger, { isOnly: false })
  announced.push(instance)
  return instance
}
const beat = (instance: AnnouncedInstance): Promise<void> => instance.admit()
/** As after a heartbeat that did not come. */
const miss = (instance: Instance) =>
  pool.query("update instances set seen_at = now() - interval '6 seconds' where id = $1", [instance.id])
const kill = (instance: Instance) =>
  pool.query("update instances set seen_at = now() - interval '11 seconds' where id = $1", [instance.id])
/** Statements on the pool, which heartbeats do not use. */
const countStatements = (of: Pool) => {
  const query = vi.spyOn(of, 'query')
  const connect = vi.spyOn(of, 'connect')
  return () => query.mock.calls.length + connect.mock.calls.length
}

describe('the lease of a job', () => {
  const leaseMs = 60_000

  it('is kept by heartbeats of its holder, and known to others by theirs', async () => {
    const [one, other] = [await announce(), await announce(otherPool)]
    const [ours, theirs] = [createJobLeases(pool, one), createJobLeases(otherPool, other)]
    expect(await ours.take('reconcile', leaseMs)).toBe(true)
    await beat(one)
    await beat(other)
    const counts = [countStatements(pool), countStatements(otherPool)]
    expect(await ours.take('reconcile', leaseMs)).toBe(true)
    expect(await theirs.take('reconcile', leaseMs)).toBe(false)
    expect(counts.map((count) => count())).toEqual([0, 0])
  })

  it('is renewed while the holder asks for it, and expires when its job hangs', async () => {
    const one = await announce()
    const ours = createJobLeases(pool, one)
    await ours.take('reconcile', leaseMs)
    const age = () => pool.query("update job_leases set expires_at = now() + interval '5 seconds'")
    const readLeft = async () =>
      (
        await pool.query<{ left: number }>(
          'select extract(epoch from expires_at - now())::float8 as left from job_leases',
        )
      ).rows[0]?.left
    await age()
    await beat(one)
    expect(await readLeft()).toBeGreaterThan(10)
    vi.advanceTimersByTime(leaseMs + 1)
    // The heartbeats of that time come first.
    await beat(one)
    await age()
    await beat(one)
    expect(await readLeft()).toBeLessThan(10)
  })

  it('is asked for when its holder has missed a heartbeat, and taken over once it is dead', async () => {
    const [one, other] = [await announce(), await announce(otherPool)]
    await createJobLeases(pool, one).take('reconcile', 3_600_000)
    const theirs = createJobLeases(otherPool, other)
    await miss(one)
    await beat(other)
    expect(await theirs.take('reconcile', leaseMs)).toBe(false)
    await kill(one)
    expect(await theirs.take('reconcile', leaseMs)).toBe(true)
  })

  it('is asked for when our own heartbeats fail', async () => {
    const [one, other] = [await announce(), await announce(otherPool)]
    await createJobLeases(pool, one).take('reconcile', leaseMs)
    const theirs = createJobLeases(otherPool, other)
    await beat(other)
    const count = countStatements(otherPool)
    vi.advanceTimersByTime(4_000)
    expect(await theirs.take('reconcile', leaseMs)).toBe(false)
    expect(count()).toBeGreaterThan(0)
  })

  it('that is free is left for 4 s to an instance that holds others', async () => {
    const [one, other] = [await announce(), await announce(otherPool)]
    const [ours, theirs] = [createJobLeases(pool, one), createJobLeases(otherPool, other)]
    await ours.take('reconcile', 3_600_000)
    await beat(one)
    await beat(other)
    expect(await theirs.take('purge', leaseMs)).toBe(false)
    vi.advanceTimersByTime(3_900)
    await beat(other)
    expect(await theirs.take('purge', leaseMs)).toBe(false)
    vi.advanceTimersByTime(100)
    expect(await theirs.take('purge', leaseMs)).toBe(true)
    expect(await ours.take('webhooks', leaseMs)).toBe(true)
  })

  it('that was released is free at the next heartbeat', async () => {
    const other = await announce(otherPool)
    const gone = await addInstance(pool)
    await createJobLeases(pool, gone).take('reconcile', 3_600_000)
    const theirs = createJobLeases(otherPool, other)
    await beat(other)
    expect(await theirs.take('reconcile', leaseMs)).toBe(false)
    await pool.query('delete from instances where id = $1', [gone.id])
    await beat(other)
    expect(await theirs.take('reconcile', leaseMs)).toBe(true)
  })
})

describe('the lease of lanes', () => {
  const network = 'eip155:84532'
  const signers = ['0xa', '0xb']

  const share = async () => {
    const [one, other] = [await announce(), await announce(otherPool)]
    const [ours, theirs] = [createSignerLanes(pool, one), createSignerLanes(otherPool, other)]
    for (const signer of signers) await ours.advance({ network, signer }, 7)
    await beat(one)
    await beat(other)
    expect(await ours.lease(network, signers)).toEqual(['0xa'])
    expect(await theirs.lease(network, signers)).toEqual(['0xb'])
    await beat(one)
    await beat(other)
    return { one, other, ours, theirs }
  }

  it('is not asked for while nothing changes', async () => {
    const { ours, theirs } = await share()
    const counts = [countStatements(pool), countStatements(otherPool)]
    expect(await ours.lease(network, signers)).toEqual(['0xa'])
    expect(await theirs.lease(network, signers)).toEqual(['0xb'])
    expect(counts.map((count) => count())).toEqual([0, 0])
    expect(ours.peekNext({ network, signer: '0xb' })).toBe(7)
  })

  it('is renewed in time', async () => {
    const { one, ours } = await share()
    await pool.query("update signer_lanes set lease_expires_at = now() + interval '7 seconds'")
    await beat(one)
    expect(await ours.lease(network, signers)).toEqual(['0xa'])
    const { rows } = await pool.query(
      "select signer from signer_lanes where lease_expires_at > now() + interval '10 seconds'",
    )
    expect(rows).toEqual([{ signer: '0xa' }])
  })

  it('passes to others when its holder has died', async () => {
    const { one, other, theirs } = await share()
    await kill(one)
    await beat(other)
    expect(await theirs.lease(network, signers)).toEqual(signers)
  })

  it('is asked for at every round while its holder may be dead', async () => {
    const { one, other, theirs } = await share()
    await miss(one)
    await beat(other)
    expect(await theirs.lease(network, signers)).toEqual(['0xb'])
    // It has died since, which no heartbeat of the other one has read yet.
    await kill(one)
    expect(await theirs.lease(network, signers)).toEqual(signers)
  })

  it('is shared anew when another instance appears', async () => {
    const one = await announce()
    const ours = createSignerLanes(pool, one)
    for (const signer of signers) await ours.advance({ network, signer }, 0)
    expect(await ours.lease(network, signers)).toEqual(signers)
    await addInstance(pool)
    await beat(one)
    expect(await ours.lease(network, signers)).toEqual(['0xa'])
  })

  it('is asked for when our own heartbeats fail', async () => {
    const { ours } = await share()
    vi.advanceTimersByTime(4_000)
    const count = countStatements(pool)
    expect(ours.peekNext({ network, signer: '0xa' })).toBeNull()
    expect(await ours.lease(network, signers)).toEqual(['0xa'])
    expect(count()).toBeGreaterThan(0)
  })
})

describe('pauses', () => {
  const target = { kind: 'network', network: 'eip155:8453' } as const

  it('that another instance set are read with the next heartbeat, as they are listed', async () => {
    const one = await announce()
    const store = createPauseStore(pool, one.heartbeat)
    const read: (readonly Pause[])[] = []
    store.watch((pauses) => read.push(pauses))
    await createPauseStore(otherPool).set(
      { target, reason: 'Why', by: null },
      { address: null, maxPauses: 9 },
    )
    await beat(one)
    expect(read).toEqual([await store.list()])
    expect(read[0]).toMatchObject([{ target, reason: 'Why', by: null }])
  })

  it('of a kind that this version does not know fail no heartbeat', async () => {
    const one = await announce()
    const listener = vi.fn()
    one.heartbeat.onBeat(() => listener('before'))
    createPauseStore(pool, {
      isResting: one.heartbeat.isResting,
      onBeat: (listen) => one.heartbeat.onBeat((each) => listen({ ...each, pauses: [{ kind: 'planet' }] })),
    }).watch(() => listener('watched'))
    await beat(one)
    expect(listener.mock.calls).toEqual([['before']])
  })
})

describe('open settlements', () => {
  it('are known to be none without a statement', async () => {
    const one = await announce()
    const work = createWorkFinder(pool, one.heartbeat)
    await beat(one)
    const count = countStatements(pool)
    expect(await work.mayHave('openSettlements', 5_000)).toBe(false)
    expect(count()).toBe(0)
    vi.restoreAllMocks()
    await createSettlementJournal(pool, one).claim(claimOf({ network: 'eip155:84532' }))
    await beat(one)
    expect(await work.mayHave('openSettlements', 5_000)).toBe(true)
  })
})

describe('an instance without requests', () => {
  const job = 'reconcile'

  /**
   * Adds nine instances whose heartbeats stay recent. Of all ten, it is the turn of the announced one, so that its next turn is
   * the last one. The database's clock does not follow the clock of the test: every heartbeat begins at this turn again.
   */
  const addOthers = async () => {
    await pool.query(
      `insert into instances (id)
       select ((case when n <= floor(extract(epoch from now()) / 2)::bigint % 8 then '0000000' else 'fffffff' end)
         || n::text || '-0000-4000-8000-000000000000')::uuid
       from generate_series(1, 9) as n`,
    )
    await pool.query("update instances set seen_at = now() + interval '5 minutes'")
  }
  const countBeats = () => {
    const query = vi.spyOn(Pool.prototype, 'query')
    const isHeartbeat = (statement: unknown): boolean =>
      typeof statement === 'object' && statement !== null && Object.values(statement).includes(heartbeatText)
    const list = () => query.mock.results.filter((_, index) => isHeartbeat(query.mock.calls[index]?.[0]))
    return {
      count: () => list().length,
      pass: async (seconds: number) => {
        for (let passed = 0; passed < seconds; passed += 2) {
          vi.advanceTimersByTime(2_000)
          await Promise.allSettled(list().map(({ value }) => value))
        }
      },
    }
  }
  const readAheadSeconds = async ({ id }: Instance) =>
    (
      await pool.query<{ ahead: number }>(
        'select extract(epoch from seen_at - now())::float8 as ahead from instances where id = $1',
        [id],
      )
    ).rows[0]?.ahead ?? Number.NaN

  /** After a minute without requests, and one that follows. */
  const rest = async () => {
    const one = await announce()
    await addOthers()
    const beats = countBeats()
    await beats.pass(60)
    const before = beats.count()
    await beats.pass(64)
    return { one, beats, perMinute: beats.count() - before }
  }

  it('sends few heartbeats beside nine others after a minute, and counts as alive between them', async () => {
    const { one, perMinute } = await rest()
    expect(perMinute).toBeGreaterThanOrEqual(4)
    expect(perMinute).toBeLessThanOrEqual(16)
    expect(await readAheadSeconds(one)).toBeGreaterThan(10)
    expect(one.heartbeat.readLast()).not.toBeNull()
  })

  it('sends one before a request, and every 2 s after it, and reads what was paused meanwhile', async () => {
    const { one, beats } = await rest()
    const store = createPauseStore(pool, one.heartbeat)
    const read = vi.fn()
    store.watch(read)
    expect(store.isResting()).toBe(true)
    const target = { kind: 'network', network: 'eip155:8453' } as const
    await createPauseStore(otherPool).set(
      { target, reason: 'Why', by: null },
      { address: null, maxPauses: 9 },
    )
    await one.heartbeat.wake()
    expect(read).toHaveBeenLastCalledWith([expect.objectContaining({ target })], expect.any(Number))
    expect(await readAheadSeconds(one)).toBeLessThanOrEqual(0)
    expect(store.isResting()).toBe(false)
    expect(one.heartbeat.wake()).toBeNull()
    const before = beats.count()
    await beats.pass(20)
    expect(beats.count() - before).toBe(10)
  })

  it('lets one request wait for a database that does not answer, and none after it', async () => {
    const { one } = await rest()
    const error = new Error('The database is away')
    const query = vi.spyOn(Pool.prototype, 'query').mockImplementation(() => Promise.reject(error))
    const store = createPauseStore(pool, one.heartbeat)
    await one.heartbeat.wake()
    expect(one.heartbeat.wake()).toBeNull()
    // Pauses are read without heartbeats meanwhile.
    expect(store.isResting()).toBe(false)
    const before = query.mock.calls.length
    vi.advanceTimersByTime(4_000)
    expect(query.mock.calls.length - before).toBe(2)
    expect(one.heartbeat.wake()).toBeNull()
    expect(one.heartbeat.readLast()).toBeNull()
    query.mockRestore()
    await beat(one)
    expect(await readAheadSeconds(one)).toBeLessThanOrEqual(0)
  })

  it('does not rest while it holds the lease of a job, or a settlement is open', async () => {
    const one = await announce()
    await createJobLeases(pool, one).take(job, 3_600_000)
    await addOthers()
    const beats = countBeats()
    await beats.pass(80)
    expect(beats.count()).toBe(40)
    await pool.query('delete from job_leases')
    await createSettlementJournal(pool, one).claim(claimOf({ network: 'eip155:84532' }))
    await beats.pass(20)
    expect(beats.count()).toBe(50)
    expect(await readAheadSeconds(one)).toBeLessThanOrEqual(0)
  })

  it('takes over what an instance held that has died, and then sends one every 2 s', async () => {
    const { one, beats } = await rest()
    const holder = await addInstance(pool)
    await createJobLeases(pool, holder).take(job, 3_600_000)
    const ours = createJobLeases(pool, one)
    await beats.pass(16)
    expect(await ours.take(job, 60_000)).toBe(false)
    await kill(holder)
    await beats.pass(16)
    expect(await ours.take(job, 60_000)).toBe(true)
    expect(await readAheadSeconds(one)).toBeLessThanOrEqual(0)
    const before = beats.count()
    await beats.pass(20)
    expect(beats.count() - before).toBe(10)
  })

  it.each([3, 6, 10, 30])('is one of %i that take turns, of which one reads every 4 s', (instances) => {
    const of = (before: number): Beat => ({
      sentAt: 0,
      databaseMs: 123_456,
      others: instances - 1,
      before,
      jobs: new Map(),
      lanes: new Map(),
      pauses: [],
      hasOpenSettlements: false,
    })
    // The first one holds all leases, and the others watch it.
    const resting = Array.from({ length: instances - 1 }, (_, index) => of(index + 1))
    const read = Array.from({ length: 60 }, (_, slot) => resting.some((beat) => isTurn(beat, slot * 2_000)))
    expect(read.some((isRead, slot) => slot > 0 && !isRead && read[slot - 1] === false)).toBe(false)
  })
})
