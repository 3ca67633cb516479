import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { createIdempotencyStore } from '../../../../src/stores/postgres/journal/idempotencyStore.js'
import { describeIdempotencyStore, noCacheLayer } from '../../../contracts/idempotencyStoreContract.js'
import { addInstance } from '../../../support/instances.js'
import { useTestDatabase } from '../../../support/postgres.js'

describeIdempotencyStore('the idempotency store', async () => noCacheLayer)

const counted = z.tuple([z.object({ updates: z.coerce.number(), inPlace: z.coerce.number() })])

const { url } = useTestDatabase()

it('answers on the page of the key, and writes no index, while other keys begin', async () => {
  // One connection: its statistics are complete once it has written them.
  const pool = openPool({ url, maxConnections: 1, onError: () => undefined })
  const store = createIdempotencyStore(pool, await addInstance(pool))
  const requests = Array.from({ length: 200 }, () => ({
    caller: randomUUID(),
    key: randomUUID(),
    fingerprint: 'f'.repeat(64),
  }))
  const response = {
    success: true,
    transaction: '0'.repeat(66),
    payer: '0'.repeat(42),
    rest: '0'.repeat(150),
  }
  for (const request of requests) await store.begin(request)
  for (const request of requests) await store.answer(request, response)

  await pool.query('select pg_stat_force_next_flush()')
  const { rows } = await pool.query(
    `select n_tup_upd as updates, n_tup_hot_upd as "inPlace" from pg_stat_user_tables
     where relname = 'idempotent_requests'`,
  )
  await pool.end()
  const [{ updates, inPlace }] = counted.parse(rows)
  expect(updates).toBe(200)
  expect(inPlace).toBeGreaterThanOrEqual(190)
})
