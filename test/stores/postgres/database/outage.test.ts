import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { createIdempotencyStore } from '../../../../src/stores/postgres/journal/idempotencyStore.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { addInstance } from '../../../support/instances.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { overTcp, startTcpProxy, type TcpProxy } from '../../../support/tcpProxy.js'

const claimed = {
  scheme: 'exact',
  network: 'eip155:84532',
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  payer: '0x2222222222222222222222222222222222222222',
  payTo: '0x3333333333333333333333333333333333333333',
  amount: 10_000n,
  authorizedAmount: 10_000n,
  expiresAt: null,
  resource: null,
  caller: 'anonymous',
  details: {},
  fingerprint: 'f'.repeat(64),
}

describe('a database outage while an instance releases its work', () => {
  const database = useTestDatabase()
  let network: TcpProxy
  let pool: Pool

  beforeAll(async () => {
    network = await startTcpProxy(Number(new URL(database.url).port))
    pool = openPool({ url: overTcp(database.url, network.port), maxConnections: 2, onError: () => undefined })
  })
  afterAll(async () => {
    await network.close()
    await pool.end()
  })
  beforeEach(() => network.pass())

  /** Of an instance that never counts as gone: only itself can end what it owns. */
  const openStores = async () => {
    const ours = await addInstance(database.pool)
    await database.pool.query("update instances set seen_at = 'infinity' where id = $1", [ours.id])
    const theirs = await addInstance(database.pool)
    return {
      journal: createSettlementJournal(pool, ours),
      keys: createIdempotencyStore(pool, ours),
      theirJournal: createSettlementJournal(database.pool, theirs),
      theirKeys: createIdempotencyStore(database.pool, theirs),
    }
  }

  it.each([{ verb: 'close' }, { verb: 'release' }, { verb: 'abandon' }] as const)(
    'is followed by a background write: $verb',
    async ({ verb }) => {
      const { journal, theirJournal } = await openStores()
      const settlement = await journal.claim({ ...claimed, authorizationId: `eip155:84532/${randomUUID()}` })
      if (settlement === null) throw new Error('Not claimed')
      const { id } = settlement
      await journal.recorderFor(id).record({ transaction: `0x${id}`, bytes: '0x00' })

      await network.refuse()
      const writes = {
        close: () => journal.close(id, { state: 'confirmed', transaction: `0x${id}` }),
        release: () => journal.release(id),
        abandon: () => journal.abandon(id),
      }
      await expect(writes[verb]()).rejects.toThrow()
      expect(await theirJournal.find(id)).toMatchObject({ state: 'pending', isOwned: true })

      await network.pass()
      await pollUntil(async () => (await theirJournal.find(id))?.isOwned === false, 'the row to be released')
      expect((await theirJournal.listOrphaned(100)).map((row) => row.id)).toContain(id)
    },
  )

  it.each([
    { verb: 'answer', expected: { state: 'answered', response: { success: true } } },
    { verb: 'fail', expected: { state: 'failed', reason: 'transaction_failed' } },
    { verb: 'release', expected: { state: 'started' } },
    { verb: 'forget', expected: { state: 'started' } },
  ] as const)('stores the outcome of a request with a key later: $verb', async ({ verb, expected }) => {
    const { keys, theirKeys } = await openStores()
    const request = { caller: 'anonymous', key: randomUUID(), fingerprint: 'a'.repeat(64) }
    await keys.begin(request)

    await network.refuse()
    const end = {
      answer: () => keys.answer(request, { success: true }),
      fail: () => keys.fail(request, 'transaction_failed'),
      release: () => keys.release(request),
      forget: () => keys.forget(request),
    }
    await expect(end[verb]()).rejects.toThrow()
    expect(await theirKeys.begin(request)).toEqual({ state: 'running' })

    await network.pass()
    const askAgain = async () => {
      const seen = await theirKeys.begin(request)
      return seen.state === 'running' ? null : seen
    }
    const answer = await pollUntil(askAgain, 'the end of the request')
    expect(answer).toEqual(expected)
  })

  it('does not let a late write of one run end the next run of the key', async () => {
    const { keys, theirKeys } = await openStores()
    const request = { caller: 'anonymous', key: randomUUID(), fingerprint: 'a'.repeat(64) }
    await network.refuse()
    await expect(keys.begin(request)).rejects.toThrow()
    await network.pass()
    expect(await keys.begin(request)).toEqual({ state: 'started' })

    // The competing write is later than ours, which was due first.
    const witness = { ...request, key: randomUUID() }
    await keys.begin(witness)
    await network.refuse()
    await expect(keys.release(witness)).rejects.toThrow()
    await network.pass()
    const hasEnded = async () => (await theirKeys.begin(witness)).state === 'started'
    await pollUntil(hasEnded, 'the later end')
    expect(await theirKeys.begin(request)).toEqual({ state: 'running' })
  })
})
