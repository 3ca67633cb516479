import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { IdempotencyStore, IdempotentRequest } from '../../src/ports/idempotencyStore.js'
import type { Instance } from '../../src/stores/postgres/database/instance.js'
import { openPool } from '../../src/stores/postgres/database/pool.js'
import { createIdempotencyStore } from '../../src/stores/postgres/journal/idempotencyStore.js'
import { emptyTables } from '../support/emptyTables.js'
import { addInstance, killInstance } from '../support/instances.js'
import { useTestDatabase } from '../support/postgres.js'

const request: IdempotentRequest = { caller: 'key-1', key: 'order-1', fingerprint: 'a'.repeat(64) }
const otherFingerprint: IdempotentRequest = { ...request, fingerprint: 'b'.repeat(64) }
const otherCaller: IdempotentRequest = { ...request, caller: 'key-2' }
const reason = 'authorization_expired_unsettled'
const response = { success: true, transaction: '0x1', network: 'base', nested: { list: [1, null, 'ü'] } }

/** An optional cache in front of the durable store. */
interface CacheLayer {
  wrap(record: IdempotencyStore): IdempotencyStore
  /** Drops volatile state, as after a timeout or a restart. */
  forget(): Promise<void>
  close(): Promise<void>
}

export const noCacheLayer: CacheLayer = {
  wrap: (record) => record,
  forget: async () => undefined,
  close: async () => undefined,
}

/** Every idempotency store must pass this suite; two processes share the store. */
export const describeIdempotencyStore = (name: string, open: () => Promise<CacheLayer>): void => {
  describe(name, () => {
    const database = useTestDatabase({ stopsClock: true })
    let inFront: CacheLayer
    let ours: Instance
    let store: IdempotencyStore
    let theirStore: IdempotencyStore

    const { pool } = database
    const otherPool = database.otherPool
    beforeAll(async () => {
      inFront = await open()
    })
    afterAll(() => inFront.close())
    beforeEach(async () => {
      await emptyTables(pool, 'idempotent_requests', 'instances')
      await inFront.forget()
      ours = await addLiveInstance()
      store = inFront.wrap(createIdempotencyStore(pool, ours))
      theirStore = inFront.wrap(createIdempotencyStore(otherPool, await addLiveInstance()))
    })

    const addLiveInstance = () => addInstance(pool)
    const stopHeartbeat = async (instance: Instance) => {
      await killInstance(pool, instance)
      await inFront.forget()
    }
    const shutDown = async (instance: Instance) => {
      await pool.query('delete from instances where id = $1', [instance.id])
      await inFront.forget()
    }
    const age = async (time: string) => {
      await pool.query(
        `update idempotent_requests
       set created_at = created_at - $1::interval, started_at = started_at - $1::interval`,
        [time],
      )
      await inFront.forget()
    }
    const countKeys = async (): Promise<number> => {
      const { rows } = await pool.query<{ count: string }>('select count(*) from idempotent_requests')
      return Number(rows[0]?.count)
    }

    describe('begin', () => {
      it('starts the first request with a key, and reports it as running to the next', async () => {
        expect(await store.begin(request)).toEqual({ state: 'started' })
        expect(await store.begin(request)).toEqual({ state: 'running' })
        expect(await theirStore.begin(request)).toEqual({ state: 'running' })
      })

      it('replays the stored response unchanged', async () => {
        await store.begin(request)
        await store.answer(request, response)
        expect(await store.begin(request)).toEqual({ state: 'answered', response })
        expect(await theirStore.begin(request)).toEqual({ state: 'answered', response })
      })

      it('reports a permanently failed request with its reason', async () => {
        await store.begin(request)
        await store.fail(request, reason)
        expect(await theirStore.begin(request)).toEqual({ state: 'failed', reason })
      })

      it.each([
        { state: 'running', reach: async () => undefined },
        { state: 'answered', reach: () => store.answer(request, response) },
        { state: 'failed', reach: () => store.fail(request, reason) },
        { state: 'released', reach: () => store.release(request) },
      ])(
        'reports a mismatch for another payload with the key of a request that is $state',
        async ({ reach }) => {
          await store.begin(request)
          await reach()
          expect(await store.begin(otherFingerprint)).toEqual({ state: 'mismatch' })
          expect(await theirStore.begin(otherFingerprint)).toEqual({ state: 'mismatch' })
          expect(await theirStore.isMismatch(otherFingerprint)).toBe(true)
          expect(await theirStore.isMismatch(request)).toBe(false)
        },
      )

      it('separates the keys of different callers', async () => {
        await store.begin(request)
        await store.answer(request, response)
        expect(await store.begin({ ...otherFingerprint, caller: 'key-2' })).toEqual({ state: 'started' })
        await store.fail({ ...otherFingerprint, caller: 'key-2' }, reason)
        expect(await store.begin(request)).toEqual({ state: 'answered', response })
      })

      it('treats keys as case-sensitive', async () => {
        await store.begin(request)
        expect(await store.begin({ ...request, key: 'Order-1' })).toEqual({ state: 'started' })
      })

      it('starts exactly one of 20 concurrent requests', async () => {
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? store : theirStore).begin(request)),
        )
        expect(answers.filter(({ state }) => state === 'started')).toHaveLength(1)
        expect(answers.filter(({ state }) => state === 'running')).toHaveLength(19)
      })

      it('lets exactly one of 20 concurrent requests take over', async () => {
        await store.begin(request)
        await store.release(request)
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? store : theirStore).begin(request)),
        )
        expect(answers.filter(({ state }) => state === 'started')).toHaveLength(1)
      })
    })

    describe('a takeover', () => {
      const waysToLose = [
        { what: 'whose process stopped its heartbeat', lose: () => stopHeartbeat(ours) },
        {
          what: 'whose process shut down',
          lose: () => shutDown(ours),
        },
        { what: 'that was released', lose: () => store.release(request) },
        { what: 'that is older than the maximum run time', lose: () => age('181 seconds') },
      ]

      it.each(waysToLose)('restarts a request $what', async ({ lose }) => {
        await store.begin(request)
        await lose()
        expect(await theirStore.begin(request)).toEqual({ state: 'started' })
        expect(await theirStore.begin(request)).toEqual({ state: 'running' })
      })

      it.each(waysToLose)('of a request $what is refused for another payload', async ({ lose }) => {
        await store.begin(request)
        await lose()
        expect(await theirStore.begin(otherFingerprint)).toEqual({ state: 'mismatch' })
      })

      it('does not happen within 10 s without a heartbeat and 3 minutes of running', async () => {
        await store.begin(request)
        await pool.query("update instances set seen_at = now() - interval '9.9 seconds' where id = $1", [
          ours.id,
        ])
        await age('179 seconds')
        expect(await theirStore.begin(request)).toEqual({ state: 'running' })
      })

      it('restarts a request in its own process when a failover lost its end', async () => {
        await store.begin(request)
        await store.answer(request, response)
        await pool.query("update idempotent_requests set state = 'running', owner = $1, response = null", [
          ours.id,
        ])
        await inFront.forget()

        expect(await theirStore.begin(request)).toEqual({ state: 'running' })
        const answers = await Promise.all(Array.from({ length: 20 }, () => store.begin(request)))
        expect(answers.filter(({ state }) => state === 'started')).toHaveLength(1)
        expect(answers.filter(({ state }) => state === 'running')).toHaveLength(19)
      })

      it('gives the new owner the full run time', async () => {
        await store.begin(request)
        await age('181 seconds')
        expect(await theirStore.begin(request)).toEqual({ state: 'started' })
        await age('80 seconds')
        expect(await store.begin(request)).toEqual({ state: 'running' })
      })

      it.each([
        { late: 'answer', come: () => store.answer(request, { success: true, transaction: '0xlate' }) },
        { late: 'failure', come: () => store.fail(request, reason) },
        { late: 'release', come: () => store.release(request) },
        { late: 'forget', come: () => store.forget(request) },
      ])('is not undone by a late $late of the previous owner', async ({ come }) => {
        await store.begin(request)
        await stopHeartbeat(ours)
        await theirStore.begin(request)

        await come()
        expect(await theirStore.begin(request)).toEqual({ state: 'running' })

        await theirStore.answer(request, response)
        await come()
        expect(await store.begin(request)).toEqual({ state: 'answered', response })
      })

      it('never affects an answered request', async () => {
        await store.begin(request)
        await store.answer(request, response)
        await stopHeartbeat(ours)
        await age('23 hours')
        expect(await theirStore.begin(request)).toEqual({ state: 'answered', response })
      })
    })

    describe('isMismatch', () => {
      it("is false of a key that was never used, was forgotten, or is another caller's, and takes none", async () => {
        expect(await store.isMismatch(request)).toBe(false)
        expect(await store.begin(request)).toEqual({ state: 'started' })
        expect(await theirStore.isMismatch({ ...otherFingerprint, caller: 'key-2' })).toBe(false)
        await store.forget(request)
        expect(await theirStore.isMismatch(otherFingerprint)).toBe(false)
        expect(await countKeys()).toBe(0)
      })

      it('is true for 24 hours', async () => {
        await store.begin(request)
        await store.release(request)
        await age('23 hours 59 minutes')
        expect(await theirStore.isMismatch(otherFingerprint)).toBe(true)
        await age('4 minutes')
        expect(await theirStore.isMismatch(otherFingerprint)).toBe(false)
      })
    })

    describe('release and forget', () => {
      it('forget frees the key for any payload', async () => {
        await store.begin(request)
        await store.forget(request)
        expect(await countKeys()).toBe(0)
        expect(await store.begin(otherFingerprint)).toEqual({ state: 'started' })
      })

      it.each([
        { state: 'answered', reach: () => store.answer(request, response) },
        { state: 'failed', reach: () => store.fail(request, reason) },
      ])('do not change a request that is $state', async ({ reach }) => {
        await store.begin(request)
        await reach()
        const before = await store.begin(request)
        await store.release(request)
        await store.forget(request)
        expect(await store.begin(request)).toEqual(before)
      })

      it('do not affect the same key of another caller', async () => {
        await store.begin(request)
        await store.begin(otherCaller)
        await store.forget(otherCaller)
        expect(await store.begin(request)).toEqual({ state: 'running' })
      })
    })

    describe('after 24 hours', () => {
      it.each([
        { state: 'answered', reach: () => store.answer(request, response) },
        { state: 'failed', reach: () => store.fail(request, reason) },
        { state: 'released', reach: () => store.release(request) },
        { state: 'owned by a dead process', reach: () => stopHeartbeat(ours) },
      ])('the key of a request that is $state is free for any payload', async ({ reach }) => {
        await store.begin(request)
        await reach()
        await age('23 hours 59 minutes')
        expect(await theirStore.begin(otherFingerprint)).toEqual({ state: 'mismatch' })
        await age('4 minutes')
        expect(await theirStore.begin(otherFingerprint)).toEqual({ state: 'started' })
        await theirStore.answer(otherFingerprint, response)
        // The new request has its own 24 hours.
        await age('23 hours')
        expect(await store.begin(otherFingerprint)).toEqual({ state: 'answered', response })
      })

      it('a takeover does not extend them', async () => {
        await store.begin(request)
        await store.release(request)
        await age('23 hours')
        await theirStore.begin(request)
        await theirStore.answer(request, response)
        await age('61 minutes')
        expect(await store.begin(otherFingerprint)).toEqual({ state: 'started' })
      })

      it('a running request keeps its key', async () => {
        await store.begin(request)
        await store.release(request)
        await age('23 hours 59 minutes')
        await theirStore.begin(request)
        await pool.query("update idempotent_requests set created_at = created_at - interval '4 minutes'")
        await inFront.forget()
        await store.purge()
        expect(await store.begin(request)).toEqual({ state: 'running' })
        expect(await store.begin(otherFingerprint)).toEqual({ state: 'mismatch' })
      })
    })

    describe('purge', () => {
      it('deletes only records older than 24 hours that are not running', async () => {
        const old = ['answered', 'failed', 'released', 'dead'].map((key) => ({ ...request, key }))
        for (const one of old) await store.begin(one)
        await store.answer({ ...request, key: 'answered' }, response)
        await store.fail({ ...request, key: 'failed' }, reason)
        await store.release({ ...request, key: 'released' })
        await age('24 hours 1 minute')
        await theirStore.begin({ ...request, key: 'young' })
        await theirStore.answer({ ...request, key: 'young' }, response)
        await theirStore.begin({ ...request, key: 'running' })

        await store.purge()
        const { rows } = await pool.query<{ key: string }>('select key from idempotent_requests order by key')
        expect(rows.map(({ key }) => key)).toEqual(['running', 'young'])
      })
    })

    it('throws if the database is unavailable', async () => {
      const closed = openPool({ url: database.url, maxConnections: 1, onError: () => undefined })
      await closed.end()
      await expect(inFront.wrap(createIdempotencyStore(closed, ours)).begin(request)).rejects.toThrow()
      expect(await theirStore.begin(request)).toEqual({ state: 'started' })
    })
  })
}
