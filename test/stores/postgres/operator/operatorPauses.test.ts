import { beforeEach, describe, expect, it } from 'vitest'
import type { PauseTarget } from '../../../../src/ports/operatorPauses.js'
import { createPauseStore } from '../../../../src/stores/postgres/operator/operatorPauses.js'
import { createOperatorRecords } from '../../../../src/stores/postgres/operator/operatorRecords.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { useTestDatabase } from '../../../support/postgres.js'

const database = useTestDatabase()
const ours = createPauseStore(database.pool)
const theirs = createPauseStore(database.otherPool)
const records = createOperatorRecords(database.pool, database.pool)
beforeEach(async () => {
  await emptyTables(database.pool, 'operator_pauses', 'operator_actions')
})

const targets: readonly PauseTarget[] = [
  { kind: 'network', network: 'eip155:8453' },
  { kind: 'scheme', network: 'eip155:8453', scheme: 'exact' },
  { kind: 'recipient', network: 'eip155:8453', payTo: '0xbob' },
  { kind: 'account', accountId: '0b8a7a0c-3f0e-4a9c-9d43-1f6f0a2a9d51' },
]
const target: PauseTarget = { kind: 'network', network: 'eip155:8453' }
const change = { address: '203.0.113.7', maxPauses: 100 }
const set = (reason: string, by: string | null = 'Ada', store = ours) =>
  store.set({ target, reason, by }, change)

describe('pauses in the database', () => {
  it('are read by other instances as they were set, the oldest first', async () => {
    for (const each of targets) await ours.set({ target: each, reason: 'Why', by: null }, change)
    const listed = await theirs.list()
    expect(listed.map((pause) => pause.target)).toEqual(targets)
    expect(listed[0]).toMatchObject({ reason: 'Why', by: null, since: expect.any(Date) })
  })

  it('are set once: the same again changes nothing, another reason keeps the time', async () => {
    const first = await set('Why')
    expect(await set('Why', 'Ada', theirs)).toEqual({ ...first, state: 'unchanged' })
    const second = await set('Because', 'Eve')
    if (first.state === 'full' || second.state === 'full') throw new Error('There is room')
    expect(second).toMatchObject({ state: 'set', pause: { reason: 'Because', by: 'Eve' } })
    expect(second.pause.since).toEqual(first.pause.since)
    expect(await ours.list()).toHaveLength(1)
  })

  it('are cleared once', async () => {
    await set('Why')
    const by = { name: 'Eve', address: null }
    expect(await theirs.clear(target, by)).toBe(true)
    expect(await ours.clear(target, by)).toBe(false)
    expect(await ours.list()).toEqual([])
  })

  it('are bounded, also while instances set some at the same time', async () => {
    const setMany = [...targets, ...targets].map((each, index) =>
      (index % 2 === 0 ? ours : theirs).set(
        { target: each, reason: `Why ${index}`, by: null },
        { address: null, maxPauses: 2 },
      ),
    )
    const results = await Promise.all(setMany)
    expect(results.filter(({ state }) => state === 'full').length).toBeGreaterThan(0)
    expect(await ours.list()).toHaveLength(2)
  })

  it('write each change, and nothing else, to the audit trail', async () => {
    await set('Why')
    await set('Why')
    await set('Because', null)
    await ours.clear(target, { name: 'Eve', address: null })
    await ours.clear(target, { name: 'Eve', address: null })
    const actions = await records.listActions({ limit: 10 })
    expect(
      actions.map(({ action, by, address, before, after }) => [
        action,
        by,
        address,
        before?.reason,
        after?.reason,
      ]),
    ).toEqual([
      ['pause.cleared', 'Eve', null, 'Because', undefined],
      ['pause.set', null, '203.0.113.7', 'Why', 'Because'],
      ['pause.set', 'Ada', '203.0.113.7', undefined, 'Why'],
    ])
    expect(actions[0]?.target).toEqual(target)
  })

  it('take no text that Postgres cannot store', async () => {
    expect(await set('W\0hy', 'A\0da')).toMatchObject({ pause: { reason: 'Why', by: 'Ada' } })
  })
})
