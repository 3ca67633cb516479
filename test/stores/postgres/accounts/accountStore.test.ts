import { randomBytes, randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { SealedKey } from '../../../../src/ports/accountStore.js'
import { createAccountStore } from '../../../../src/stores/postgres/accounts/accountStore.js'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { usePatientQueues } from '../../../support/patientQueues.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { overTcp, startTcpProxy } from '../../../support/tcpProxy.js'

const newKey = (): SealedKey => ({ fingerprint: randomBytes(32), sealed: randomBytes(80) })
const who = (over: Partial<{ email: string; project: string }> = {}) => ({
  email: 'ada@example.com',
  project: 'engine',
  ...over,
})

describe('accounts in Postgres', () => {
  const database = useTestDatabase()
  usePatientQueues()

  const { pool } = database
  const ours = createAccountStore(pool)
  const theirs = createAccountStore(database.otherPool)
  beforeEach(() => emptyTables(pool, 'accounts', 'api_keys', 'sealing_secret'))

  const countRows = async (table: 'accounts' | 'api_keys'): Promise<number> =>
    Number((await pool.query(`select count(*) from ${table}`)).rows[0].count)

  describe('findByKey', () => {
    it('shares few queries between many keys at the same time, and keeps their answers apart', async () => {
      const known = [newKey(), newKey()]
      for (const [index, key] of known.entries()) await ours.register(who({ project: `shop ${index}` }), key)
      const asked = [...Array.from({ length: 998 }, newKey), ...known]
      const query = vi.spyOn(pool, 'query')
      const uses = await Promise.all(asked.map(({ fingerprint }) => ours.findByKey(fingerprint)))
      expect(query.mock.calls.length).toBeLessThanOrEqual(4)
      query.mockRestore()
      expect(uses.slice(0, 998)).toEqual(Array.from({ length: 998 }, () => null))
      expect(uses.slice(998).map((use) => use?.account.project)).toEqual(['shop 0', 'shop 1'])
    })

    it('fails only for the key whose row cannot be read', async () => {
      const keys = [newKey(), newKey(), newKey()]
      for (const [index, key] of keys.entries()) await ours.register(who({ project: `shop ${index}` }), key)
      await pool.query('alter table api_keys drop constraint api_keys_scopes_check')
      try {
        await pool.query("update api_keys set scopes = '{refund}' where fingerprint = $1", [
          keys[1]?.fingerprint,
        ])
        const uses = await Promise.allSettled(
          [...keys, newKey()].map(({ fingerprint }) => ours.findByKey(fingerprint)),
        )
        expect(uses.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
      } finally {
        await emptyTables(pool, 'accounts', 'api_keys')
        await pool.query(
          `alter table api_keys add constraint api_keys_scopes_check
             check (cardinality(scopes) > 0 and scopes <@ array['verify', 'settle', 'read', 'manage'])`,
        )
      }
    })

    it('fails for all that share a query when the database fails, and works after that', async () => {
      const query = vi.spyOn(pool, 'query').mockImplementationOnce(() => {
        throw new Error('The connection is lost')
      })
      const shared = await Promise.allSettled(
        [newKey(), newKey()].map((key) => ours.findByKey(key.fingerprint)),
      )
      expect(shared.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      expect(await ours.findByKey(newKey().fingerprint)).toBeNull()
      query.mockRestore()
    })
  })

  describe('register', () => {
    it('opens an account of the free tier without restrictions', async () => {
      const key = newKey()
      const { account, sealed, isNew } = await ours.register(who(), key)
      expect(isNew).toBe(true)
      expect(Buffer.from(sealed)).toEqual(key.sealed)
      expect(account).toMatchObject({
        email: 'ada@example.com',
        project: 'engine',
        tier: 'free',
        status: 'active',
        allowedIPs: null,
        allowedRef: null,
      })
      expect((await ours.findByKey(key.fingerprint))?.account).toEqual(account)
      expect(await ours.find(account.id)).toEqual(account)
    })

    it('returns the same account and key again, for any letter case of the address', async () => {
      const first = await ours.register(who(), newKey())
      const lost = newKey()
      const again = await ours.register(who({ email: 'ADA@Example.COM' }), lost)
      expect(again).toEqual({ ...first, isNew: false })
      expect(await ours.findByKey(lost.fingerprint)).toBeNull()
      expect(await countRows('api_keys')).toBe(1)
    })

    it('opens separate accounts for other projects, and for other letter cases of a project', async () => {
      const first = await ours.register(who(), newKey())
      const second = await ours.register(who({ project: 'Engine' }), newKey())
      expect(second.isNew).toBe(true)
      expect(second.account.id).not.toBe(first.account.id)
    })

    it.each(['adа@example.com', 'ada@exampłe.com', '\u212Aelvin@example.com', 'ÀDA@example.com'])(
      'treats %s, which only looks similar, as another address',
      async (email) => {
        await ours.register(who(), newKey())
        await ours.register(who({ email: 'kelvin@example.com' }), newKey())
        await ours.register(who({ email: 'àda@example.com' }), newKey())
        expect((await ours.register(who({ email }), newKey())).isNew).toBe(true)
      },
    )

    it('creates one account with one key for 20 concurrent requests to two instances', async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_none, index) =>
          (index % 2 === 0 ? ours : theirs).register(
            who({ email: index % 3 === 0 ? 'ADA@example.com' : 'ada@example.com' }),
            newKey(),
          ),
        ),
      )
      expect(answers.filter(({ isNew }) => isNew)).toHaveLength(1)
      expect(new Set(answers.map(({ account }) => account.id)).size).toBe(1)
      expect(new Set(answers.map(({ sealed }) => Buffer.from(sealed).toString('hex'))).size).toBe(1)
      expect([await countRows('accounts'), await countRows('api_keys')]).toEqual([1, 1])
    })

    it('creates no account when its key cannot be stored', async () => {
      const key = newKey()
      await ours.register(who(), key)
      await expect(ours.register(who({ project: 'other' }), key)).rejects.toThrow(/unique/)
      expect(await countRows('accounts')).toBe(1)
    })
  })

  describe('rotate', () => {
    it('invalidates the old key and activates the new one', async () => {
      const [old, fresh] = [newKey(), newKey()]
      const { account } = await ours.register(who(), old)
      expect(await ours.rotate(account.id, old.fingerprint, fresh)).toBe(true)
      expect(await ours.findByKey(old.fingerprint)).toBeNull()
      expect((await ours.findByKey(fresh.fingerprint))?.account).toEqual(account)
      const again = await ours.register(who(), newKey())
      expect(Buffer.from(again.sealed)).toEqual(fresh.sealed)
    })

    it('succeeds once for concurrent requests to two instances', async () => {
      const old = newKey()
      const { account } = await ours.register(who(), old)
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_none, index) =>
          (index % 2 === 0 ? ours : theirs).rotate(account.id, old.fingerprint, newKey()),
        ),
      )
      expect(answers.filter(Boolean)).toHaveLength(1)
      expect(await ours.count()).toBe(1)
    })

    it("rejects another account's key, and an unknown account", async () => {
      const [first, second] = [newKey(), newKey()]
      const { account } = await ours.register(who(), first)
      await ours.register(who({ project: 'other' }), second)
      expect(await ours.rotate(account.id, second.fingerprint, newKey())).toBe(false)
      expect(await ours.rotate(randomUUID(), first.fingerprint, newKey())).toBe(false)
      expect((await ours.findByKey(first.fingerprint))?.account).toEqual(account)
    })
  })

  describe('revoke', () => {
    it('invalidates all keys permanently', async () => {
      const key = newKey()
      const { account } = await ours.register(who(), key)
      expect(await ours.revoke(account.id)).toBe(true)
      expect(await ours.findByKey(key.fingerprint)).toBeNull()
      expect(await ours.rotate(account.id, key.fingerprint, newKey())).toBe(false)
      expect(await ours.register(who(), newKey())).toMatchObject({
        isNew: false,
        account: { status: 'revoked' },
      })
      expect(await ours.count()).toBe(0)
      expect(await ours.revoke(randomUUID())).toBe(false)
    })

    it('leaves no active key in a race with a rotation', async () => {
      for (let turn = 0; turn < 25; turn += 1) {
        const key = newKey()
        const fresh = newKey()
        const { account } = await ours.register(who({ project: `turn ${turn}` }), key)
        await Promise.all([theirs.rotate(account.id, key.fingerprint, fresh), ours.revoke(account.id)])
        expect(await ours.findByKey(fresh.fingerprint)).toBeNull()
      }
      expect(await ours.count()).toBe(0)
    })
  })

  it("lists an address's accounts oldest first, each with its newest key", async () => {
    const first = await ours.register(who({ project: 'one' }), newKey())
    const second = await ours.register(who({ project: 'two', email: 'Ada@example.com' }), newKey())
    await ours.register(who({ project: 'three', email: 'eve@example.com' }), newKey())
    await pool.query("update accounts set created_at = now() - interval '1 day' where project = 'two'")
    const listed = await ours.listByEmail('ADA@EXAMPLE.COM')
    expect(listed.map(({ account }) => account.id)).toEqual([second.account.id, first.account.id])
    expect(listed.map(({ sealed }) => sealed)).toEqual([second.sealed, first.sealed])
    expect((await ours.list()).map(({ project }) => project)).toEqual(['two', 'one', 'three'])
  })

  it('keeps restrictions and the tier through a rotation', async () => {
    const [old, fresh] = [newKey(), newKey()]
    const { account } = await ours.register(who(), old)
    await ours.setRestrictions(account.id, { allowedIPs: ['10.0.0.0/8'], allowedRef: ['example.com'] })
    expect(await ours.setTier(account.id, 'scale')).toBe(true)
    expect(await ours.setTier(randomUUID(), 'scale')).toBe(false)
    await ours.rotate(account.id, old.fingerprint, fresh)
    expect((await ours.findByKey(fresh.fingerprint))?.account).toEqual({
      ...account,
      tier: 'scale',
      // Only free projects are customers together.
      customer: account.id,
      isProven: true,
      allowedIPs: ['10.0.0.0/8'],
      allowedRef: ['example.com'],
    })
    await ours.setRestrictions(account.id, { allowedIPs: null, allowedRef: null })
    expect(await ours.find(account.id)).toMatchObject({ allowedIPs: null, allowedRef: null })
  })

  it('gives up on a silent database before its pool does', async () => {
    const network = await startTcpProxy(Number(new URL(database.url).port))
    const distant = openPool({
      url: overTcp(database.url, network.port),
      maxConnections: 1,
      statementTimeoutMs: 3_600_000,
      onError: () => undefined,
    })
    try {
      await distant.query('select 1')
      network.hang()
      await expect(createAccountStore(distant).findByKey(randomBytes(32))).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        cause: { message: expect.stringMatching(/timeout/i) },
      })
    } finally {
      await network.close()
      await distant.end()
    }
  })

  it('has a constraint against two active keys of one account', async () => {
    const { account } = await ours.register(who(), newKey())
    const insert = 'insert into api_keys (account_id, fingerprint, sealed) values ($1, $2, $3)'
    await expect(pool.query(insert, [account.id, randomBytes(32), randomBytes(80)])).rejects.toThrow(
      /api_keys_one_active_per_account/,
    )
  })
})
