import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AccountStore, SealedKey } from '../../src/ports/accountStore.js'
import { createAccountCache } from '../../src/stores/memory/accountCache.js'
import {
  type AccountChanges,
  listenForAccountChanges,
} from '../../src/stores/postgres/accounts/accountChanges.js'
import { createAccountStore } from '../../src/stores/postgres/accounts/accountStore.js'
import { openPool } from '../../src/stores/postgres/database/pool.js'
import { apiKeyOf } from '../support/apiKeyOf.js'
import { createMemoryLogger, type MemoryLogger } from '../support/memoryLogger.js'
import { pollUntil } from '../support/pollUntil.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'

const newKey = (): SealedKey => ({ fingerprint: randomBytes(32), sealed: randomBytes(80) })

/** An instance as in production, with a count of database queries. */
interface Instance {
  readonly accounts: AccountStore
  readonly changes: AccountChanges
  readonly network: TcpProxy
  readonly logger: MemoryLogger
  countLookUps(): number
  close(): Promise<void>
}

const openInstance = async (database: TestDatabase): Promise<Instance> => {
  const url = new URL(database.url)
  const network = await startTcpProxy(Number(url.port))
  url.port = String(network.port)
  const listening: Pool = openPool({ url: url.href, maxConnections: 1, onError: () => undefined })
  const logger = createMemoryLogger()
  const changes = listenForAccountChanges(listening, logger)
  const store = createAccountStore(database.pool())
  let lookUps = 0
  const counted: AccountStore = {
    ...store,
    findByKey: (fingerprint) => {
      lookUps += 1
      return store.findByKey(fingerprint)
    },
  }
  return {
    accounts: createAccountCache(counted, changes),
    changes,
    network,
    logger,
    countLookUps: () => lookUps,
    close: async () => {
      await changes.close()
      await listening.end()
      await network.close()
    },
  }
}

describe('two instances that cache accounts', () => {
  let database: TestDatabase
  let ours: Instance
  let theirs: Instance

  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    await database.pool().query('truncate accounts, api_keys')
    ours = await openInstance(database)
    theirs = await openInstance(database)
    await pollUntil(() => ours.changes.isCurrent() && theirs.changes.isCurrent(), 'both to listen')
  })
  afterEach(async () => {
    await ours.close()
    await theirs.close()
  })

  const open = async () => {
    const key = newKey()
    const { account } = await ours.accounts.register({ email: 'ada@example.com', project: 'engine' }, key)
    for (const { accounts } of [ours, theirs]) await accounts.findByKey(key.fingerprint)
    return { key, account }
  }

  it('query the database once for a frequently used key', async () => {
    const { key, account } = await open()
    const before = theirs.countLookUps()
    for (let turn = 0; turn < 100; turn += 1) {
      expect((await theirs.accounts.findByKey(key.fingerprint))?.account).toEqual(account)
    }
    expect(theirs.countLookUps()).toBe(before)
  })

  it('do not cache unknown keys', async () => {
    const { fingerprint } = newKey()
    for (let turn = 0; turn < 3; turn += 1) expect(await ours.accounts.findByKey(fingerprint)).toBeNull()
    expect(ours.countLookUps()).toBe(3)
  })

  describe('reject a key that one of them rotated:', () => {
    const rotate = async (disturb = (): void => undefined) => {
      const { key, account } = await open()
      const notified: string[] = []
      theirs.changes.onChange((id) => notified.push(id))
      disturb()
      const fresh = newKey()
      await ours.accounts.rotate(account.id, key.fingerprint, fresh)
      const isRejectedBy = async ({ accounts }: Instance) =>
        (await accounts.findByKey(key.fingerprint)) === null
      const expectFresh = async () =>
        expect(await theirs.accounts.findByKey(fresh.fingerprint)).toMatchObject({
          account: { id: account.id },
        })
      return { notified, account, isRejectedBy, expectFresh }
    }

    it('the rotating one immediately, the other on notification', async () => {
      const { notified, account, isRejectedBy, expectFresh } = await rotate()
      expect(await isRejectedBy(ours)).toBe(true)
      await pollUntil(() => notified.includes(account.id), 'the notification')
      expect(await isRejectedBy(theirs)).toBe(true)
      await expectFresh()
    })

    it('the other although its listening connection stops responding', async () => {
      const { notified, isRejectedBy, expectFresh } = await rotate(() => theirs.network.hang())
      expect(await isRejectedBy(ours)).toBe(true)
      await pollUntil(() => isRejectedBy(theirs), 'the other instance')
      expect(notified).toEqual([])
      await expectFresh()
    })
  })

  it.each([
    { change: 'revoked', sql: "update accounts set status = 'revoked'", seen: null },
    { change: 'moved to another tier', sql: "update accounts set tier = 'scale'", seen: { tier: 'scale' } },
    {
      change: 'restricted',
      sql: "update accounts set allowed_ips = '{10.0.0.1}'",
      seen: { allowedIPs: ['10.0.0.1'] },
    },
    { change: 'without its key', sql: "update api_keys set status = 'revoked'", seen: null },
  ])('see an account that was $change by SQL', async ({ sql, seen }) => {
    const { key } = await open()
    await database.pool().query(sql)
    await pollUntil(async () => {
      const found = (await theirs.accounts.findByKey(key.fingerprint))?.account ?? null
      return seen === null ? found === null : found !== null && matches(found, seen)
    }, 'the change')
  })

  it('query the database while the listening connection is down, and cache again afterwards', async () => {
    const { key, account } = await open()
    await theirs.network.refuse()
    await pollUntil(() => !theirs.changes.isCurrent(), 'the loss to be noticed')
    await ours.accounts.rotate(account.id, key.fingerprint, newKey())
    expect(await theirs.accounts.findByKey(key.fingerprint)).toBeNull()

    await theirs.network.pass()
    await pollUntil(() => theirs.changes.isCurrent(), 'it to listen again')
    expect(await theirs.accounts.findByKey(key.fingerprint)).toBeNull()
    expect(theirs.logger.messages()).toEqual(['accounts.listener_lost', 'accounts.listener_restored'])
  })
})

describe('the cache', () => {
  afterEach(() => vi.useRealTimers())

  const account = {
    id: 'a',
    email: 'ada@example.com',
    project: 'engine',
    tier: 'free',
    status: 'active',
    createdAt: new Date(0),
    allowedIPs: null,
    allowedRef: null,
    quotaHolder: 'a',
  } as const
  const use = { account, key: apiKeyOf() }

  /** A store that is asked for keys only. */
  const storeOf = (findByKey: AccountStore['findByKey']): AccountStore => {
    const unused = async () => {
      throw new Error('Not asked')
    }
    return {
      register: unused,
      find: unused,
      listByEmail: unused,
      list: unused,
      rotate: unused,
      addKey: unused,
      listKeys: unused,
      revokeKey: unused,
      recordKeyUses: unused,
      setRestrictions: unused,
      setTier: unused,
      revoke: unused,
      count: unused,
      findByKey,
    }
  }

  it('does not return a key after its expiry, which no change announces', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const expiresAt = new Date(Date.now() + 40)
    let lookUps = 0
    const store = storeOf(async () => {
      lookUps += 1
      return Date.now() < expiresAt.getTime() ? { account, key: apiKeyOf({ expiresAt }) } : null
    })
    const cache = createAccountCache(store, { isCurrent: () => true, onChange: () => undefined })
    const { fingerprint } = newKey()
    expect(await cache.findByKey(fingerprint)).not.toBeNull()
    expect(await cache.findByKey(fingerprint)).not.toBeNull()
    vi.setSystemTime(expiresAt.getTime() - 1)
    expect(await cache.findByKey(fingerprint)).not.toBeNull()
    expect(lookUps).toBe(1)
    vi.setSystemTime(expiresAt)
    expect(await cache.findByKey(fingerprint)).toBeNull()
  })

  it('does not keep a read that started before a change and finished after it', async () => {
    const { fingerprint } = newKey()
    let announce = (_id: string): void => undefined
    let arrive = (): void => undefined
    let lookUps = 0
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve
    })
    const store = storeOf(async () => {
      lookUps += 1
      if (lookUps > 1) return null
      await arrived
      return use
    })
    const cache = createAccountCache(store, {
      isCurrent: () => true,
      onChange: (listener) => {
        announce = listener
      },
    })
    const early = cache.findByKey(fingerprint)
    announce(account.id)
    arrive()
    expect(await early).toBe(use)
    expect(await cache.findByKey(fingerprint)).toBeNull()
  })
})

const matches = (found: object, wanted: object): boolean =>
  Object.entries(wanted).every(
    ([name, value]) => JSON.stringify(Reflect.get(found, name)) === JSON.stringify(value),
  )
