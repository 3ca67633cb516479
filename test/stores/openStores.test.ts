import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.js'
import { systemClock } from '../../src/platform/clock.js'
import { silentLogger } from '../../src/platform/logger.js'
import { Secret } from '../../src/platform/secret.js'
import { tiers } from '../../src/protocol/tiers.js'
import { openStores } from '../../src/stores/openStores.js'
import { NoBinariesError } from '../../src/stores/postgres/embedded/chooseLaunch.js'
import { nameDataFolder } from '../../src/stores/postgres/openDatabase.js'
import { listStoreChecks, type StoreSettings, type Stores } from '../../src/stores/stores.js'
import { createCheckReadiness } from '../../src/usecases/core/describe/listSupported.js'
import { canonicalMailbox } from '../../src/usecases/dashboard/mails.js'
import { claimOf } from '../support/claimOf.js'
import { insertJournalRows } from '../support/journalRows.js'
import { pollUntil } from '../support/pollUntil.js'
import { createTestDatabase, useTestDatabase } from '../support/postgres.js'
import { patientTimeoutMs } from '../support/rpcProxy.js'
import { untilReady } from '../support/untilReady.js'

const listFees = (fee: string) => `
  create or replace view fee_ledger as
  select id as settlement_id, caller as account_id, network, asset, amount, fee_rate, ${fee} as fee,
    closed_at as accrued_at from settlements`

/** Every fee that is listed takes an hour. */
const makeListingsSlow = listFees('(select amount::numeric from pg_sleep(3600))')
/** Every fee is the time in milliseconds that the database gives the statement that lists it. */
const listTimeouts = listFees("extract(epoch from current_setting('statement_timeout')::interval) * 1000")

const byDefault = { databaseReadTimeoutMs: readConfig({}).stores.databaseReadTimeoutMs }

describe('the stores', () => {
  const database = useTestDatabase()
  let stores: Stores

  const { pool } = database

  const open = (databaseReadUrl: string | null = null, settings: Partial<StoreSettings> = {}) =>
    openStores(
      {
        databaseUrl: new Secret(database.url),
        databasePoolSize: 20,
        databaseReadUrl: databaseReadUrl === null ? null : new Secret(databaseReadUrl),
        databaseReadPoolSize: 5,
        databaseReadTimeoutMs: Number(patientTimeoutMs),
        dataFolder: '/nonexistent',
        redisUrl: null,
        keyCheckValue: Buffer.from('key'),
        previousKeyCheckValue: null,
        readMailbox: canonicalMailbox,
        ...settings,
      },
      systemClock,
      silentLogger,
    )

  it('answer operators while the nightly reconciliation reads', async () => {
    stores = await open()
    const other = await pool.connect()
    const stopped = new AbortController()
    try {
      await other.query('begin')
      await other.query('lock table unfinal_settlements in access exclusive mode')
      const period = { from: new Date(0), to: new Date() }
      const limit = { timeoutMs: 1_800_000, stopped: stopped.signal }
      const nightly = stores.nightlyReconciliation.findCountDifferences('unfinal_list', period, limit)
      await pollUntil(async () => {
        const { rows } = await pool.query("select 1 from pg_stat_activity where wait_event_type = 'Lock'")
        return rows.length > 0
      }, 'the nightly reconciliation')
      expect(await stores.reconciliation.findCountDifferences('totals', period, limit)).toEqual({
        differences: [],
        counts: [],
      })
      // It ends although the table is still locked.
      stopped.abort()
      expect(await nightly).toBeNull()
    } finally {
      await other.query('rollback')
      other.release()
      await stores.close()
    }
  })

  describe('while one tenant floods slow pages', () => {
    let isFlooding: boolean
    let tenants: readonly Promise<readonly unknown[]>[]

    /** Asks for one page after another until the flood ends; returns the answers. */
    const flood = async (): Promise<readonly unknown[]> => {
      const pages: unknown[] = []
      while (isFlooding) {
        pages.push(
          await stores.accountSettlements
            .list({ accountId: 'eve', limit: 10 })
            .catch((error: unknown) => error),
        )
      }
      return pages
    }
    const endFlood = async (): Promise<readonly unknown[]> => {
      isFlooding = false
      return (await Promise.all(tenants)).flat()
    }

    beforeEach(async () => {
      await insertJournalRows(pool, {
        count: 100,
        columns: { caller: `'eve'`, fee_rate: '0', quota_month: `'2026-01-01'` },
      })
      await pool.query(makeListingsSlow)
      stores = await open(null, byDefault)
      isFlooding = true
      tenants = Array.from({ length: 60 }, flood)
      await pollUntil(async () => {
        const { rows } = await pool.query("select 1 from pg_stat_activity where wait_event = 'PgSleep'")
        return rows.length >= 5
      }, 'slow pages')
    })
    afterEach(async () => {
      await endFlood()
      await stores.close()
    })

    // The flood never ends by itself: what waited for a connection behind it would be refused.
    it('payments of others are claimed, recorded and closed', async () => {
      const claimed = await stores.journal.claim(claimOf({ caller: 'ada' }), {
        tier: tiers.free,
        at: new Date(),
      })
      if (claimed === null) throw new Error('The authorization has a row already')
      await stores.journal.recorderFor(claimed.id).record({ transaction: claimed.id, bytes: 'bytes' })
      await stores.journal.close(claimed.id, { state: 'confirmed', transaction: claimed.id })
    })

    it('quotas, lanes and idempotency keys of others are served', async () => {
      await stores.quotas.readUse('ada', new Date())
      await stores.lanes.advance({ network: 'eip155:1', signer: '0x1' }, 0)
      await stores.idempotency.begin({ caller: 'ada', key: 'key', fingerprint: 'f' })
    })

    it('each page is refused', async () => {
      for (const page of await endFlood()) {
        expect(page).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 })
      }
    })
  })

  it.each([
    ['two seconds by default', byDefault, '2000'],
    ['as long as DATABASE_READ_TIMEOUT_MS says', { databaseReadTimeoutMs: 7_000 }, '7000'],
  ])('give a page %s', async (_, settings, expected) => {
    await insertJournalRows(pool, {
      count: 1,
      columns: { caller: `'bob'`, fee_rate: '0', quota_month: `'2026-01-01'` },
    })
    await pool.query(listTimeouts)
    stores = await open(null, settings)
    const [page] = await stores.accountSettlements.list({ accountId: 'bob', limit: 1 })
    expect(page?.fee).toBe(expected)
    await stores.close()
  })

  it('read pages from DATABASE_READ_URL, and everything else from DATABASE_URL', async () => {
    const replica = await createTestDatabase()
    stores = await open(replica.url)
    try {
      const claimed = await stores.journal.claim(claimOf({ caller: 'ada' }), {
        tier: tiers.free,
        at: new Date(),
      })
      const list = () => stores.accountSettlements.list({ accountId: 'ada', limit: 1_000 })
      expect(await list()).toEqual([])
      expect((await stores.overview.countOpen()).map(({ count }) => count)).toEqual([])
      expect(await stores.statistics.countSettlements()).toEqual({ confirmed: 0, failed: 0, pending: 0 })
      expect((await stores.quotas.readUse('ada', new Date())).used).toBeGreaterThan(0)
      expect((await stores.views.quotas.readUse('ada', new Date())).used).toBe(0)
      expect(await stores.journal.find(claimed?.id ?? '')).toMatchObject({ state: 'claimed' })
    } finally {
      await stores.close()
      await replica.drop()
    }
  })

  it('of a database that has turned read-only are unavailable, and /ready says so', async () => {
    stores = await open()
    // One per question: answers are kept for a second.
    const checkReadiness = () => createCheckReadiness(listStoreChecks(stores), systemClock)()
    expect((await untilReady(checkReadiness)).checks).toEqual({ database: 'ok', store: 'ok' })
    const name = new URL(database.url).pathname.slice(1)
    await pool.query(`alter database "${name}" set default_transaction_read_only = on`)
    await pool.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = $1',
      [name],
    )
    await pollUntil(
      async () => (await checkReadiness()).checks.database === 'read_only',
      'readiness to change',
    )
    expect((await checkReadiness()).status).toBe('unready')
    await expect(stores.journal.claim(claimOf())).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryAfterSeconds: 1,
    })
    await pool.query(`set default_transaction_read_only = off`)
    await pool.query(`alter database "${name}" reset default_transaction_read_only`)
    await pollUntil(async () => {
      // A refused statement closes its connection, so that the next one may reach the primary.
      await stores.journal.claim(claimOf()).catch(() => undefined)
      return (await checkReadiness()).status === 'ready'
    }, 'the service to recover')
    await stores.close()
  })
})

describe('an embedded database that cannot start', () => {
  it('is a missing DATABASE_URL where it is not installed, as in an image without it', () => {
    const name = () =>
      nameDataFolder(new NoBinariesError('No usable Postgres binaries (none are installed).'))
    expect(name).toThrow(
      'DATABASE_URL: is missing, and there is no embedded database. No usable Postgres binaries (none are installed).',
    )
  })

  it('is a matter of DATA_FOLDER where its files are those of another user', () => {
    const name = () => nameDataFolder(new Error('FATAL:  data directory "/data" has wrong ownership'))
    expect(name).toThrow(/^DATA_FOLDER: the embedded Postgres may not write there: make its user the owner/)
  })
})
