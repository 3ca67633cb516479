import { randomUUID } from 'node:crypto'
import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Pool, PoolClient } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Settlement, SettlementJournal } from '../../../../src/ports/settlementJournal.js'
import { createChannelSweeps } from '../../../../src/stores/postgres/channels/channelSweeps.js'
import { createCreditStore } from '../../../../src/stores/postgres/credit/creditStore.js'
import type { Instance } from '../../../../src/stores/postgres/database/instance.js'
import { migrate } from '../../../../src/stores/postgres/database/migrate.js'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { createHeldPayments } from '../../../../src/stores/postgres/heldPayments/heldPayments.js'
import { createHolds } from '../../../../src/stores/postgres/holds/holds.js'
import { createIntentStore } from '../../../../src/stores/postgres/intents/intentStore.js'
import { createAccountSettlements } from '../../../../src/stores/postgres/journal/accountSettlements.js'
import { createBroadcastRetention } from '../../../../src/stores/postgres/journal/broadcastRetention.js'
import { createConfirmedBlocks } from '../../../../src/stores/postgres/journal/confirmedBlocks.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import {
  createSettlementOverview,
  createSponsoringHistory,
} from '../../../../src/stores/postgres/journal/settlementOverview.js'
import { createSignerLanes } from '../../../../src/stores/postgres/lanes/signerLanes.js'
import { createOverviewStore } from '../../../../src/stores/postgres/operator/operatorOverview.js'
import { createReconciliationStore } from '../../../../src/stores/postgres/reconciliation/reconciliationStore.js'
import { createSandboxChannels } from '../../../../src/stores/postgres/sandbox/channels.js'
import { migrationsFolder } from '../../../../src/stores/stores.js'
import { claimOf } from '../../../support/claimOf.js'
import { addInstance, killInstances } from '../../../support/instances.js'
import { failedColumns, insertJournalRows, openColumns } from '../../../support/journalRows.js'
import { patientPool } from '../../../support/patientPool.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.js'
import { makeTemporaryFolder } from '../../../support/temporaryFolder.js'
import { withoutStatelessIndexes } from '../../../support/withoutStatelessIndexes.js'
import { findWorkDifferences } from '../../../support/workTables.js'

const network = 'eip155:84532'
const block = { number: 7n, hash: `0x${'7'.repeat(64)}` }

let database: TestDatabase
let pool: Pool
let instance: Instance
let journal: SettlementJournal
let theirs: SettlementJournal

beforeEach(async () => {
  database = await createTestDatabase()
  pool = database.pool()
  instance = await addInstance(pool)
  journal = createSettlementJournal(pool, instance)
  theirs = createSettlementJournal(database.otherPool(), await addInstance(pool))
})
afterEach(() => database.drop())

const claim = async (changes: Parameters<typeof claimOf>[0] = {}): Promise<Settlement> => {
  const settlement = await journal.claim(claimOf(changes))
  if (settlement === null) throw new Error('The authorization is taken')
  return settlement
}

/** Claims as the version before does, which infers the unique index by two predicates that say the same. */
const claimAsBefore = `
  insert into settlements (id, authorization_id, caller, fingerprint, scheme, network, asset, payer, pay_to, amount,
    authorized_amount, state, owner)
  values (gen_random_uuid(), $1, 'anonymous', 'f', 'exact', '${network}', '0xasset', '0xpayer', '0xpayee', 1, 1, 'claimed', $2)
  on conflict (authorization_id) where (state <> 'failed' or consumed_by is not null) and (reason is null or consumed_by is not null)
    do nothing returning id`

/** Records as the version before does: $1 is the settlement, $2 the transaction. */
const recordAsBefore = `
  with held as (
    update settlements set state = 'pending', transaction = $2, transactions = array_append(transactions, $2),
      recorded_at = coalesce(recorded_at, now())
    where id = $1 returning id, network
  ), stored as (
    insert into broadcasts (network, transaction, bytes) select network, $2, '0x' from held
  )
  insert into broadcast_settlements (network, transaction, settlement_id) select network, $2, id from held`

const names = Array.from({ length: 20 }, (_, at) => `authorization ${at}`)

describe('the indexes of settlements', () => {
  it('let one of many that claim an authorization at the same time have it', async () => {
    const claims = [journal, theirs, journal, theirs].flatMap((each) =>
      names.map(async (authorizationId) => await each.claim(claimOf({ authorizationId }))),
    )
    const opened = (await Promise.all(claims)).filter((settlement) => settlement !== null)
    expect(opened.map(({ authorizationId }) => authorizationId).sort()).toEqual([...names].sort())
    expect(await findWorkDifferences(pool)).toEqual([])
  })

  it('let one of many of this version and the one before that claim an authorization have it, too', async () => {
    const before = database.otherPool()
    const results = await Promise.all(
      names.flatMap((authorizationId) => [
        before.query(claimAsBefore, [authorizationId, instance.id]).then(({ rowCount }) => rowCount === 1),
        journal.claim(claimOf({ authorizationId })).then((settlement) => settlement !== null),
      ]),
    )
    expect(results.filter(Boolean)).toHaveLength(names.length)
  })

  it('let one of many of the version before have it at each step of an upgrade', async () => {
    await pool.query(withoutStatelessIndexes)
    await pool.query('update instances set newest_migration = 66')
    const folder = await makeTemporaryFolder('migrations-')
    const claimMany = async (step: string) => {
      const results = await Promise.all(
        names.flatMap((name) =>
          [pool, database.otherPool()].map((each) =>
            each.query(claimAsBefore, [`${step} ${name}`, instance.id]),
          ),
        ),
      )
      expect(results.filter(({ rowCount }) => rowCount === 1)).toHaveLength(names.length)
    }
    const files = readdirSync(migrationsFolder).filter((name) => name.endsWith('.sql'))
    for (const name of files.sort()) {
      copyFileSync(new URL(name, migrationsFolder), join(folder, name))
      if (Number(name.slice(0, 4)) <= 66) continue
      await claimMany(`before ${name}`)
      await migrate(pool, folder)
    }
    await claimMany('at the end')
    expect(await journal.claim(claimOf({ authorizationId: `before ${files.at(-1)} ${names[0]}` }))).toBeNull()
    expect(await findWorkDifferences(pool)).toEqual([])
  })

  it('let an authorization be claimed again that failed, and not one that was answered', async () => {
    const [failed, lost] = [await claim({ authorizationId: 'a' }), await claim({ authorizationId: 'b' })]
    await journal.close(failed.id, { state: 'failed', reason: 'insufficient_funds' })
    expect(await theirs.claim(claimOf({ authorizationId: 'a' }))).not.toBeNull()
    const confirmed = { state: 'confirmed', transaction: '0x1', block } as const
    await journal.close(lost.id, confirmed, 'consumer')
    await createConfirmedBlocks(pool).reopen({ network, scheme: 'exact', block })
    expect(await theirs.claim(claimOf({ authorizationId: 'b' }))).toBeNull()
    await journal.close(lost.id, { state: 'failed', reason: 'transaction_failed' })
    expect(await theirs.claim(claimOf({ authorizationId: 'b' }))).toBeNull()
    expect(await journal.findOpen('b')).toMatchObject({ id: lost.id, state: 'failed' })
  })

  it('are used by each statement of a payment or of a list: none reads the whole journal', async () => {
    const rows = {
      count: 20_000,
      columns: { caller: `'ada'`, payer_wallet: `'w' || n`, dollar_decimals: '6' },
    }
    await insertJournalRows(pool, rows)
    await insertJournalRows(pool, { ...rows, columns: { ...rows.columns, ...failedColumns } })
    await insertJournalRows(pool, { count: 100, columns: openColumns })
    await pool.query('analyze')
    const plans = await listPlans(database.url, async (watched) => {
      const [own, holds] = [createSettlementJournal(watched, instance), createHolds(watched)]
      const settlements = createAccountSettlements(watched)
      const overview = createSettlementOverview(watched)
      for (const state of ['confirmed', 'failed'] as const) {
        const settlement = await own.claim(
          claimOf({ caller: 'ada', wallets: { payer: 'w1', payee: 'w2' }, dollarDecimals: 6 }),
        )
        const id = settlement?.id ?? ''
        await own.recorderFor(id).record({ transaction: `0x${state}`, bytes: '0x' })
        await own.close(
          id,
          state === 'confirmed'
            ? { state, transaction: '0xconfirmed', block }
            : { state, reason: 'insufficient_funds' },
        )
        await overview.list({ status: state, limit: 20 })
        await overview.list({ status: state, network, limit: 20 })
        await settlements.list({ accountId: 'ada', status: state, limit: 20 })
      }
      await createConfirmedBlocks(watched).reopen({ network, scheme: 'exact', block })
      await settlements.list({ accountId: 'ada', limit: 20 })
      await settlements.list({ accountId: 'ada', search: '0x7', limit: 20 })
      await settlements.summarize({ accountId: 'ada', since: new Date(0), limit: 20 })
      await own.findOpen('none')
      await own.listByTransaction(network, '0x7')
      await holds.needsPromise({ authorizationId: 'none', account: 'ada' })
      await holds.findTaker({
        authorizationId: 'none',
        account: 'ada',
        purpose: 'settle',
        asset: 'a',
        payTo: 'p',
      })
      await createCreditStore(watched).recount('eip155:w1')
      await own.listOrphaned(20)
      await own.takeOver({ id: randomUUID(), transaction: '0x7' })
      await own.abandon(randomUUID())
      await own.release(randomUUID())
      await holds.place(
        {
          authorizationId: 'hold',
          network,
          asset: '0xasset',
          payer: '0xpayer',
          spender: '0xrouter',
          payTo: '0xpayee',
          account: 'ada',
          purpose: 'verify',
          amount: 1n,
          expiresAt: new Date(Date.now() + 3_600_000),
        },
        { balance: 1n, allowance: null },
      )
      await holds.countPromised(network)
      await holds.purge()
      const held = createHeldPayments(watched)
      await held.listSettlements({ id: randomUUID(), authorizationId: 'none' }, 20)
      await held.hasReverted(randomUUID(), 1)
      await held.findUnfinished(randomUUID())
      await held.purgeMoves(new AbortController().signal)
      await held.leaseDeadlines({
        now: new Date(),
        leadMs: 1,
        queueMs: 1,
        network,
        leasedUntil: new Date(),
        limit: 1,
        atOnce: 1,
      })
      await createOverviewStore(watched).listLanes()
      await createIntentStore(watched).listSettled(20)
      await createSignerLanes(watched, instance).rewindNonce({ network, signer: '0xa' }, 0)
      await createChannelSweeps(watched).hasSweep('sweep/', { from: 0n, below: 9n })
      const reconciliation = createReconciliationStore(watched, watched)
      await reconciliation.hasNetwork('none')
      const period = { from: new Date(Date.now() - 60_000), to: new Date() }
      await reconciliation.listSettlements({ ...period, limit: 20 })
      await createBroadcastRetention(watched).dropClosedBefore(period.from, new AbortController().signal)
      await createSponsoringHistory(watched).read({
        network: 'ton:testnet',
        payer: 'w1',
        payTo: 'w2',
        reasons: ['transaction_failed'],
        since: new Date(0),
      })
    })
    expect(plans.length).toBeGreaterThan(40)
    const whole = plans.filter((plan) => /Seq Scan on settlements\b/.test(plan))
    expect(whole.map((plan) => plan.slice(0, 3_000))).toEqual([])
  })
})

/** Returns the plans of all statements on one connection, also of those of triggers. */
const listPlans = async (url: string, work: (pool: Pool) => Promise<unknown>): Promise<readonly string[]> => {
  const plans: string[] = []
  const watched = openPool({ ...patientPool, url, maxConnections: 1 })
  const isWatched = new WeakSet<PoolClient>()
  watched.on('connect', (client) => {
    if (isWatched.has(client)) return
    isWatched.add(client)
    client.on('notice', ({ message }) => plans.push(message ?? ''))
  })
  try {
    await watched.query(`load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_level = notice;
      set auto_explain.log_nested_statements = on`)
    await work(watched)
    return plans
  } finally {
    await watched.end()
  }
}

describe('while the unique index is built again', () => {
  const held: PoolClient[] = []
  // A test that fails leaves the build waiting.
  afterEach(() => {
    for (const client of held.splice(0)) client.release(true)
  })

  it('claims of one authorization at the same time fail with no error', async () => {
    // Claims of both instances stop here, between the look for a conflict and the unique indexes: indexes are written in the
    // order in which they were made.
    await pool.query(`
      create function pass_gate(text) returns text immutable language plpgsql
        as 'begin perform pg_advisory_xact_lock_shared(77); return $1; end';
      create index gate on settlements (pass_gate(authorization_id));
      drop index settlements_take_authorization;
      create unique index settlements_take_authorization on settlements (authorization_id)
        where reason is null or consumed_by is not null`)
    const [reader, gate, builder] = [await pool.connect(), await pool.connect(), await pool.connect()]
    held.push(reader, gate, builder)
    // The build waits for what may have read the table before it, with an index that is written and not valid.
    await reader.query('begin isolation level repeatable read; select 1')
    const built = builder.query('reindex index concurrently settlements_take_authorization')
    built.catch(() => undefined)
    const find = async (condition: string) => (await pool.query(`select where ${condition}`)).rowCount === 1
    await pollUntil(
      () =>
        find(`exists (select from pg_index where indisready and not indisvalid
          and indexrelid = to_regclass('settlements_take_authorization_ccnew'))`),
      'the index to be written by others',
    )

    for (const authorizationId of names) {
      await gate.query('select pg_advisory_lock(77)')
      const claims = Promise.all([journal, theirs].map((each) => each.claim(claimOf({ authorizationId }))))
      await pollUntil(
        () =>
          find(`(select count(*) from pg_locks where locktype = 'advisory' and objid = 77 and not granted
            and database = (select oid from pg_database where datname = current_database())) = 2`),
        'both claims to wait at the gate',
      )
      await gate.query('select pg_advisory_unlock(77)')
      expect((await claims).filter((settlement) => settlement !== null)).toHaveLength(1)
    }

    await reader.query('commit')
    await built
    expect(await journal.claim(claimOf({ authorizationId: 'authorization 0' }))).toBeNull()
  })
})

describe('a recorded transaction', () => {
  const record = async (id: string, transaction: string): Promise<void> => {
    await journal.recorderFor(id).record({ transaction, bytes: '0x' })
  }
  const send = async (...transactions: readonly string[]): Promise<string> => {
    const { id } = await claim({ caller: 'ada' })
    for (const transaction of transactions) await record(id, transaction)
    return id
  }
  const listEvents = async () =>
    (
      await pool.query(
        `select type, data ->> 'transaction' as transaction from webhook_deliveries order by created_at, id`,
      )
    ).rows
  const readRow = async (id: string) =>
    (await pool.query('select state, transaction from settlements where id = $1', [id])).rows[0]

  it('writes no index', async () => {
    const { id } = await claim()
    const readUpdates = async () => {
      await pool.query('select pg_stat_force_next_flush()')
      const { rows } = await pool.query<{ all: string; hot: string }>(
        `select n_tup_upd as all, n_tup_hot_upd as hot from pg_stat_user_tables where relname = 'settlements'`,
      )
      return { all: Number(rows[0]?.all), hot: Number(rows[0]?.hot) }
    }
    await record(id, '0x1')
    await pollUntil(async () => (await readUpdates()).all === 1, 'the update to be counted')
    expect(await readUpdates()).toEqual({ all: 1, hot: 1 })
  })

  it('is found, shown and announced by its newest transaction', async () => {
    const id = await send('0x1', '0x2')
    expect(await readRow(id)).toEqual({ state: 'pending', transaction: null })
    expect(await journal.find(id)).toMatchObject({ state: 'pending', transaction: '0x2' })
    for (const transaction of ['0x1', '0x2']) {
      expect(await journal.listByTransaction(network, transaction)).toMatchObject([{ id }])
    }
    const search = async (text: string) =>
      (await createAccountSettlements(pool).list({ accountId: 'ada', search: text, limit: 20 })).map(
        ({ settlement }) => settlement.id,
      )
    expect(await search('0X2')).toEqual([id])
    expect(await search('0x1')).toEqual([])
    await journal.release(id)
    expect(await listEvents()).toEqual([{ type: 'settlement.pending', transaction: '0x2' }])
  })

  it('is taken over and closed only by its newest transaction', async () => {
    const id = await send('0x1', '0x2')
    await killInstances(pool)
    expect(await theirs.takeOver({ id, transaction: '0x1' })).toBeNull()
    expect(await theirs.takeOver({ id, transaction: '0x2' })).not.toBeNull()
    const failure = { state: 'failed', reason: 'transaction_failed' } as const
    expect(await theirs.close(id, failure, undefined, '0x1')).toBe(false)
    expect(await theirs.close(id, failure, undefined, '0x2')).toBe(true)
    expect(await readRow(id)).toEqual({ state: 'failed', transaction: '0x2' })
    expect(await listEvents()).toEqual([{ type: 'settlement.failed', transaction: '0x2' }])
  })

  it('is confirmed by any of its transactions, or by one that was never recorded, and open again after a reorg', async () => {
    const [first, foreign] = [await send('0x1', '0x2'), await send('0x3')]
    expect(await journal.close(first, { state: 'confirmed', transaction: '0x1', block })).toBe(true)
    expect(await journal.close(foreign, { state: 'confirmed', transaction: '0x9', block })).toBe(true)
    expect(await journal.listByTransaction(network, '0x9')).toMatchObject([{ id: foreign }])
    await createConfirmedBlocks(pool).reopen({ network, scheme: 'exact', block })
    expect(await journal.find(first)).toMatchObject({ state: 'pending', transaction: '0x1' })
    expect(await journal.find(foreign)).toMatchObject({ state: 'pending', transaction: '0x9' })
    expect(await journal.listByTransaction(network, '0x9')).toMatchObject([{ id: foreign }])
    await pool.query('update settlements set owner = $1', [instance.id])
    await record(first, '0x4')
    expect(await journal.find(first)).toMatchObject({ transaction: '0x4' })
    await record(foreign, '0x5')
    expect(await journal.find(foreign)).toMatchObject({ transaction: '0x5' })
    expect(await findWorkDifferences(pool)).toEqual([])
  })

  it('is named by the hold that it makes', async () => {
    const { id } = await claim({ authorizationId: 'hold' })
    for (const transaction of ['0x1', '0x2']) await record(id, transaction)
    const held = { id: randomUUID(), authorizationId: 'hold' }
    expect(await createHeldPayments(pool).listSettlements(held, 20)).toMatchObject([
      { id, type: 'hold', state: 'pending', transaction: '0x2' },
    ])
  })

  it('counts among the transactions of its lane that are not confirmed', async () => {
    await send('0x1', '0x2')
    await pool.query(`insert into signer_lanes (network, signer, next_nonce) values ($1, '0xa', 8)`, [
      network,
    ])
    await pool.query(`update broadcasts set signer = '0xa', nonce = 7 where transaction = '0x2'`)
    expect(await createOverviewStore(pool).listLanes()).toMatchObject([{ signer: '0xa', unconfirmed: 1 }])
  })

  it('keeps what it executed in a sandbox until it is closed', async () => {
    const id = await send('0x1')
    const channels = createSandboxChannels(pool, 1)
    const deposit = { type: 'deposit', channelId: 'a', receiver: 'shop', token: 'coin', amount: 1n } as const
    await channels.execute(network, '0x1', deposit)
    await pool.query('update sandbox_executions set expires_at = now()')
    await channels.purge()
    expect(await channels.findExecution(network, '0x1')).not.toBeNull()
    await journal.close(id, { state: 'confirmed', transaction: '0x1' })
    await channels.purge()
    expect(await channels.findExecution(network, '0x1')).toBeNull()
  })

  it('can be replaced by one of the version before', async () => {
    const id = await send('0x1')
    await pool.query(recordAsBefore, [id, '0x2'])
    expect(await journal.find(id)).toMatchObject({ transaction: '0x2' })
    expect(await journal.listByTransaction(network, '0x1')).toMatchObject([{ id }])
  })
})

describe('the reason of a settlement', () => {
  it('is there if it failed, and otherwise not', async () => {
    const { id } = await claim()
    const set = (columns: string) => pool.query(`update settlements set ${columns} where id = $1`, [id])
    const refused = { code: '23514', constraint: 'settlements_reason' }
    await expect(set(`reason = 'transaction_failed'`)).rejects.toMatchObject(refused)
    await expect(set(`state = 'failed', closed_at = now()`)).rejects.toMatchObject(refused)
    const { rows } = await pool.query(
      `select convalidated as is_checked from pg_constraint where conname = 'settlements_reason'`,
    )
    expect(rows).toEqual([{ is_checked: true }])
  })
})

describe('the transaction of a settlement', () => {
  it('is in the list once one is recorded, and in the column once it is confirmed', async () => {
    const { id } = await claim()
    const set = (columns: string) => pool.query(`update settlements set ${columns} where id = $1`, [id])
    const refused = { code: '23514', constraint: 'settlements_sent' }
    await expect(set(`state = 'pending'`)).rejects.toMatchObject(refused)
    await set(`state = 'pending', transactions = '{0x1}'`)
    const close = `state = 'confirmed', closed_at = now(), block_number = 1, block_hash = '0x1'`
    await expect(set(close)).rejects.toMatchObject(refused)
    await set(`${close}, transaction = '0x1'`)
    const { rows } = await pool.query(
      `select convalidated as is_checked from pg_constraint where conname = 'settlements_sent'`,
    )
    expect(rows).toEqual([{ is_checked: true }])
  })
})
