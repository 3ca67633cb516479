import { beforeEach, describe, expect, it } from 'vitest'
import type { Mail } from '../../../src/ports/accountStore.js'
import type { KeyScope } from '../../../src/protocol/accounts.js'
import { createAccountStore } from '../../../src/stores/postgres/accounts/accountStore.js'
import { createApiKey, isApiKey } from '../../../src/usecases/dashboard/apiKey.js'
import type { DashboardUseCases } from '../../../src/usecases/dashboard/useCases.js'
import { emptyTables } from '../../support/emptyTables.js'
import { createManualClock, drainEventLoop } from '../../support/manualClock.js'
import { useTestDatabase } from '../../support/postgres.js'
import { openDashboard, useKey } from './scene.js'

const by = { actor: 'key Default (1)', address: '203.0.113.7' }

describe('an API key', () => {
  it.each(['live', 'test'] as const)('names the environment %s and carries a checksum', (environment) => {
    const key = createApiKey(environment)
    expect(key).toMatch(new RegExp(`^qtn_sk_${environment}_[0-9A-Za-z]{49}$`))
    expect(isApiKey(key)).toBe(true)
    for (let index = 12; index < key.length; index += 1) {
      const changed = `${key.slice(0, index)}${key[index] === 'a' ? 'b' : 'a'}${key.slice(index + 1)}`
      expect(isApiKey(changed), changed).toBe(false)
    }
    const other = environment === 'live' ? 'test' : 'live'
    expect(isApiKey(key.replace(environment, other))).toBe(false)
  })

  it('of the older form stays valid', () => {
    expect(isApiKey(`qtn_sk_${'a'.repeat(43)}`)).toBe(true)
  })
})

describe('the keys of a project', () => {
  const database = useTestDatabase()
  let dashboard: DashboardUseCases
  let mails: Mail[]
  beforeEach(async () => {
    await emptyTables(database.pool, 'accounts', 'api_keys', 'audit_log')
    mails = []
    dashboard = openDashboard(database, {
      clock: createManualClock(new Date()),
      mailer: { send: (mail) => void mails.push(mail), close: async () => undefined },
    })
  })

  const register = async (projectName = 'engine') => {
    const { apiKey } = await dashboard.register({ email: 'ada@example.com', projectName }, 'stranger', {
      address: '203.0.113.7',
      network: '203.0.113.7',
    })
    return { apiKey, holder: await useKey(dashboard, apiKey) }
  }
  const create = async (scopes?: readonly KeyScope[], expiresAt: Date | null = null) => {
    const { apiKey, holder } = await register()
    const created = await dashboard.createApiKey(holder, { name: ' Checkout ', scopes, expiresAt }, by)
    return { primary: apiKey, holder, created }
  }
  const inOneHour = () => new Date(Date.now() + 3_600_000)

  it('are created with a name, and belong to the same account', async () => {
    const { holder, created } = await create()
    expect(created).toMatchObject({
      name: 'Checkout',
      scopes: ['verify', 'settle', 'read', 'manage'],
      status: 'active',
      isPrimary: false,
      expiresAt: null,
      lastUsedAt: null,
    })
    const used = await useKey(dashboard, created.apiKey)
    expect({ ...used, key: null }).toEqual({ ...holder, key: null })
    // /register, /lookup and the number of keys are about primary keys only.
    expect(await dashboard.countKeys()).toBe(1)
  })

  it('are listed without the keys themselves, with the current one marked', async () => {
    const { created, primary } = await create(['verify', 'settle'])
    const { keys } = await dashboard.listApiKeys(await useKey(dashboard, created.apiKey))
    expect(
      keys.map(({ name, scopes, current, isPrimary }) => ({ name, scopes, current, isPrimary })),
    ).toEqual([
      { name: 'Default', scopes: ['verify', 'settle', 'read', 'manage'], current: false, isPrimary: true },
      { name: 'Checkout', scopes: ['verify', 'settle'], current: true, isPrimary: false },
    ])
    for (const key of [created.apiKey, primary]) expect(JSON.stringify(keys)).not.toContain(key)
  })

  it.each([
    ['verify', ['verify']],
    ['settle', ['verify', 'settle']],
    ['read', ['read']],
    ['manage', ['manage']],
  ] as const)('with the scope %s are refused without it', async (scope, scopes) => {
    const { created, primary } = await create(scopes)
    const use = (apiKey: string, needed: KeyScope) =>
      dashboard.authenticate({ apiKey, address: '203.0.113.7', refererHost: null, scope: needed })
    for (const needed of ['verify', 'settle', 'read', 'manage'] as const) {
      await expect(use(primary, needed)).resolves.toBeDefined()
      if (scopes.some((each) => each === needed))
        await expect(use(created.apiKey, needed)).resolves.toBeDefined()
      else await expect(use(created.apiKey, needed)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    }
    expect(scopes).toContain(scope)
  })

  it('cannot create a key with scopes that they lack, nor one that outlives them (A57)', async () => {
    const expiresAt = inOneHour()
    const { created } = await create(['read', 'manage'], expiresAt)
    const limited = await useKey(dashboard, created.apiKey)
    await expect(
      dashboard.createApiKey(limited, { name: 'More', scopes: ['settle'], expiresAt: null }, by),
    ).rejects.toMatchObject({ code: 'FORBIDDEN', message: expect.stringContaining('settle') })
    const child = await dashboard.createApiKey(limited, { name: 'Child', expiresAt: null }, by)
    expect(child).toMatchObject({ scopes: ['read', 'manage'], expiresAt: expiresAt.toISOString() })
  })

  it('do not reveal the primary key, which has more scopes (A57)', async () => {
    const once = openDashboard(database, { registration: { mode: 'once' } })
    const { apiKey } = await once.register({ email: 'ada@example.com', projectName: 'once' }, 'stranger')
    const holder = await useKey(once, apiKey)
    const created = await once.createApiKey(holder, { name: 'Reader', scopes: ['read'], expiresAt: null }, by)
    const { keys } = await once.listKeys(await useKey(once, created.apiKey), 'stranger')
    expect(keys).toMatchObject([{ current: true, apiKey: 'qtn_sk_********' }])
    expect((await once.listKeys(holder, 'stranger')).keys).toMatchObject([{ current: true, apiKey }])
  })

  it('expire', async () => {
    const { created } = await create(undefined, inOneHour())
    await expect(useKey(dashboard, created.apiKey)).resolves.toBeDefined()
    await database.pool.query(
      "update api_keys set expires_at = now() - interval '1 second' where public_id = $1",
      [created.id],
    )
    await expect(useKey(dashboard, created.apiKey)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })

  it('are revoked immediately; the primary one only by a rotation', async () => {
    const { created, holder } = await create()
    expect(await dashboard.revokeApiKey(holder, created.id, by)).toEqual({ id: created.id, revoked: true })
    await expect(useKey(dashboard, created.apiKey)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    await expect(dashboard.revokeApiKey(holder, created.id, by)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(dashboard.revokeApiKey(holder, holder.key.id, by)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    })
    const stranger = (await register('other')).holder
    await expect(dashboard.revokeApiKey(stranger, holder.key.id, by)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })

  it('number at most 50', async () => {
    const { holder } = await register()
    for (let index = 1; index < 50; index += 1) {
      await dashboard.createApiKey(holder, { name: `Key ${index}`, expiresAt: null }, by)
    }
    await expect(
      dashboard.createApiKey(holder, { name: 'Key 50', expiresAt: null }, by),
    ).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    })
  })

  it('keep name, scopes and expiry through a rotation', async () => {
    const expiresAt = inOneHour()
    const { created, holder } = await create(['read', 'manage'], expiresAt)
    const { apiKey } = await dashboard.rotateKey(holder, created.apiKey, { by })
    expect((await useKey(dashboard, apiKey)).key).toMatchObject({
      name: 'Checkout',
      scopes: ['read', 'manage'],
      expiresAt,
      isPrimary: false,
    })
    await expect(useKey(dashboard, created.apiKey)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })

  it('stay valid for the grace period of a rotation, without the scope manage, and rotate once', async () => {
    const { apiKey, holder } = await register()
    const rotated = await dashboard.rotateKey(holder, apiKey, { graceSeconds: 600, by })
    const retiring = await useKey(dashboard, apiKey)
    expect(retiring.key).toMatchObject({
      status: 'retiring',
      scopes: ['verify', 'settle', 'read'],
      isPrimary: false,
    })
    await expect(dashboard.rotateKey(holder, apiKey, { by })).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect((await useKey(dashboard, rotated.apiKey)).key).toMatchObject({ status: 'active', isPrimary: true })
    expect(await dashboard.countKeys()).toBe(1)
    await database.pool.query("update api_keys set expires_at = now() where status = 'retiring'")
    await expect(useKey(dashboard, apiKey)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })

  it('are all invalid after the account was revoked', async () => {
    const { apiKey, holder } = await register()
    const { apiKey: fresh } = await dashboard.rotateKey(holder, apiKey, { graceSeconds: 600, by })
    await createAccountStore(database.pool).revoke(holder.id)
    for (const key of [apiKey, fresh]) {
      await expect(useKey(dashboard, key)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    }
  })

  it('have every change recorded: what, when, by whom, from where; readable by their owner only', async () => {
    const { holder, created, primary } = await create(['read'])
    await dashboard.restrict(holder, { allowedIPs: ['203.0.113.7'], allowedRef: [] }, by)
    await dashboard.rotateKey(holder, primary, { by, graceSeconds: 60 })
    await dashboard.revokeApiKey(holder, created.id, by)
    const operator = { actor: 'operator', address: null }
    await createAccountStore(database.pool).setTier(holder.id, 'scale', { by: operator })
    const { entries } = await dashboard.readAudit(holder, { limit: 50 })
    expect(entries.map(({ action, actor, address }) => ({ action, actor, address }))).toEqual([
      { action: 'tier.changed', ...operator },
      { action: 'key.revoked', ...by },
      { action: 'key.rotated', ...by },
      { action: 'restrictions.changed', ...by },
      { action: 'key.created', ...by },
      { action: 'account.registered', actor: 'registration', address: '203.0.113.7' },
    ])
    expect(entries[0]?.details).toEqual({ from: 'free', to: 'scale' })
    expect(JSON.stringify(entries)).not.toMatch(/qtn_sk_/)
    const other = (await register('other')).holder
    const cursor = entries[0]?.id
    expect((await dashboard.readAudit(other, { limit: 50 })).entries).toHaveLength(1)
    expect((await dashboard.readAudit(other, { limit: 50, cursor })).entries).toEqual([])
    const page = await dashboard.readAudit(holder, { limit: 4 })
    const rest = await dashboard.readAudit(holder, { limit: 4, cursor: page.nextCursor })
    expect([...page.entries, ...rest.entries]).toEqual(entries)
  })

  it('have changes mailed to their owner, without text that a caller chose', async () => {
    const { holder } = await create()
    await dashboard.createApiKey(holder, { name: 'Call 0800 555', expiresAt: null }, by)
    for (let turn = 0; turn < 20; turn += 1) await drainEventLoop()
    expect(mails.map(({ to }) => to)).toEqual(['ada@example.com', 'ada@example.com'])
    expect(mails[1]?.text).toContain('An API key was created.')
    expect(mails[1]?.text).toContain('203.0.113.7')
    expect(JSON.stringify(mails)).not.toMatch(/0800|engine|qtn_sk_/)
  })

  it('show when they were last used, without invalidating caches', async () => {
    const { holder, created } = await create()
    const listener = await database.pool.connect()
    const announced: unknown[] = []
    listener.on('notification', (notification) => announced.push(notification.payload))
    await listener.query('listen account_changed')
    const at = new Date('2026-11-22T12:00:00Z')
    await createAccountStore(database.pool).recordKeyUses(new Map([[created.id, at]]))
    await listener.query('select 1')
    listener.release()
    expect(announced).toEqual([])
    const { keys } = await dashboard.listApiKeys(holder)
    expect(keys.map(({ lastUsedAt }) => lastUsedAt)).toEqual([null, at.toISOString()])
  })
})
