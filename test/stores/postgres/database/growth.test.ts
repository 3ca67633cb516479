import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createChannelLedger } from '../../../../src/stores/postgres/channels/channelLedger.js'
import type { Instance } from '../../../../src/stores/postgres/database/instance.js'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { createHolds } from '../../../../src/stores/postgres/holds/holds.js'
import { createAccountSettlements } from '../../../../src/stores/postgres/journal/accountSettlements.js'
import { createConfirmedBlocks } from '../../../../src/stores/postgres/journal/confirmedBlocks.js'
import { createIdempotencyStore } from '../../../../src/stores/postgres/journal/idempotencyStore.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createSettlementOverview } from '../../../../src/stores/postgres/journal/settlementOverview.js'
import { createSignerLanes } from '../../../../src/stores/postgres/lanes/signerLanes.js'
import { createQuotas } from '../../../../src/stores/postgres/quota/quotas.js'
import { createStatistics } from '../../../../src/stores/postgres/statistics/statistics.js'
import { createWebhookOutbox } from '../../../../src/stores/postgres/webhooks/webhookOutbox.js'
import { addInstance } from '../../../support/instances.js'
import { failedColumns, insertJournalRows, openColumns } from '../../../support/journalRows.js'
import { patientPool } from '../../../support/patientPool.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { createTestDatabase } from '../../../support/postgres.js'

const pages = z.tuple([z.object({ pages: z.coerce.number() })])

const small = 1_000
const large = 10_000

/** Pages of 8 kB are counted instead of time: the same on every machine. */
interface Counted {
  readonly few: number
  readonly many: number
}

/** An index may become one level deeper. */
const expectNoGrowth = ({ few, many }: Counted) =>
  expect(many, `${few} pages of the small journal, ${many} of the large one`).toBeLessThan(few * 1.5 + 50)

interface Measured {
  /** One connection: the statistics of a statement are complete once its own connection has written them. */
  readonly pool: Pool
  readonly instance: Instance
  drop(): Promise<void>
}

const openMeasured = async (): Promise<Measured> => {
  const database = await createTestDatabase()
  const pool = openPool({ ...patientPool, url: database.url, maxConnections: 1 })
  // What autovacuum reads counts in the same statistics.
  const { rows } = await pool.query<{ relname: string }>(
    "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  )
  for (const { relname } of rows) await pool.query(`alter table ${relname} set (autovacuum_enabled = off)`)
  return {
    pool,
    instance: await addInstance(pool),
    async drop() {
      await pool.end()
      await database.drop()
    },
  }
}

const readPages = async (pool: Pool): Promise<number> => {
  await pool.query('select pg_stat_force_next_flush()')
  const { rows } = await pool.query(
    `select sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read, 0) + coalesce(idx_blks_hit, 0)) as pages
     from pg_statio_user_tables`,
  )
  return pages.parse(rows)[0].pages
}

const countPages = async (pool: Pool, work: () => Promise<unknown>): Promise<number> => {
  // The first run may set hint bits.
  await work()
  const before = await readPages(pool)
  await work()
  return (await readPages(pool)) - before
}

const listWorkTables = async (pool: Pool): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ relname: string }>(
    "select relname from pg_class where relname in ('open_settlements', 'unfinal_settlements')",
  )
  return rows.map(({ relname }) => relname)
}

const vacuumJournal = async (pool: Pool): Promise<void> => {
  for (const relname of ['settlements', ...(await listWorkTables(pool))]) {
    await pool.query(`vacuum analyze ${relname}`)
  }
}

describe('in a journal with ten times as many rows', () => {
  let few: Measured
  let many: Measured

  beforeAll(async () => {
    ;[few, many] = await Promise.all([openMeasured(), openMeasured()])
    await fill(few.pool, small)
    await fill(many.pool, large)
  })
  afterAll(() => Promise.all([few.drop(), many.drop()]))

  const fill = async (pool: Pool, count: number): Promise<void> => {
    const caller = `'ada'`
    await insertJournalRows(pool, { count, columns: { caller } })
    // Old rows of another network: what a filter for it finds stands behind all others.
    await insertJournalRows(pool, {
      count: 20,
      columns: {
        ...failedColumns,
        caller,
        network: `'solana:devnet'`,
        created_at: `now() - interval '1 day' - n * interval '1 second'`,
      },
    })
    // Open ones of other callers: a filter for open ones of this account finds none.
    await insertJournalRows(pool, { count: 20, columns: openColumns })
    await vacuumJournal(pool)
  }

  /** Pages that `work`, which leaves the journal as it is, reads in the small and in the large one. */
  const compare = async (work: (pool: Pool, instance: Instance) => Promise<unknown>): Promise<Counted> => ({
    few: await countPages(few.pool, () => work(few.pool, few.instance)),
    many: await countPages(many.pool, () => work(many.pool, many.instance)),
  })

  it('the public statistics read as much', async () => {
    expectNoGrowth(await compare((pool) => createStatistics(pool).countSettlements()))
  })

  it('a round of reconciliation reads as much', async () => {
    const list = (pool: Pool, instance: Instance) => createSettlementJournal(pool, instance).listOrphaned(200)
    expectNoGrowth(await compare(list))
    expect(await list(many.pool, many.instance)).toHaveLength(20)
  })

  it('the metrics and the list of open settlements read as much', async () => {
    expectNoGrowth(await compare((pool) => createSettlementOverview(pool).countOpen()))
    expectNoGrowth(
      await compare((pool) => createSettlementOverview(pool).list({ status: 'pending', limit: 50 })),
    )
  })

  it('a reservation of funds reads as much, with twenty others of its payer', async () => {
    const fill = async (pool: Pool, count: number) => {
      await pool.query(
        `insert into reservations (network, asset, payer, authorization_id, spender, account, pay_to, amount,
           reserved_at, expires_at)
         select 'eip155:1', '0xasset', 'payer ' || n / 20, 'authorization ' || n, '0xrouter',
           case n % 2 when 0 then 'anonymous' else 'other' end, '0xpayee', 1, now(), now() + interval '1 hour'
         from generate_series(0, $1 - 1) n`,
        [count],
      )
      await pool.query('vacuum analyze reservations')
    }
    const reserve = (pool: Pool) =>
      createHolds(pool).place(
        {
          authorizationId: 'authorization',
          network: 'eip155:1',
          asset: '0xasset',
          payer: 'payer 1',
          spender: '0xrouter',
          payTo: '0xpayee',
          account: 'shop',
          purpose: 'verify',
          amount: 1n,
          expiresAt: new Date(Date.now() + 3_600_000),
        },
        { balance: 21n, allowance: null },
      )
    await fill(few.pool, small)
    await fill(many.pool, large)
    expectNoGrowth(await compare(reserve))
    expect(await reserve(many.pool)).toMatchObject({ state: 'held' })
  })

  it('rounds over channels and their metrics read as much beside a hundred times as many retired ones', async () => {
    const network = 'eip155:8453'
    const fill = async (pool: Pool, retired: number) => {
      await pool.query(
        `insert into channel_vouchers (network, channel_id, account_id, config, receiver, token, bound_at, ceiling, signature,
           price, verified_at, charged, claimed, balance, seen_at, unclaimed_since)
         select $1, '0x' || md5(n::text), 'ada', '{}', '0xbb', '0xcc', now(), 3000, '0x', 1000, now() - interval '2 days', 2000,
           case when n < 100 then 1000 else 2000 end, case when n < 100 then 9000 else 2000 end, now() - interval '1 day', now()
         from generate_series(0, $2::int + 99) n`,
        [network, retired],
      )
      const ledger = createChannelLedger(pool)
      expect(await ledger.retire(new Date(), retired + 1)).toBe(retired)
      await pool.query('vacuum analyze channel_vouchers')
    }
    await fill(few.pool, 100)
    await fill(many.pool, large)
    const at = new Date()
    const long = new Date(at.getTime() - 7 * 86_400_000)
    const page = { limit: 100, after: '', seenBefore: long, emptySeenBefore: long }
    const list = (pool: Pool) => createChannelLedger(pool).listDue(network, page)
    expect(await list(many.pool)).toHaveLength(100)
    const works: readonly ((pool: Pool) => Promise<unknown>)[] = [
      list,
      (pool) => createChannelLedger(pool).listDue(network, { ...page, onlyWithdrawn: true }),
      (pool) => createChannelLedger(pool).measureUnclaimed([]),
      (pool) => createChannelLedger(pool).measureSigners([]),
      (pool) => createChannelLedger(pool).retire(at, 1_000),
    ]
    for (const work of works) {
      // Each of the 100 rows can stand on a page of the index that it shared with retired ones.
      const { few: least, many: most } = await compare(work)
      expect(most).toBeLessThan(least + 200)
    }
  })

  it('a higher voucher of a channel writes no entry of an index', async () => {
    const ledger = createChannelLedger(few.pool)
    const voucher = {
      network: 'eip155:10',
      channelId: '0x01',
      accountId: 'ada',
      config: {},
      receiver: '0xbb',
      token: '0xcc',
      signature: '0x',
      price: 1n,
    }
    const readUpdates = async () => {
      await few.pool.query('select pg_stat_force_next_flush()')
      const { rows } = await few.pool.query<{ all: string; hot: string }>(
        `select n_tup_upd as all, n_tup_hot_upd as hot from pg_stat_user_tables where relname = 'channel_vouchers'`,
      )
      return { all: Number(rows[0]?.all), hot: Number(rows[0]?.hot) }
    }
    await ledger.keep({ ...voucher, ceiling: 1n }, new Date())
    const before = await readUpdates()
    for (const ceiling of [2n, 3n, 4n, 5n]) await ledger.keep({ ...voucher, ceiling }, new Date())
    expect(await readUpdates()).toEqual({ all: before.all + 4, hot: before.hot + 4 })
  })

  it('the days of an account read as much', async () => {
    expectNoGrowth(await compare((pool) => createQuotas(pool).listDays('ada', 7, new Date())))
  })

  const filters = [
    {},
    { status: 'confirmed' },
    { status: 'failed' },
    { status: 'pending' },
    { network: 'solana:devnet' },
    { network: 'eip155:84532', status: 'failed' },
    { network: 'solana:devnet', status: 'confirmed' },
    { since: new Date(Date.now() - 60_000) },
  ] as const

  it.each(filters)(
    'the dashboard of an account reads as much for the filter %j, on every page',
    async (filter) => {
      const list = (pool: Pool, after?: string) =>
        createAccountSettlements(pool).list({ accountId: 'ada', limit: 20, ...filter, after })
      expectNoGrowth(await compare((pool) => list(pool)))
      const { rows } = await many.pool.query<{ id: string }>(
        'select id from settlements order by created_at offset $1 limit 1',
        [large / 2],
      )
      const deep = await countPages(many.pool, () => list(many.pool, rows[0]?.id))
      expect(deep).toBeLessThan(1_000)
    },
  )

  it.each([
    { status: 'confirmed' },
    { status: 'failed' },
    { status: 'failed', network: 'eip155:84532' },
    { status: 'confirmed', network: 'solana:devnet' },
  ] as const)('the list of operators reads as much for the filter %j', async (filter) => {
    expectNoGrowth(await compare((pool) => createSettlementOverview(pool).list({ limit: 20, ...filter })))
  })

  it('the lookups of one settlement read as much', async () => {
    expectNoGrowth(
      await compare(async (pool, instance) => {
        const journal = createSettlementJournal(pool, instance)
        await journal.find(randomUUID())
        await journal.findOpen('none')
        await journal.listByTransaction('eip155:84532', '0x7')
      }),
    )
  })
})

describe('where the planner expects an empty table', () => {
  let database: Measured
  beforeAll(async () => {
    database = await openMeasured()
  })
  afterAll(() => database.drop())

  it('the purge of ten times as many keys reads ten times as much', async () => {
    const { pool, instance } = database
    const store = createIdempotencyStore(pool, instance)
    const countPurged = async (count: number) => {
      const fill = `insert into idempotent_requests (caller, key, fingerprint, state, response, created_at)
        select 'a', n::text, repeat('f', 64), 'answered', '{}', now() - interval '2 days' from generate_series(1, ${count}) n`
      await pool.query(fill)
      await pool.query('delete from idempotent_requests')
      // As autovacuum does it: the pages stay, and no row is expected in them.
      await pool.query('vacuum (truncate false, analyze) idempotent_requests')
      await pool.query(fill)
      const before = await readPages(pool)
      await store.purge()
      const pages = (await readPages(pool)) - before
      expect((await pool.query('select from idempotent_requests')).rowCount).toBe(0)
      return pages
    }
    const few = await countPurged(200)
    expect(await countPurged(2_000), `${few} pages of a tenth`).toBeLessThan(15 * few)
  })
})

describe('with ten times as many rows', () => {
  let database: Measured
  let pool: Pool

  beforeAll(async () => {
    database = await openMeasured()
    pool = database.pool
  })
  afterAll(() => database.drop())

  const start = async (): Promise<void> => {
    await pool.query(
      'truncate settlements, broadcasts, broadcast_settlements, instances, webhook_endpoints, webhook_deliveries, idempotent_requests',
    )
  }

  /** Pages that `work` reads after `fill` with few and with many rows. */
  const compare = async (fill: (count: number) => Promise<void>, work: () => Promise<unknown>) => {
    const counted: number[] = []
    for (const count of [small, large]) {
      await start()
      await fill(count)
      await vacuumJournal(pool)
      counted.push(await countPages(pool, work))
    }
    const [few = 0, many = 0] = counted
    return { few, many }
  }

  /** A vacuum leaves rows that an older snapshot may see. */
  const removeDeadRows = (table: string) =>
    pollUntil(async () => {
      await pool.query(`vacuum ${table}`)
      const { rows } = await pool.query<{ dead: string }>(
        'select n_dead_tup as dead from pg_stat_user_tables where relname = $1',
        [table],
      )
      return Number(rows[0]?.dead) === 0
    }, `the dead rows of ${table} to be removed`)

  it('the first round of reconciliation after many settlements were opened and closed reads as much', async () => {
    const journal = createSettlementJournal(pool, await addInstance(pool))
    const read: number[] = []
    for (const count of [small, large]) {
      await start()
      await insertJournalRows(pool, { count, columns: openColumns })
      await pool.query(
        "update settlements set state = 'confirmed', closed_at = now() where state in ('claimed', 'pending')",
      )
      // Autovacuum reaches a small table every minute, the journal after a fraction of all its rows.
      for (const relname of await listWorkTables(pool)) await removeDeadRows(relname)
      const before = await readPages(pool)
      await journal.listOrphaned(200)
      read.push((await readPages(pool)) - before)
    }
    const [few = 0, many = 0] = read
    expectNoGrowth({ few, many })
  })

  it('the dashboard of an account reads as much with ten times as many of its settlements pending', async () => {
    const fill = (count: number) =>
      insertJournalRows(pool, { count, columns: { ...openColumns, caller: `'ada'` } })
    const list = (status?: 'pending') =>
      createAccountSettlements(pool).list({ accountId: 'ada', limit: 20, ...(status && { status }) })
    expectNoGrowth(await compare(fill, () => list()))
    expectNoGrowth(await compare(fill, () => list('pending')))
  })

  it('marking a block final and reopening one read as much', async () => {
    const blocks = createConfirmedBlocks(pool)
    const blockOf = (number: bigint) => ({
      network: 'eip155:84532',
      scheme: 'exact',
      block: { number, hash: `0x${String(number).padStart(64, '0')}` },
    })
    const fill = async (count: number) => {
      await insertJournalRows(pool, { count })
      await insertJournalRows(pool, { count: 100, columns: { is_final: 'false' } })
    }
    let number = 0n
    expectNoGrowth(
      await compare(fill, async () => {
        number = number === 4n ? 1n : number + 1n
        await (number % 2n === 0n ? blocks.markFinal(blockOf(number)) : blocks.reopen(blockOf(number)))
      }),
    )
  })

  it('the reorg check reads as much with ten times as many unfinal payments in as many blocks', async () => {
    const blocks = createConfirmedBlocks(pool)
    const fill = (count: number) =>
      insertJournalRows(pool, {
        count,
        columns: {
          is_final: 'false',
          block_number: 'n % 50',
          block_hash: `'0x' || lpad((n % 50)::text, 64, '0')`,
        },
      })
    expectNoGrowth(await compare(fill, () => blocks.list(500)))
    expect(await blocks.list(500)).toHaveLength(50)
  })

  it('the reorg check of a round reads as much with ten times as many unfinal blocks', async () => {
    const blocks = createConfirmedBlocks(pool)
    const fill = (count: number) => insertJournalRows(pool, { count, columns: { is_final: 'false' } })
    expectNoGrowth(await compare(fill, () => blocks.list(40)))
  })

  const lease = () =>
    createWebhookOutbox(pool).leaseDue({ limit: 128, limitPerAccount: 4, except: [], leaseMs: 60_000 })

  it('the webhook poll reads as much, with more endpoints and with more deliveries for later', async () => {
    const fill = async (count: number) => {
      await pool.query(
        `insert into webhook_endpoints (account_id, url, sealed_secret)
         select 'account ' || n, 'https://a.example/', '\\x00' from generate_series(1, ${count}) n`,
      )
      await pool.query(
        `insert into webhook_deliveries (account_id, type, data, due_at, is_ready)
         select 'account ' || n, 'settlement.confirmed', '{}', now() + interval '1 hour', false
         from generate_series(1, ${count}) n`,
      )
      await pool.query('vacuum analyze webhook_endpoints')
      await pool.query('vacuum analyze webhook_deliveries')
    }
    expectNoGrowth(await compare(fill, lease))
  })

  it('the removal of an endpoint reads as much, with more events of others that wait', async () => {
    const outbox = createWebhookOutbox(pool)
    const fill = async (count: number) => {
      await pool.query(
        `insert into webhook_deliveries (account_id, type, data)
         select 'account ' || n % 100, 'settlement.confirmed', '{}' from generate_series(1, ${count}) n`,
      )
      await pool.query('vacuum analyze webhook_deliveries')
    }
    expectNoGrowth(await compare(fill, () => outbox.setEndpoint('ada', null)))
  })

  it('what a signer asks of its nonces reads as much, with more that were sent', async () => {
    const lanes = createSignerLanes(pool, await addInstance(pool))
    const lane = { network: 'eip155:84532', signer: '0xsigner' }
    let last = 0
    const fill = async (count: number) => {
      last = count
      await pool.query(
        `insert into broadcasts (network, transaction, bytes, signer, nonce)
         select $1, '0x' || n, '0x', $2, n from generate_series(1, ${count}) n`,
        [lane.network, lane.signer],
      )
      await pool.query('vacuum analyze broadcasts')
      await lanes.advance(lane, count + 1)
    }
    const sign = () => Promise.reject(new Error('No nonce is missing'))
    expectNoGrowth(
      await compare(fill, async () => {
        expect(await lanes.listFrom(lane, last - 9, 10)).toHaveLength(10)
        expect(await lanes.fillNonceGap(lane, 5, sign)).toBeNull()
        expect(await lanes.rewindNonce(lane, last - 9, 10)).toBe(false)
      }),
    )
  })

  it('a purge that finds nothing reads as much', async () => {
    const outbox = createWebhookOutbox(pool)
    const idempotency = createIdempotencyStore(pool, await addInstance(pool))
    const fill = async (count: number) => {
      await pool.query(
        `insert into webhook_deliveries (account_id, type, data, state, due_at)
         select 'account ' || n, 'settlement.confirmed', '{}', 'delivered', null from generate_series(1, ${count}) n`,
      )
      await pool.query(
        `insert into idempotent_requests (caller, key, fingerprint, state, response)
         select 'a', 'key-' || n, 'f', 'answered', '{}' from generate_series(1, ${count}) n`,
      )
      await pool.query('vacuum analyze webhook_deliveries')
      await pool.query('vacuum analyze idempotent_requests')
    }
    expectNoGrowth(
      await compare(fill, async () => {
        await outbox.purge()
        await idempotency.purge()
      }),
    )
  })
})
