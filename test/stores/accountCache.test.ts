import { randomBytes } from 'node:crypto'
import { Client, type Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AccountStore, SealedKey } from '../../src/ports/accountStore.js'
import { createAccountCache, unknownKeyMs } from '../../src/stores/cache/accountCache.js'
import {
  type AccountChanges,
  listenForAccountChanges,
  sleepUntilQuiet,
} from '../../src/stores/postgres/accounts/accountChanges.js'
import { createAccountStore } from '../../src/stores/postgres/accounts/accountStore.js'
import { openPool } from '../../src/stores/postgres/database/pool.js'
import { deferred } from '../http/support/sockets.js'
import { apiKeyOf } from '../support/apiKeyOf.js'
import { emptyTables } from '../support/emptyTables.js'
import { createMemoryLogger, type MemoryLogger } from '../support/memoryLogger.js'
import { pollUntil } from '../support/pollUntil.js'
import { type SuiteDatabase, useTestDatabase } from '../support/postgres.js'
import { overTcp, startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'

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

const openInstance = async (database: SuiteDatabase, idleAfterMs?: number): Promise<Instance> => {
  const network = await startTcpProxy(Number(new URL(database.url).port))
  const listening: Pool = openPool({
    url: overTcp(database.url, network.port),
    maxConnections: 1,
    onError: () => undefined,
  })
  const logger = createMemoryLogger()
  const changes = listenForAccountChanges(listening, logger, idleAfterMs)
  const store = createAccountStore(database.pool)
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
  const database = useTestDatabase()
  let ours: Instance
  let theirs: Instance
  beforeEach(async () => {
    await emptyTables(database.pool, 'accounts', 'api_keys')
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
    // While the machine stands still for two seconds, no notification proves that the cache is current.
    await pollUntil(async () => {
      const before = theirs.countLookUps()
      for (let turn = 0; turn < 100; turn += 1) {
        expect((await theirs.accounts.findByKey(key.fingerprint))?.account).toEqual(account)
      }
      return theirs.countLookUps() === before
    }, 'a hundred uses without a query')
  })

  it('know a key at once that the other one created', async () => {
    const key = newKey()
    const { account } = await theirs.accounts.register({ email: 'bob@example.com', project: 'shop' }, key)
    expect((await ours.accounts.findByKey(key.fingerprint))?.account).toEqual(account)
  })

  it('know a key soon that the other one created after it was looked up in vain', async () => {
    const key = newKey()
    expect(await ours.accounts.findByKey(key.fingerprint)).toBeNull()
    await theirs.accounts.register({ email: 'eve@example.com', project: 'shop' }, key)
    const isKnown = async () => (await ours.accounts.findByKey(key.fingerprint)) !== null
    await pollUntil(isKnown, 'the end of the second in which the key is unknown')
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
    await database.pool.query(sql)
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
    // On a busy machine it can be lost more than once.
    const messages = theirs.logger.messages()
    expect(messages.slice(-2)).toEqual(['accounts.listener_lost', 'accounts.listener_restored'])
    expect(new Set(messages).size).toBe(2)
  })

  it('listen again at once when an idle connection ends', async () => {
    await theirs.network.refuse()
    await pollUntil(() => theirs.logger.messages().includes('accounts.listener_lost'), 'the loss')
    await theirs.network.pass()
    await pollUntil(
      () => theirs.logger.messages().includes('accounts.listener_restored'),
      'the new connection',
    )
  })

  it('forget what changed while the listening connection was down, although no request came meanwhile', async () => {
    const { key, account } = await open()
    await theirs.network.refuse()
    await pollUntil(() => !theirs.changes.isCurrent(), 'the loss to be noticed')
    await ours.accounts.revoke(account.id)
    await theirs.network.pass()
    await pollUntil(() => theirs.changes.isCurrent(), 'it to listen again')
    expect(await theirs.accounts.findByKey(key.fingerprint)).toBeNull()
  })
})

describe('an instance that is idle', () => {
  const database = useTestDatabase()
  let busy: Instance
  let idle: Instance
  beforeEach(async () => {
    await emptyTables(database.pool, 'accounts', 'api_keys')
    busy = await openInstance(database)
    idle = await openInstance(database, 0)
    await pollUntil(() => busy.changes.isCurrent() && idle.changes.isCurrent(), 'both to listen')
  })
  afterEach(async () => {
    await busy.close()
    await idle.close()
  })

  it('sends no notification, while one that is asked sends some', async () => {
    const senders: number[] = []
    const observer = new Client({ connectionString: database.url })
    observer.on('notification', ({ processId }) => senders.push(processId))
    await observer.connect()
    try {
      await observer.query('listen account_changed')
      // The idle one sends another while its last has not arrived, and either may lose its connection: some in a row suffice.
      await pollUntil(
        () => {
          const newest = senders.slice(-5)
          return busy.changes.isCurrent() && newest.length === 5 && new Set(newest).size === 1
        },
        'five notifications in a row of the one that is asked',
        () => senders,
      )
    } finally {
      await observer.end()
    }
  })

  it('knows at the first request that a key was revoked meanwhile, and caches once it is asked', async () => {
    const key = newKey()
    const { account } = await busy.accounts.register({ email: 'ada@example.com', project: 'engine' }, key)
    await pollUntil(async () => {
      const before = idle.countLookUps()
      return (await idle.accounts.findByKey(key.fingerprint)) !== null && idle.countLookUps() === before
    }, 'the key to be cached')
    idle.network.hang()
    await busy.accounts.revoke(account.id)
    // No notification arrives, and none that it is sent by itself either.
    await pollUntil(async () => (await idle.accounts.findByKey(key.fingerprint)) === null, 'the change')
  })
})

describe('a pulse of an idle instance', () => {
  afterEach(() => vi.useRealTimers())

  it('is due when no notification of any instance has arrived for 30 s', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
    let heardAt = 0
    const due = vi.fn()
    void sleepUntilQuiet(() => heardAt, 30_000, new AbortController().signal).then(due)
    for (let count = 0; count < 5; count++) {
      await vi.advanceTimersByTimeAsync(25_000)
      heardAt += 25_000
    }
    await vi.advanceTimersByTimeAsync(29_000)
    expect(due).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(due).toHaveBeenCalledTimes(1)
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
    customer: 'a',
    isProven: true,
  } as const
  const use = { account, key: apiKeyOf() }
  const ada = { email: 'ada@example.com', project: 'engine' }
  const named = { name: 'second', scopes: [], expiresAt: null }

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
    const cache = createAccountCache(store, {
      isCurrent: () => true,
      onChange: () => undefined,
      onRestart: () => undefined,
    })
    const { fingerprint } = newKey()
    expect(await cache.findByKey(fingerprint)).not.toBeNull()
    expect(await cache.findByKey(fingerprint)).not.toBeNull()
    vi.setSystemTime(expiresAt.getTime() - 1)
    expect(await cache.findByKey(fingerprint)).not.toBeNull()
    expect(lookUps).toBe(1)
    vi.setSystemTime(expiresAt)
    expect(await cache.findByKey(fingerprint)).toBeNull()
  })

  const current = { isCurrent: () => true, onChange: () => undefined, onRestart: () => undefined }

  it('looks an unknown key up once a second', async () => {
    let nowMs = 0
    let lookUps = 0
    const store = storeOf(async () => {
      lookUps += 1
      return null
    })
    const cache = createAccountCache(store, current, () => nowMs)
    const { fingerprint } = newKey()
    for (let turn = 0; turn < 100; turn += 1) expect(await cache.findByKey(fingerprint)).toBeNull()
    expect(lookUps).toBe(1)
    nowMs += unknownKeyMs - 1
    expect(await cache.findByKey(fingerprint)).toBeNull()
    expect(lookUps).toBe(1)
    nowMs += 1
    expect(await cache.findByKey(fingerprint)).toBeNull()
    expect(lookUps).toBe(2)
  })

  it.each([
    ['register', async (cache: AccountStore) => await cache.register(ada, newKey())],
    [
      'addKey',
      async (cache: AccountStore) => await cache.addKey('a', { ...newKey(), ...named }, { maxKeys: 2 }),
    ],
    ['rotate', async (cache: AccountStore) => await cache.rotate('a', newKey().fingerprint, newKey())],
  ] as const)('forgets unknown keys, and what was asked before, with %s', async (_name, change) => {
    let isCreated = false
    const early = deferred<null>()
    let lookUps = 0
    const store: AccountStore = {
      ...storeOf(async () => {
        lookUps += 1
        if (lookUps === 2) return await early.promise
        return isCreated ? use : null
      }),
      register: async () => ({ ...newKey(), account, isNew: true }),
      addKey: async () => ({ id: 'k', createdAt: new Date(0) }),
      rotate: async () => true,
    }
    const cache = createAccountCache(store, current, () => 0)
    const [known, running] = [newKey(), newKey()]
    expect(await cache.findByKey(known.fingerprint)).toBeNull()
    const before = cache.findByKey(running.fingerprint)
    isCreated = true
    await change(cache)
    expect(await cache.findByKey(known.fingerprint)).toBe(use)
    expect(await cache.findByKey(running.fingerprint)).toBe(use)
    early.resolve(null)
    expect(await before).toBeNull()
    expect(await cache.findByKey(running.fingerprint)).toBe(use)
  })

  it('looks a key up once for all requests that present it at the same time', async () => {
    const answer = deferred<null>()
    let lookUps = 0
    const cache = createAccountCache(
      storeOf(async () => {
        lookUps += 1
        return await answer.promise
      }),
      current,
    )
    const [one, other] = [newKey(), newKey()]
    const running = Array.from({ length: 50 }, () => cache.findByKey(one.fingerprint))
    running.push(cache.findByKey(other.fingerprint))
    expect(lookUps).toBe(2)
    answer.resolve(null)
    expect(new Set(await Promise.all(running))).toEqual(new Set([null]))
  })

  it('does not remember a look-up that failed', async () => {
    let lookUps = 0
    const cache = createAccountCache(
      storeOf(async () => {
        lookUps += 1
        if (lookUps === 1) throw new Error('The database is away')
        return use
      }),
      current,
    )
    const { fingerprint } = newKey()
    await expect(cache.findByKey(fingerprint)).rejects.toThrow('The database is away')
    expect(await cache.findByKey(fingerprint)).toBe(use)
  })

  it('remembers a bounded number of unknown keys', async () => {
    let lookUps = 0
    const cache = createAccountCache(
      storeOf(async () => {
        lookUps += 1
        return null
      }),
      current,
      () => 0,
    )
    const first = newKey()
    await cache.findByKey(first.fingerprint)
    for (let index = 0; index < 10_000; index += 1) await cache.findByKey(newKey().fingerprint)
    expect(lookUps).toBe(10_001)
    await cache.findByKey(first.fingerprint)
    expect(lookUps).toBe(10_002)
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
      onRestart: () => undefined,
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
