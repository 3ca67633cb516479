import { beforeEach, describe, expect, it } from 'vitest'
import { createAccountStore } from '../../../src/stores/postgres/accounts/accountStore.js'
import { emptyTables } from '../../support/emptyTables.js'
import { useTestDatabase } from '../../support/postgres.js'
import { openDashboard, useKey } from './scene.js'

const masked = 'qtn_sk_********'

describe('the dashboard with REGISTRATION=once', () => {
  const database = useTestDatabase()

  const dashboard = openDashboard(database, { registration: { mode: 'once' }, used: 42 })
  beforeEach(() => emptyTables(database.pool, 'accounts', 'api_keys'))

  const engine = { email: 'ada@example.com', projectName: 'engine' }

  it('shows the full key to the caller that creates it, and the key works', async () => {
    const { apiKey, isNew } = await dashboard.register(engine, 'stranger')
    expect(isNew).toBe(true)
    expect(await useKey(dashboard, apiKey)).toMatchObject({ email: 'ada@example.com', project: 'engine' })
  })

  it('shows a stranger who registers again a masked key and the tier, but no usage', async () => {
    const { apiKey } = await dashboard.register(engine, 'stranger')
    await createAccountStore(database.pool).setTier((await useKey(dashboard, apiKey)).id, 'scale')
    const again = await dashboard.register({ ...engine, email: 'ADA@example.com' }, 'stranger')
    expect(again).toMatchObject({ apiKey: masked, projectName: 'engine', isNew: false })
    expect(again.quota).toMatchObject({ tier: 'scale', used: 0 })
  })

  it('shows the full key and its usage to a trusted caller who registers again', async () => {
    const { apiKey } = await dashboard.register(engine, 'stranger')
    const again = await dashboard.register(engine, 'trusted')
    expect(again).toMatchObject({ apiKey, isNew: false, quota: { used: 42 } })
  })

  it('shows the full key to exactly one of 20 concurrent registrations', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => dashboard.register(engine, 'stranger')),
    )
    const created = answers.filter(({ isNew }) => isNew)
    expect(created).toHaveLength(1)
    expect(await useKey(dashboard, created[0]?.apiKey ?? '')).toMatchObject({ project: 'engine' })
    expect(answers.filter(({ isNew }) => !isNew).map(({ apiKey }) => apiKey)).toEqual(Array(19).fill(masked))
  })

  it('looks up the keys of an address, masked for a stranger and in full for a trusted caller', async () => {
    const one = await dashboard.register({ ...engine, projectName: 'one' }, 'stranger')
    const two = await dashboard.register({ ...engine, projectName: 'two' }, 'stranger')
    const found = await dashboard.lookUp('Ada@example.com', 'trusted')
    expect(found.keys.map(({ apiKey }) => apiKey)).toEqual([one.apiKey, two.apiKey])
    const shown = await dashboard.lookUp('Ada@example.com', 'stranger')
    expect(shown).toEqual({ ...found, keys: found.keys.map((key) => ({ ...key, apiKey: masked })) })
  })

  it('looks up no key of an unknown address for either viewer', async () => {
    for (const viewer of ['stranger', 'trusted'] as const) {
      expect(await dashboard.lookUp('eve@example.com', viewer)).toEqual({
        email: 'eve@example.com',
        keys: [],
      })
    }
  })

  it('lists the presented key in full, and other keys of the address in full to trusted callers only', async () => {
    const one = await dashboard.register({ ...engine, projectName: 'one' }, 'stranger')
    const two = await dashboard.register({ ...engine, projectName: 'two' }, 'stranger')
    const owner = await useKey(dashboard, two.apiKey)
    const list = async (viewer: 'stranger' | 'trusted') =>
      (await dashboard.listKeys(owner, viewer)).keys.map(({ apiKey, current }) => ({ apiKey, current }))
    expect(await list('stranger')).toEqual([
      { apiKey: masked, current: false },
      { apiKey: two.apiKey, current: true },
    ])
    expect(await list('trusted')).toEqual([
      { apiKey: one.apiKey, current: false },
      { apiKey: two.apiKey, current: true },
    ])
  })

  it('shows a rotated key only in the response of its rotation', async () => {
    const { apiKey } = await dashboard.register(engine, 'stranger')
    const rotated = await dashboard.rotateKey(await useKey(dashboard, apiKey), apiKey)
    expect((await dashboard.register(engine, 'stranger')).apiKey).toBe(masked)
    expect((await dashboard.register(engine, 'trusted')).apiKey).toBe(rotated.apiKey)
  })

  it('rejects a revoked project', async () => {
    const { apiKey } = await dashboard.register(engine, 'stranger')
    await createAccountStore(database.pool).revoke((await useKey(dashboard, apiKey)).id)
    await expect(dashboard.register(engine, 'stranger')).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })
})
