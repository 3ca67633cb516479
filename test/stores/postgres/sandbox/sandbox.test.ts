import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import type { ScenarioScript } from '../../../../src/ports/sandbox.js'
import {
  createSandboxInboxes,
  createSandboxScenarios,
} from '../../../../src/stores/postgres/sandbox/sandbox.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { insertJournalRows } from '../../../support/journalRows.js'
import { useTestDatabase } from '../../../support/postgres.js'

const { pool } = useTestDatabase()
beforeEach(async () => {
  await emptyTables(pool, 'sandbox_scenarios', 'sandbox_inboxes', 'sandbox_messages')
})

const later = () => new Date(Date.now() + 3_600_000)
const past = () => new Date(Date.now() - 1_000)

const script: ScenarioScript = {
  verifyRefusal: null,
  settle: { failure: 'insufficient_funds', pendingSeconds: 45 },
  reorg: { afterBlocks: 2, failure: null },
}

const open = (maximum = 100) => {
  const scenarios = createSandboxScenarios(pool, maximum)
  const create = (payer: string, expiresAt = later(), holders: readonly string[] = []) =>
    scenarios.create({ network: 'toy:1', payer, script, expiresAt, holders })
  const mustCreate = async (payer: string) => {
    const scenario = await create(payer)
    if (typeof scenario === 'string') throw new Error('The sandbox is full')
    return scenario
  }
  return { scenarios, create, mustCreate }
}

describe('a scenario', () => {
  it('is found by its payer and by its id, on every instance', async () => {
    const { mustCreate } = open()
    const created = await mustCreate('payer-1')
    expect(created).toMatchObject({ network: 'toy:1', payer: 'payer-1', script, clockMs: 0 })
    const { scenarios } = open()
    expect(await scenarios.find(created.id)).toEqual(created)
    expect(await scenarios.findByPayer('toy:1', 'payer-1')).toEqual(created)
    expect(await scenarios.findByPayer('toy:2', 'payer-1')).toBeNull()
  })

  it('has a clock that moves alone, and by all of two advances at once', async () => {
    const { scenarios, mustCreate } = open()
    const [first, second] = [await mustCreate('payer-1'), await mustCreate('payer-2')]
    await Promise.all([scenarios.advance(first.id, 45_000), scenarios.advance(first.id, 5_000)])
    expect(await scenarios.find(first.id)).toMatchObject({ clockMs: 50_000 })
    expect(await scenarios.find(second.id)).toMatchObject({ clockMs: 0 })
  })

  it('is gone once it expired, and then purged', async () => {
    const { scenarios, create } = open()
    const expired = await create('payer-1', past())
    const id = typeof expired === 'string' ? '' : expired.id
    expect(await scenarios.find(id)).toBeNull()
    expect(await scenarios.findByPayer('toy:1', 'payer-1')).toBeNull()
    expect(await scenarios.advance(id, 1_000)).toBeNull()
    await scenarios.purge()
    const { rows } = await pool.query('select id from sandbox_scenarios')
    expect(rows).toEqual([])
  })

  it('is refused beyond the maximum of live ones', async () => {
    const { create } = open(2)
    expect(await create('payer-1', past())).toMatchObject({ payer: 'payer-1' })
    expect(await create('payer-2')).toMatchObject({ payer: 'payer-2' })
    expect(await create('payer-3')).toMatchObject({ payer: 'payer-3' })
    expect(await create('payer-4')).toBe('full')
  })

  it('is refused to a holder that has its share, while there is room for others', async () => {
    const { create } = open(100)
    let made = 0
    const flood = async (holders: (index: number) => readonly string[]) => {
      const results = new Set<string>()
      for (let index = 0; index < 30; index += 1) {
        made += 1
        const created = await create(`payer-${made}`, later(), holders(index))
        results.add(typeof created === 'string' ? created : 'created')
      }
      return results
    }
    const countAll = async () =>
      (await pool.query('select 1 from sandbox_scenarios where expires_at > now()')).rows.length
    // Expired ones do not count.
    await create('expired', past(), ['address 192.0.2.1'])
    expect(await flood(() => ['address 192.0.2.1'])).toEqual(new Set(['created', 'share']))
    expect(await countAll()).toBe(12)
    // Many networks of one site have one share, and so have many addresses of one account.
    await flood((index) => [`address 2001:db8:0:${index}::/64`, 'site 2001:db8::/48'])
    await flood((index) => [`address 198.51.100.${index}`, 'account eve'])
    expect(await countAll()).toBeLessThan(100 / 2)
    for (let address = 0; address < 8; address += 1) await flood(() => [`address 203.0.113.${address}`])
    expect(await create('good', later(), ['address 192.0.2.77'])).toMatchObject({ payer: 'good' })
  })

  it("makes only its own payments' webhooks due earlier", async () => {
    const { scenarios, mustCreate } = open()
    const scenario = await mustCreate('payer-1')
    const settle = async (payer: string) => {
      const settlementId = randomUUID()
      await insertJournalRows(pool, {
        count: 1,
        columns: { id: `'${settlementId}'`, network: `'toy:1'`, payer: `'${payer}'` },
      })
      await pool.query(
        `insert into webhook_deliveries (account_id, type, settlement_id, data, due_at, is_ready)
         values ('account-1', 'settlement.confirmed', $1, '{}', now() + interval '1 hour', false)`,
        [settlementId],
      )
    }
    await settle('payer-1')
    await settle('payer-2')
    const dueInMs = (await scenarios.findNextDueMs(scenario.id)) ?? 0
    expect(dueInMs).toBeGreaterThan(1_800_000)
    expect(dueInMs).toBeLessThanOrEqual(3_600_000)
    await scenarios.advance(scenario.id, 3_600_000)
    expect(await scenarios.findNextDueMs(scenario.id)).toBe(0)
    const { rows } = await pool.query(
      `select s.payer from webhook_deliveries d join settlements s on s.id = d.settlement_id where d.due_at <= now()`,
    )
    expect(rows).toEqual([{ payer: 'payer-1' }])
    const { id } = await mustCreate('payer-3')
    expect(await scenarios.findNextDueMs(id)).toBeNull()
  })
})

describe('an inbox', () => {
  const inboxes = () => createSandboxInboxes(pool)
  const message = (body: string) => ({ headers: { 'webhook-id': 'm' }, body })

  it('answers 500 as often as it was created to, then 200, and keeps every message', async () => {
    const { id } = await inboxes().create({ failures: 2, expiresAt: later() })
    const statuses = []
    for (const body of ['a', 'b', 'c']) statuses.push(await inboxes().receive(id, message(body)))
    expect(statuses).toEqual([500, 500, 200])
    expect(await inboxes().find(id)).toMatchObject({ failuresLeft: 0 })
    const kept = await inboxes().listMessages(id)
    expect(kept.map(({ body, status }) => [body, status])).toEqual([
      ['c', 200],
      ['b', 500],
      ['a', 500],
    ])
  })

  it('counts its failures once when messages arrive at the same time', async () => {
    const { id } = await inboxes().create({ failures: 3, expiresAt: later() })
    const statuses = await Promise.all(
      Array.from({ length: 8 }, (_, index) => inboxes().receive(id, message(`${index}`))),
    )
    expect(statuses.filter((status) => status === 500)).toHaveLength(3)
  })

  it('keeps the newest 100 messages', async () => {
    const { id } = await inboxes().create({ failures: 0, expiresAt: later() })
    for (let index = 0; index < 105; index += 1) await inboxes().receive(id, message(`${index}`))
    const { rows } = await pool.query('select count(*)::int as count from sandbox_messages')
    expect(rows).toEqual([{ count: 100 }])
    const [newest] = await inboxes().listMessages(id)
    expect(newest?.body).toBe('104')
  })

  it('receives nothing once it expired', async () => {
    const { id } = await inboxes().create({ failures: 0, expiresAt: past() })
    expect(await inboxes().receive(id, message('a'))).toBeNull()
    expect(await inboxes().find(id)).toBeNull()
    await inboxes().purge()
    expect(await inboxes().listMessages(id)).toEqual([])
  })
})
