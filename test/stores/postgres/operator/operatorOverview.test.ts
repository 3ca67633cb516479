import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createJobLeases } from '../../../../src/stores/postgres/database/instance.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createSignerLanes } from '../../../../src/stores/postgres/lanes/signerLanes.js'
import {
  createOverviewStore,
  measureWebhooks,
} from '../../../../src/stores/postgres/operator/operatorOverview.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance, killInstance } from '../../../support/instances.js'
import { useTestDatabase } from '../../../support/postgres.js'

// The leases of lanes last for seconds.
const { pool } = useTestDatabase({ stopsClock: true })
const store = createOverviewStore(pool)
const network = 'eip155:84532'

const claim = async (journal: ReturnType<typeof createSettlementJournal>) => {
  const claimed = await journal.claim(claimOf({ network, authorizationId: randomUUID() }))
  if (claimed === null) throw new Error('Claimed by another')
  return claimed.id
}

describe('what all instances share', () => {
  it('has lanes with their holder and the transactions that are not confirmed', async () => {
    const instance = await addInstance(pool)
    const journal = createSettlementJournal(pool, instance)
    const lanes = createSignerLanes(pool, instance)
    await lanes.advance({ network, signer: '0xa' }, 7)
    await lanes.lease(network, ['0xa'])
    const ids = [await claim(journal), await claim(journal)]
    const recorders = ids.map((id) => journal.recorderFor(id))
    await lanes.record({ network, signer: '0xa' }, recorders, async () => ({
      transaction: '0x1',
      bytes: '0xb1',
    }))
    // Two settlements of one transaction count once.
    expect(await store.listLanes()).toEqual([
      {
        network,
        signer: '0xa',
        nextNonce: '8',
        holder: instance.id,
        unconfirmed: 1,
        oldestSeconds: expect.any(Number),
      },
    ])
    // A replacement does not make its nonce younger.
    await pool.query("update broadcasts set recorded_at = now() - interval '10 minutes'")
    const [stuck] = await lanes.listFrom({ network, signer: '0xa' }, 0, 10)
    if (stuck === undefined) throw new Error('Nothing is recorded')
    await lanes.replace({ network, signer: '0xa' }, stuck, async () => ({
      transaction: '0x2',
      bytes: '0xb2',
    }))
    const [replaced] = await store.listLanes()
    expect(replaced).toMatchObject({ unconfirmed: 1 })
    expect(replaced?.oldestSeconds).toBeGreaterThanOrEqual(600)
    for (const id of ids) await journal.close(id, { state: 'confirmed', transaction: '0x2' })
    expect(await store.listLanes()).toMatchObject([{ unconfirmed: 0, oldestSeconds: null }])
    await killInstance(pool, instance)
    expect(await store.listLanes()).toMatchObject([{ holder: null }])
  })

  it('has the settlements of the last day by network, and those that were lost after a success', async () => {
    await emptyTables(pool, 'settlements')
    const journal = createSettlementJournal(pool, await addInstance(pool))
    for (const state of ['confirmed', 'failed', 'lost', 'old']) {
      const id = await claim(journal)
      await journal.recorderFor(id).record({ transaction: id, bytes: 'bytes' })
      await journal.close(
        id,
        state === 'failed' || state === 'lost'
          ? { state: 'failed', reason: 'transaction_failed', transaction: id }
          : { state: 'confirmed', transaction: id },
      )
      if (state === 'lost') await pool.query("update settlements set consumed_by = 'x' where id = $1", [id])
      if (state === 'old') {
        await pool.query("update settlements set created_at = now() - interval '25 hours' where id = $1", [
          id,
        ])
      }
    }
    expect(await store.countDay([network, 'eip155:1'])).toEqual([
      { network, confirmed: 1, failed: 2, lost: 1 },
      { network: 'eip155:1', confirmed: 0, failed: 0, lost: 0 },
    ])
  })

  it('has the webhooks that wait, counts no more than 10,000, and knows the oldest of any number', async () => {
    const insert = (count: number, age: string) =>
      pool.query(
        `insert into webhook_deliveries (account_id, type, data, created_at)
         select 'shop', 'settlement.confirmed', '{}', now() - $2::interval from generate_series(1, $1::int)`,
        [count, age],
      )
    expect(await store.measureWebhooks()).toEqual({ waiting: 0, isCountLimited: false, oldestSeconds: null })
    await insert(10_000, '1 hour')
    expect(await store.measureWebhooks()).toMatchObject({ waiting: 10_000, isCountLimited: false })
    // Beyond the bound, and the last of the table.
    await insert(10_000, '1 minute')
    await insert(1, '2 days')
    const { waiting, isCountLimited, oldestSeconds } = await store.measureWebhooks()
    expect([waiting, isCountLimited]).toEqual([10_000, true])
    expect(oldestSeconds).toBeGreaterThanOrEqual(2 * 86_400)
    await pool.query('analyze webhook_deliveries')
    const { rows } = await pool.query<Record<string, string>>(`explain ${measureWebhooks}`)
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(
      /Limit.*\n.*Index Only Scan using webhook_deliveries_oldest/,
    )
  })

  it('has the jobs with the instance that does them while it is alive', async () => {
    const instance = await addInstance(pool)
    await createJobLeases(pool, instance).take('purge', 3_600_000)
    expect(await store.listJobs()).toEqual([{ job: 'purge', holder: instance.id }])
    await killInstance(pool, instance)
    expect(await store.listJobs()).toEqual([{ job: 'purge', holder: null }])
  })

  it('has the instances, dead ones included', async () => {
    await pool.query('delete from instances')
    const [alive, dead] = [await addInstance(pool), await addInstance(pool)]
    await killInstance(pool, dead)
    expect(await store.listInstances()).toMatchObject([
      { id: alive.id, isAlive: true },
      { id: dead.id, isAlive: false },
    ])
  })
})
