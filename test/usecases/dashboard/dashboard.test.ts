import { beforeEach, describe, expect, it } from 'vitest'
import {
  accountInfo,
  keyList,
  lookupResult,
  registerResult,
  rotatedKey,
  usage,
} from '../../../src/protocol/accounts.js'
import { createAccountStore } from '../../../src/stores/postgres/accounts/accountStore.js'
import { emptyTables } from '../../support/emptyTables.js'
import { useTestDatabase } from '../../support/postgres.js'
import { openDashboard, useKey } from './scene.js'

describe('the dashboard with REGISTRATION=open', () => {
  const database = useTestDatabase()

  const accounts = createAccountStore(database.pool)
  const dashboard = openDashboard(database)
  beforeEach(() => emptyTables(database.pool, 'accounts', 'api_keys'))

  const register = async (email = 'ada@example.com', projectName = 'engine') => {
    const { apiKey } = await dashboard.register({ email, projectName }, 'stranger')
    return { apiKey, account: await useKey(dashboard, apiKey) }
  }

  describe('register', () => {
    it('returns a well-formed key, and the same key the next time', async () => {
      const first = registerResult.parse(
        await dashboard.register({ email: ' ada@example.com ', projectName: ' engine ' }, 'stranger'),
      )
      expect(first).toEqual({
        apiKey: expect.stringMatching(/^qtn_sk_live_[0-9A-Za-z]{49}$/),
        projectName: 'engine',
        quota: {
          limit: 1_000,
          period: 'monthly',
          used: 0,
          tier: 'free',
          feeRate: 0,
          resetsAt: '2026-12-01T00:00:00.000Z',
        },
        isNew: true,
      })
      const again = await dashboard.register({ email: 'ADA@example.com', projectName: 'engine' }, 'stranger')
      expect(again).toEqual({ ...first, isNew: false })
    })

    it('returns the same key to 20 concurrent registrations, and isNew to one', async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () =>
          dashboard.register({ email: 'ada@example.com', projectName: 'engine' }, 'stranger'),
        ),
      )
      expect(new Set(answers.map(({ apiKey }) => apiKey)).size).toBe(1)
      expect(answers.filter(({ isNew }) => isNew)).toHaveLength(1)
      expect(await dashboard.countKeys()).toBe(1)
    })

    it('stores no readable key in the database', async () => {
      const { apiKey } = await register()
      const { rows } = await database.pool.query("select encode(sealed, 'escape') as sealed from api_keys")
      expect(rows[0].sealed).not.toContain(apiKey.slice(7, 20))
    })

    it('rejects a revoked project', async () => {
      const { account } = await register()
      await accounts.revoke(account.id)
      await expect(register()).rejects.toMatchObject({ code: 'FORBIDDEN' })
    })

    it.each([
      ...['', ' ', 'ada', 'ada@', '@example.com', 'ada@example', 'ada@@example.com', 'a@b@example.com'],
      ...['ada@example..com', 'ada@-example.com', 'ada@example-.com', 'ada@.com', '.ada@example.com'],
      ...['a..da@example.com', 'ada.@example.com', 'ada@[10.0.0.1]', 'ada@10.0.0.1', 'a da@example.com'],
      ...[
        'ada@exam ple.com',
        '"a da"@example.com',
        'Ada <ada@example.com>',
        'ada@example.com,eve@example.com',
      ],
      ...[
        'ada\r\nBcc: eve@example.com',
        'ada@example.com\0',
        'ada\u202e@example.com',
        'a\u200bda@example.com',
      ],
      ...['ada\u3164@example.com', 'ada@exam\u00adple.com', '\ud800@example.com'],
      `${'a'.repeat(65)}@example.com`,
      `ada@${'a.'.repeat(125)}example.com`,
      `${'a'.repeat(10_240)}@example.com`,
    ])('rejects the address %j', async (email) => {
      await expect(dashboard.register({ email, projectName: 'engine' }, 'stranger')).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        message: expect.stringMatching(/^email: /),
      })
      await expect(dashboard.lookUp(email, 'stranger')).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    })

    it.each([
      'a@b.co',
      "o'neil+tag@mail.example.co.uk",
      'ädа@münchen.example',
      '用户@例子.广告',
      'a_b-c@xn--bcher-kva.example',
    ])('accepts the address %j', async (email) => {
      const { account } = await register(email)
      expect(account.email).toBe(email)
    })

    it.each([
      ...[
        '',
        ' \t\n',
        'x'.repeat(101),
        '🚀'.repeat(101),
        'x'.repeat(10_240),
        'a\nb',
        'a\0b',
        'a\u0007b',
        'a\u009bb',
      ],
      ...[
        'a\u202eb',
        'a\u2066b',
        'a\u200eb',
        'a\u200bb',
        'a\u2028b',
        '\u200d',
        '\u3164',
        'a\ufeffb',
        '\u{e0041}a',
      ],
      '\udc00',
    ])('rejects the project name %j', async (projectName) => {
      await expect(
        dashboard.register({ email: 'ada@example.com', projectName }, 'stranger'),
      ).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        message: expect.stringMatching(/^projectName: /),
      })
    })

    it.each([
      'x'.repeat(100),
      '🚀'.repeat(100),
      "Ada's engine (β) #1",
      '👩‍💻 ❤️',
      'می‌خواهم',
      '<script>',
      "'; drop table accounts",
    ])('accepts the project name %j', async (projectName) => {
      const { account } = await register('ada@example.com', projectName)
      expect(account.project).toBe(projectName)
    })

    it('treats the NFC and NFD spelling of a name as the same project', async () => {
      const { account } = await register('zoe\u0308@example.com', 'cafe\u0301')
      const again = await register('zo\u00eb@example.com', 'caf\u00e9')
      expect(again.account).toEqual(account)
    })
  })

  it('looks up all keys of an address, and none of an unknown one', async () => {
    const one = await register('ada@example.com', 'one')
    const two = await register('Ada@example.com', 'two')
    await register('eve@example.com', 'three')
    const found = lookupResult.parse(await dashboard.lookUp('ADA@example.com', 'stranger'))
    expect(found.keys.map(({ apiKey, project, status }) => ({ apiKey, project, status }))).toEqual([
      { apiKey: one.apiKey, project: 'one', status: 'active' },
      { apiKey: two.apiKey, project: 'two', status: 'active' },
    ])
    expect(await dashboard.lookUp('nobody@example.com', 'stranger')).toEqual({
      email: 'nobody@example.com',
      keys: [],
    })
  })

  it('lists the keys of the caller’s address, with the one of the request marked', async () => {
    const one = await register('ada@example.com', 'one')
    const two = await register('ada@example.com', 'two')
    const { keys } = keyList.parse(await dashboard.listKeys(two.account, 'stranger'))
    expect(keys.map(({ apiKey, current }) => ({ apiKey, current }))).toEqual([
      { apiKey: one.apiKey, current: false },
      { apiKey: two.apiKey, current: true },
    ])
  })

  it('returns the account, its tier, its quota and its daily usage', async () => {
    const { account } = await register()
    const busy = openDashboard(database, { used: 42, webhookUrl: 'https://hooks.example/x' })
    const builder = { ...account, tier: 'builder' as const, allowedIPs: ['10.0.0.0/8'] }
    expect(accountInfo.parse(await busy.readInfo(builder))).toMatchObject({
      tier: 'builder',
      config: { name: 'Builder', monthlyQuota: 100_000, rpmLimit: 100, feeRate: 0.001 },
      quota: { limit: 100_000, used: 42, feeRate: 0.001 },
      email: 'ada@example.com',
      project: 'engine',
      status: 'active',
      webhookUrl: 'https://hooks.example/x',
      allowedIPs: ['10.0.0.0/8'],
      allowedRef: null,
    })
    expect(await dashboard.readInfo(account)).toMatchObject({ webhookUrl: '', allowedIPs: null })
    expect(await busy.readQuota(account)).toMatchObject({ limit: 1_000, used: 42 })
    const { days, usage: week } = usage.parse(await busy.readUsage(account))
    expect([days, week.length, week.at(-1)]).toEqual([7, 7, { date: '2026-11-21', count: 6 }])
  })

  describe('a key', () => {
    it.each([
      ['', 'empty'],
      ['qt_live_0123456789012345678901234567890123456789012', 'of another prefix'],
      ['QTN_SK_0123456789012345678901234567890123456789012', 'in another case'],
      [`qtn_sk_${'a'.repeat(42)}`, 'that is too short'],
      [`qtn_sk_${'a'.repeat(44)}`, 'that is too long'],
      [`qtn_sk_${'a'.repeat(42)}é`, 'with another letter'],
      [`qtn_sk_${'a'.repeat(43)}\n`, 'with a line’s end'],
      ['x'.repeat(100_000), 'that is huge'],
    ])('%j is rejected without a lookup: %s', async (apiKey) => {
      let lookUps = 0
      const watched = openDashboard(database, {
        accounts: {
          ...accounts,
          findByKey: async () => {
            lookUps += 1
            return null
          },
        },
      })
      await expect(useKey(watched, apiKey)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
      expect(lookUps).toBe(0)
    })

    it('that cannot be looked up receives SERVICE_UNAVAILABLE, not UNAUTHORIZED', async () => {
      const broken = openDashboard(database, {
        accounts: {
          ...accounts,
          findByKey: async () => {
            throw new Error('connect ECONNREFUSED')
          },
        },
      })
      await expect(useKey(broken, `qtn_sk_${'a'.repeat(43)}`)).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        retryAfterSeconds: 1,
      })
    })

    it('that is unknown, rotated or revoked is rejected with the same error', async () => {
      const rotated = await register('ada@example.com', 'one')
      await dashboard.rotateKey(rotated.account, rotated.apiKey)
      const revoked = await register('ada@example.com', 'two')
      await accounts.revoke(revoked.account.id)
      for (const apiKey of [`qtn_sk_${'a'.repeat(43)}`, rotated.apiKey, revoked.apiKey]) {
        await expect(useKey(dashboard, apiKey)).rejects.toMatchObject({
          code: 'UNAUTHORIZED',
          message: 'The API key is not valid',
        })
      }
    })

    it('is replaced immediately, and the new one belongs to the same account', async () => {
      const { account, apiKey } = await register()
      await dashboard.restrict(account, { allowedIPs: ['203.0.113.7'], allowedRef: [] })
      const rotated = rotatedKey.parse(await dashboard.rotateKey(account, apiKey))
      expect(rotated.project).toBe('engine')
      expect(rotated.apiKey).not.toBe(apiKey)
      await expect(useKey(dashboard, apiKey)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
      expect(await useKey(dashboard, rotated.apiKey)).toEqual({
        ...account,
        allowedIPs: ['203.0.113.7'],
        key: { ...account.key, id: expect.any(String), createdAt: expect.any(Date) },
      })
    })

    it('is replaced once by two concurrent rotations; the slower one receives UNAUTHORIZED', async () => {
      const { account, apiKey } = await register()
      const outcomes = await Promise.allSettled([
        dashboard.rotateKey(account, apiKey),
        dashboard.rotateKey(account, apiKey),
      ])
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      const [lost] = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
      expect(lost).toMatchObject({ code: 'UNAUTHORIZED' })
      expect(await dashboard.countKeys()).toBe(1)
    })

    it('of another account cannot be rotated by this one', async () => {
      const mine = await register('ada@example.com', 'one')
      const yours = await register('eve@example.com', 'two')
      await expect(dashboard.rotateKey(mine.account, yours.apiKey)).rejects.toMatchObject({
        code: 'UNAUTHORIZED',
      })
      expect(await useKey(dashboard, yours.apiKey)).toEqual(yours.account)
    })
  })

  describe('restrictions', () => {
    it('admit only the listed addresses, in any notation', async () => {
      const { account, apiKey } = await register()
      expect(
        await dashboard.restrict(account, {
          allowedIPs: ['10.1.2.3/8', '::ffff:192.0.2.1', ' 2001:DB8::/32 ', '10.0.0.0/8'],
          allowedRef: [],
        }),
      ).toEqual({ allowedIPs: ['10.0.0.0/8', '192.0.2.1', '2001:db8::/32'], allowedRef: [] })
      for (const address of ['10.9.9.9', '::ffff:10.0.0.1', '192.0.2.1', '2001:db8::7']) {
        expect(await useKey(dashboard, apiKey, { address })).toMatchObject({ id: account.id })
      }
      for (const address of ['11.0.0.1', '192.0.2.2', '2001:db9::1', 'unknown', '']) {
        await expect(useKey(dashboard, apiKey, { address })).rejects.toMatchObject({ code: 'FORBIDDEN' })
      }
    })

    it('admit only the listed hosts and their subdomains', async () => {
      const { account, apiKey } = await register()
      expect(
        await dashboard.restrict(account, {
          allowedIPs: [],
          allowedRef: ['Example.COM', 'example.com.', 'bücher.example', 'localhost'],
        }),
      ).toEqual({ allowedIPs: [], allowedRef: ['example.com', 'xn--bcher-kva.example', 'localhost'] })
      for (const refererHost of [
        'example.com',
        'shop.example.com',
        'a.b.example.com',
        'xn--bcher-kva.example',
      ]) {
        expect(await useKey(dashboard, apiKey, { refererHost })).toMatchObject({ id: account.id })
      }
      const strangers = ['example.org', 'notexample.com', 'example.com.evil.test', 'com', '', null]
      for (const refererHost of strangers) {
        await expect(useKey(dashboard, apiKey, { refererHost })).rejects.toMatchObject({ code: 'FORBIDDEN' })
      }
    })

    it('are removed by empty lists', async () => {
      const { account, apiKey } = await register()
      await dashboard.restrict(account, { allowedIPs: ['10.0.0.1'], allowedRef: ['example.com'] })
      await expect(useKey(dashboard, apiKey)).rejects.toMatchObject({ code: 'FORBIDDEN' })
      await dashboard.restrict(account, { allowedIPs: [], allowedRef: [] })
      expect(await useKey(dashboard, apiKey)).toMatchObject({ allowedIPs: null, allowedRef: null })
    })

    it('accept at most 100 entries', async () => {
      const { account, apiKey } = await register()
      const many = (count: number) =>
        Array.from({ length: count }, (_none, index) => `10.0.${Math.floor(index / 250)}.${index % 250}`)
      await dashboard.restrict(account, { allowedIPs: many(100), allowedRef: [] })
      expect(await useKey(dashboard, apiKey, { address: '10.0.0.99' })).toMatchObject({ id: account.id })
      for (const count of [101, 1_000]) {
        await expect(
          dashboard.restrict(account, { allowedIPs: many(count), allowedRef: [] }),
        ).rejects.toMatchObject({
          code: 'INVALID_REQUEST',
          message: 'allowedIPs: may have at most 100 entries',
        })
      }
    })

    it('reject malformed entries, naming each, without changing anything', async () => {
      const { account, apiKey } = await register()
      await expect(
        dashboard.restrict(account, {
          allowedIPs: ['10.0.0.1', '10.0.0.0/33', 'ten\u202e', 'x'.repeat(10_000)],
          allowedRef: [],
        }),
      ).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        message: `allowedIPs[1] "10.0.0.0/33", allowedIPs[2] "ten\ufffd", allowedIPs[3] "${'x'.repeat(60)}…": must be an IP address or a CIDR block`,
      })
      for (const entry of [
        'https://example.com',
        'example.com/path',
        'example.com:443',
        '*.example.com',
        '',
        'a b',
        '-a.com',
        'a..b',
        'me@example.com',
        `${'a'.repeat(64)}.com`,
        'example.com\0',
        'exa\u202emple.com',
      ]) {
        await expect(
          dashboard.restrict(account, { allowedIPs: [], allowedRef: ['example.com', entry] }),
        ).rejects.toMatchObject({
          code: 'INVALID_REQUEST',
          message: expect.stringMatching(/^allowedRef\[1\] .*: must be a host name/),
        })
      }
      expect(await useKey(dashboard, apiKey)).toEqual(account)
    })
  })
})
