import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import type { Clock } from '../../../src/ports/clock.js'
import type { Settlement, SettlementJournal } from '../../../src/ports/settlementJournal.js'
import type { Stream } from '../../../src/ports/streamStore.js'
import { counterNames, type DifferenceKind } from '../../../src/protocol/reconciliation.js'
import { specificationTiers } from '../../../src/protocol/tiers.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import type { Outcome } from '../../../src/schemes/scheme.js'
import { createIntentStore } from '../../../src/stores/postgres/intents/intentStore.js'
import { createSettlementJournal } from '../../../src/stores/postgres/journal/settlementJournal.js'
import { createReconciliationStore } from '../../../src/stores/postgres/reconciliation/reconciliationStore.js'
import { createStreamStore } from '../../../src/stores/postgres/streams/streamStore.js'
import { createReconciliation } from '../../../src/usecases/reconciliation/index.js'
import { viewStream } from '../../../src/usecases/streams/viewStream.js'
import { claimOf } from '../../support/claimOf.js'
import { emptyTables } from '../../support/emptyTables.js'
import { addInstance } from '../../support/instances.js'
import { intentOf } from '../../support/intentOf.js'
import { pollUntil } from '../../support/pollUntil.js'
import { useTestDatabase } from '../../support/postgres.js'
import { streamOf } from '../../support/streamOf.js'
import { createToyScheme } from '../../support/toyScheme.js'

/* The journal and everything beside it are written by the service; then one record is changed by hand. */

const account = randomUUID()
const block = { number: 7n, hash: '0xb7' }
const tier = specificationTiers.table.builder

const { pool, otherPool } = useTestDatabase()
let journal: SettlementJournal
/** What the chain shows, by transaction; a transaction that it does not have is `failed`. */
let chain: Map<string, Outcome>

beforeEach(async () => {
  await emptyTables(
    pool,
    'consumed_authorizations',
    'settlements',
    'instances',
    'webhook_deliveries',
    'quota_uses',
    'nightly_reconciliations',
    'intents',
    'stream_payments',
    'streams',
    'dropped_broadcasts',
  )
  journal = createSettlementJournal(pool, await addInstance(pool))
  chain = new Map()
})

const settle = async (
  outcome: 'confirmed' | 'failed' | 'open',
  changes: { caller?: string; fingerprint?: string } = {},
): Promise<Settlement> => {
  const { caller = account, fingerprint = 'f' } = changes
  const claim = claimOf({
    network: 'toy:1',
    asset: 'gold',
    amount: 1_000n,
    caller,
    fingerprint,
    authorizationId: randomUUID(),
    wallets: { payer: 'alice', payee: 'bob' },
    dollarDecimals: 3,
  })
  const quota = caller === 'anonymous' || tier === undefined ? null : { tier, at: new Date() }
  const settlement = await journal.claim(claim, quota)
  if (settlement === null) throw new Error('The authorization has a settlement')
  const transaction = `tx of ${settlement.id}`
  await journal.recorderFor(settlement.id).record({ transaction, bytes: transaction })
  if (outcome === 'confirmed') {
    chain.set(transaction, { state: 'confirmed', transaction, block })
    await journal.close(settlement.id, { state: 'confirmed', transaction, block }, 'request:1')
  }
  if (outcome === 'failed') {
    await journal.close(settlement.id, { state: 'failed', reason: 'transaction_failed', transaction })
  }
  return settlement
}

/** Noon, so that the nightly job compares yesterday at any time of day. */
const noon = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000 + 43_200_000)
const clockAt = (now: Date): Clock => ({ ...systemClock, now: () => now })

const open = (options: { now?: Date; countersTimeoutMs?: number } = {}) => {
  const node = { isDown: false }
  const scheme = createToyScheme({
    resolve: async ({ broadcasts }) => {
      if (node.isDown) throw new Error('The node is down')
      const transaction = broadcasts.at(-1)?.transaction ?? ''
      return chain.get(transaction) ?? { state: 'failed', reason: 'transaction_failed', transaction }
    },
  })
  const gauges: unknown[] = []
  const store = createReconciliationStore(pool, otherPool)
  const { now, ...limits } = options
  const { useCases, jobs } = createReconciliation({
    store,
    nightlyStore: store,
    journal,
    registry: createSchemeRegistry([scheme]),
    gauges: { setLastReconciliation: (run) => void gauges.push(run) },
    clock: now === undefined ? systemClock : clockAt(now),
    logger: silentLogger,
    ...limits,
  })
  const reconcile = (changes: { limit?: number; cursor?: string; network?: string } = {}) =>
    useCases.reconcilePeriod({
      from: new Date(Date.now() - 3_600_000),
      to: new Date(Date.now() + 3_600_000),
      limit: 100,
      ...changes,
    })
  return { reconcile, jobs, gauges, node, store }
}

/** A closed stream and a completed intent, each with its settlement. */
const fillMetered = async () => {
  const streams = createStreamStore(pool)
  const stream = streamOf({ caller: account, createdAt: new Date() })
  const ofStream = await settle('confirmed', { fingerprint: `stream:${stream.id}` })
  const event = { type: 'stream.opened', data: viewStream(stream) } as const
  await streams.open({ stream, payment: {}, event, quota: null })
  const closed: Stream = {
    ...stream,
    state: 'closed',
    amount: 1_000n,
    finalAmount: 1_000n,
    settledAmount: 1_000n,
    settlementId: ofStream.id,
    transaction: `tx of ${ofStream.id}`,
    closedAt: new Date(),
  }
  await streams.change(stream.id, () => ({ state: 'changed', stream: closed, events: [] }))
  const { id } = intentOf()
  const ofIntent = await settle('confirmed', { fingerprint: `intent:${id}` })
  const intent = intentOf({
    id,
    caller: account,
    status: 'completed',
    payment: { settlementId: ofIntent.id, authorizationId: ofIntent.authorizationId },
    transaction: `tx of ${ofIntent.id}`,
    settledAmount: 1_000n,
    closedAt: new Date(),
  })
  await createIntentStore(pool).create({ intent, event: null })
}

const fill = async () => {
  const paid = await settle('confirmed')
  const failed = await settle('failed')
  await settle('confirmed')
  await settle('confirmed', { caller: 'anonymous' })
  await settle('open')
  return { paid, failed }
}

const deleteTransactions = async ({ id }: Settlement) => {
  await pool.query('delete from broadcast_settlements where settlement_id = $1', [id])
  await pool.query('delete from broadcasts where transaction = $1', [`tx of ${id}`])
}

/** Transactions of one signer. */
const recordNonces = async (...nonces: readonly (readonly [nonce: number, age: string])[]) => {
  for (const [nonce, age] of nonces) {
    await pool.query(
      `insert into broadcasts (network, transaction, bytes, signer, nonce, recorded_at)
       values ('toy:1', $1, $1, 'carol', $2, now() - $3::interval)`,
      [`tx ${nonce}`, nonce, age],
    )
  }
}

describe('a reconciliation', () => {
  it('of a sound database finds no difference, and sums what moved', async () => {
    await fill()
    const page = await open().reconcile()
    expect(page.differences).toEqual([])
    expect(page).toMatchObject({
      isBalanced: true,
      checked: { settlements: 5, onChain: 4, unproven: 0, unavailable: 0 },
      totals: [{ network: 'toy:1', asset: 'gold', confirmed: 3, failed: 1, pending: 1, amount: '3000' }],
    })
    expect(page.settlements.map(({ chain: shown, event }) => `${shown} ${event}`).sort()).toEqual(
      ['agrees none', 'agrees stored', 'agrees stored', 'agrees stored', 'open none'].sort(),
    )
  })

  const planted: readonly (readonly [
    string,
    readonly DifferenceKind[],
    (of: { paid: Settlement; failed: Settlement }) => unknown,
  ])[] = [
    ['the chain lost the payment', ['payment_missing'], ({ paid }) => chain.delete(`tx of ${paid.id}`)],
    [
      'the chain shows another transaction',
      ['payment_differs'],
      ({ paid }) => chain.set(`tx of ${paid.id}`, { state: 'confirmed', transaction: 'other', block }),
    ],
    [
      'the chain moved less',
      ['payment_differs'],
      ({ paid: { id } }) =>
        chain.set(`tx of ${id}`, {
          state: 'confirmed',
          transaction: `tx of ${id}`,
          block,
          settledAmount: 999n,
        }),
    ],
    [
      'the chain has the final payment in another block',
      ['payment_differs'],
      async ({ paid: { id } }) => {
        await pool.query('update settlements set is_final = true where id = $1', [id])
        chain.set(`tx of ${id}`, {
          state: 'confirmed',
          transaction: `tx of ${id}`,
          block: { ...block, hash: '0x' },
        })
      },
    ],
    [
      'the chain shows a payment that is failed here',
      ['payment_unrecorded'],
      ({ failed: { id } }) => chain.set(`tx of ${id}`, { state: 'confirmed', transaction: `tx of ${id}` }),
    ],
    [
      'an amount was changed in the journal',
      ['payment_differs', 'event_differs'],
      ({ paid }) => pool.query('update settlements set settled_amount = 5 where id = $1', [paid.id]),
    ],
    [
      'an event was lost',
      ['event_missing'],
      ({ paid }) => pool.query('delete from webhook_deliveries where settlement_id = $1', [paid.id]),
    ],
    [
      'an event says another amount',
      ['event_differs'],
      ({ paid }) =>
        pool.query(
          `update webhook_deliveries set data = data::jsonb || '{"amount": "1"}' where settlement_id = $1`,
          [paid.id],
        ),
    ],
    [
      'an event was not accepted',
      ['event_undelivered'],
      ({ paid }) =>
        pool.query(`update webhook_deliveries set state = 'failed' where settlement_id = $1`, [paid.id]),
    ],
    [
      'a settlement is neither counted nor charged',
      ['fee_missing', 'quota_differs', 'quota_uncounted'],
      ({ paid }) =>
        pool.query('update settlements set quota_month = null, fee_rate = null where id = $1', [paid.id]),
    ],
    ['a quota was changed', ['quota_differs'], () => pool.query('update quota_uses set used = used + 1')],
    ['a quota was lost', ['quota_differs'], () => pool.query('delete from quota_uses')],
    [
      'the totals are wrong',
      ['totals_differ'],
      () => pool.query('update settlement_totals set confirmed = confirmed + 1 where slot = 3'),
    ],
    ['a day is wrong', ['days_differ'], () => pool.query('update account_days set count = count - 1')],
    ['a day is missing', ['days_differ'], () => pool.query('delete from account_days')],
    [
      'an open settlement is not listed',
      ['open_list_differs'],
      () => pool.query('delete from open_settlements'),
    ],
    [
      'a settlement is listed as open that is not',
      ['open_list_differs'],
      ({ paid }) => pool.query('insert into open_settlements values ($1)', [paid.id]),
    ],
    [
      'a settlement was deleted',
      [
        'credit_differs',
        'days_differ',
        'quota_differs',
        'settlement_missing',
        'totals_differ',
        'unfinal_list_differs',
      ],
      async ({ paid }) => {
        await deleteTransactions(paid)
        await pool.query('delete from settlements where id = $1', [paid.id])
      },
    ],
    ...['asset', 'pay_to', 'payer', 'scheme', 'authorization_id'].map((column): (typeof planted)[number] => [
      `another ${column} was written into a settled row`,
      column === 'scheme' ? ['authorization_differs', 'unfinal_list_differs'] : ['authorization_differs'],
      ({ paid }) => pool.query(`update settlements set ${column} = 'another' where id = $1`, [paid.id]),
    ]),
    [
      'a settled row was copied',
      ['event_missing', 'payment_duplicated', 'quota_differs'],
      ({ paid }) =>
        pool.query(
          `insert into settlements select (jsonb_populate_record(s,
             jsonb_build_object('id', gen_random_uuid(), 'authorization_id', 'another'))).* from settlements s where id = $1`,
          [paid.id],
        ),
    ],
    ['a payment has no transaction', ['payment_missing'], ({ paid }) => deleteTransactions(paid)],
    [
      'a signer used a nonce that no transaction has',
      ['transaction_unrecorded'],
      () => recordNonces([5, '20 minutes'], [6, '20 minutes'], [8, '20 minutes']),
    ],
    [
      'a settlement that is not final is not listed',
      ['unfinal_list_differs'],
      ({ paid }) => pool.query('delete from unfinal_settlements where settlement_id = $1', [paid.id]),
    ],
  ]

  it.each(planted)('finds that %s: %j', async (_, kinds, plant) => {
    await plant(await fill())
    const page = await open().reconcile()
    expect([...new Set(page.differences.map(({ kind }) => kind))].sort()).toEqual([...kinds].sort())
    expect(page.isBalanced).toBe(false)
  })

  it('names the nonces that no transaction has', async () => {
    await recordNonces([5, '50 minutes'], [7, '40 minutes'], [11, '30 minutes'])
    const { differences } = await open().reconcile()
    expect(differences).toEqual(
      ['6', '8 to 10'].map((nonces) => ({
        kind: 'transaction_unrecorded',
        message: `The journal has no transaction of carol on toy:1 with nonce ${nonces}`,
        network: 'toy:1',
        expected: 'none',
        actual: nonces,
      })),
    )
  })

  it.each([
    ['before the first transaction of a signer', [[5, '20 minutes']]],
    [
      'before a transaction of another period',
      [
        [5, '3 hours'],
        [8, '2 hours'],
      ],
    ],
    [
      'between transactions that follow each other',
      [
        [5, '30 minutes'],
        [6, '20 minutes'],
      ],
    ],
    [
      'before a transaction of this moment',
      [
        [5, '20 minutes'],
        [8, '1 minute'],
      ],
    ],
  ] as const)('finds no nonce missing %s', async (_, nonces) => {
    await recordNonces(...nonces)
    expect((await open().reconcile()).differences).toEqual([])
  })

  it('of streams and intents and their settlements finds no difference', async () => {
    await fillMetered()
    expect((await open().reconcile()).differences).toEqual([])
  })

  it('of a stream over a channel compares the total that its claim reached', async () => {
    await fillMetered()
    await pool.query(`update streams set channel = '{"id":"0x5c","config":{}}', baseline = 5`)
    await pool.query(
      `update settlements set settled_amount = 0, details = '{"rows":[{"channelId":"0x5c","total":"1005"}]}'
       where fingerprint like 'stream:%'`,
    )
    const listStreams = async () =>
      (await open().reconcile()).differences.filter(({ kind }) => kind === 'stream_differs')
    expect(await listStreams()).toEqual([])
    await pool.query('update streams set baseline = 6')
    expect(await listStreams()).toMatchObject([{ kind: 'stream_differs' }])
    // The channel had reached the total before: nothing was sent.
    await pool.query('update streams set settlement_id = null')
    expect(await listStreams()).toEqual([])
  })

  it.each([
    ['a stream settled another amount', 'stream_differs', 'update streams set final_amount = 1001'],
    ['a stream names no settlement', 'stream_differs', 'update streams set settlement_id = null'],
    ['a stream was settled that failed', 'stream_differs', `update streams set state = 'failed'`],
    [
      'an intent names no settlement',
      'intent_differs',
      'update intents set settlement_id = gen_random_uuid()',
    ],
    ['an intent settled another amount', 'intent_differs', 'update intents set settled_amount = 999'],
    [
      'an intent was paid that can still be paid',
      'intent_differs',
      `update intents set status = 'pending', settlement_id = null, authorization_id = null, closed_at = null`,
    ],
    [
      'an intent was paid that expired',
      'intent_differs',
      `update intents set status = 'expired', settlement_id = null, authorization_id = null`,
    ],
    ['an intent was paid that failed', 'intent_differs', `update intents set status = 'failed'`],
    ['the credit of a wallet is wrong', 'credit_differs', 'update credit_edges set volume = volume + 1'],
    ['the credit of a wallet is missing', 'credit_differs', 'delete from credit_edges'],
    [
      'a payment is counted for another payee',
      'credit_differs',
      `update credit_edges set payee = 'toy:carol'`,
    ],
    [
      'the payments of a wallet are wrong',
      'credit_differs',
      'update credit_wallets set paid_payments = paid_payments + 1',
    ],
    [
      'the volume of a wallet is wrong',
      'credit_differs',
      'update credit_wallets set paid_volume = paid_volume + 1',
    ],
    [
      'the payments of a wallet after the limits are wrong',
      'credit_differs',
      'update credit_wallets set paid_capped_payments = paid_capped_payments + 1',
    ],
    [
      'the volume of a wallet after the limits is wrong',
      'credit_differs',
      'update credit_wallets set paid_capped_volume = paid_capped_volume + 1',
    ],
    [
      'the payees of a wallet are wrong',
      'credit_differs',
      'update credit_wallets set paid_payees = paid_payees + 1',
    ],
    ['the failures of a wallet are wrong', 'credit_differs', 'update credit_wallets set failures = 1'],
    [
      'a failure is not counted',
      'credit_differs',
      `insert into credit_failures values ('none', 'toy:alice')`,
    ],
    ['a wallet with credit is missing', 'credit_differs', 'delete from credit_wallets'],
  ] as const)('finds that %s', async (_, kind, plant) => {
    await fillMetered()
    await pool.query(plant)
    const { differences } = await open().reconcile()
    expect([...new Set(differences.map((found) => found.kind))]).toEqual([kind])
  })

  it('of streams and intents whose settlement a reorg reopened, or another transaction confirmed, finds none', async () => {
    await fillMetered()
    await pool.query(
      `update settlements set state = 'pending', settled_amount = null, closed_at = null, block_number = null, block_hash = null`,
    )
    const streamsAndIntents = async () =>
      (await open().reconcile()).differences.filter(({ kind }) => /^(stream|intent)_/.test(kind))
    expect(await streamsAndIntents()).toEqual([])
    await pool.query(
      `update settlements set state = 'confirmed', settled_amount = amount, closed_at = now(), transaction = 'other'`,
    )
    expect(await streamsAndIntents()).toEqual([])
    await pool.query('update settlements set settled_amount = 999')
    expect((await streamsAndIntents()).map(({ kind, expected }) => `${kind} ${expected}`)).toEqual([
      'intent_differs confirmed 999',
      'stream_differs confirmed 999',
    ])
  })

  it('says that a stream has no settlement', async () => {
    await fillMetered()
    await pool.query('update streams set settlement_id = null')
    expect((await open().reconcile()).differences).toEqual([
      expect.objectContaining({ kind: 'stream_differs', expected: 'none', actual: 'confirmed 1000' }),
    ])
  })

  it('counts all differences of a kind, and says that it does not list all', async () => {
    await pool.query('insert into open_settlements select gen_random_uuid() from generate_series(1, 1500)')
    const page = await open().reconcile()
    expect(page).toMatchObject({
      isBalanced: false,
      isTruncated: true,
      counts: [{ kind: 'open_list_differs', count: 1_500 }],
    })
    expect(page.differences).toHaveLength(1_000)
  })

  it('counts all streams that differ', async () => {
    await fillMetered()
    await pool.query(
      `insert into streams select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(),
         'authorization_id', gen_random_uuid(), 'settlement_id', null))).*
       from streams s, generate_series(1, 1100)`,
    )
    const { counts, differences, isTruncated } = await open().reconcile()
    expect([counts, differences.length, isTruncated]).toEqual([
      [{ kind: 'stream_differs', count: 1_100 }],
      1_000,
      true,
    ])
  })

  it('says which counters were not compared in time, and answers the rest', async () => {
    await fill()
    const other = await pool.connect()
    try {
      await other.query('begin')
      await other.query('lock table open_settlements in access exclusive mode')
      const { store } = open()
      const never = new AbortController().signal
      const period = { from: new Date(0), to: new Date() }
      const limit = { timeoutMs: 50, stopped: never }
      expect(await store.findCountDifferences('open_list', period, limit)).toBeNull()
      expect(await store.findCountDifferences('totals', period, { ...limit, timeoutMs: 60_000 })).toEqual({
        differences: [],
        counts: [],
      })
    } finally {
      await other.query('rollback')
      other.release()
    }
    const page = await open({ countersTimeoutMs: 0 }).reconcile()
    expect(page).toMatchObject({
      isBalanced: false,
      checked: { settlements: 5 },
      counts: [{ kind: 'not_compared', count: counterNames.length + 1 }],
    })
    expect(page.totals).toBeUndefined()
    expect(page.differences[1]?.message).toContain('Not compared: open_list')
  })

  it('is not balanced while an event waits for its webhook', async () => {
    const { paid } = await fill()
    await pool.query(
      `update webhook_deliveries set state = 'waiting', due_at = now() where settlement_id = $1`,
      [paid.id],
    )
    expect(await open().reconcile()).toMatchObject({
      isBalanced: false,
      differences: [],
      checked: { open: 1, waitingEvents: 1 },
    })
  })

  it('of an intent that is about to be completed finds no difference', async () => {
    await fillMetered()
    await pool.query(`update intents set status = 'executing', closed_at = null`)
    expect((await open().reconcile()).differences).toEqual([])
  })

  it('finds that the ledger has another fee', async () => {
    await fill()
    const { rows } = await pool.query(`select pg_get_viewdef('fee_ledger') as view`)
    const { view } = z.object({ view: z.string() }).parse(rows[0])
    const replace = 'create or replace view fee_ledger as'
    await pool.query(`${replace} ${view.replace('trim_scale((', 'trim_scale((2::numeric * ')}`)
    const { differences } = await open().reconcile()
    await pool.query(`${replace} ${view}`)
    expect(differences.map(({ kind }) => kind)).toEqual(['fee_differs', 'fee_differs'])
  })

  it('names the settlement, its account and both sides', async () => {
    const { paid } = await fill()
    chain.delete(`tx of ${paid.id}`)
    const { differences, settlements } = await open().reconcile()
    expect(differences).toEqual([
      {
        kind: 'payment_missing',
        message: expect.stringContaining('nothing moved'),
        settlementId: paid.id,
        network: 'toy:1',
        accountId: account,
        expected: `tx of ${paid.id}`,
        actual: 'transaction_failed',
      },
    ])
    expect(settlements.find(({ id }) => id === paid.id)).toMatchObject({
      chain: 'differs',
      differences: ['payment_missing'],
    })
  })

  it('says what it could not check, and is not balanced then', async () => {
    await fill()
    const opened = open()
    opened.node.isDown = true
    const page = await opened.reconcile()
    expect(page).toMatchObject({
      isBalanced: false,
      differences: [],
      checked: { onChain: 0, unavailable: 4 },
    })
  })

  it('proves no payment whose signed transaction was dropped, and takes it for no lost one', async () => {
    const { paid } = await fill()
    await deleteTransactions(paid)
    await pool.query(
      `insert into dropped_broadcasts values ('toy:1', now(), gen_random_uuid(), now() + interval '1 minute')`,
    )
    const page = await open().reconcile()
    expect(page).toMatchObject({ differences: [], checked: { onChain: 3, unproven: 1 } })
  })

  it('of a failed settlement whose authorization was settled later finds no difference', async () => {
    const failed = await settle('failed')
    const again = await journal.claim(claimOf({ authorizationId: failed.authorizationId, network: 'toy:1' }))
    if (again === null) throw new Error('It cannot be settled again')
    await journal.recorderFor(again.id).record({ transaction: 'second', bytes: 'second' })
    await journal.close(again.id, { state: 'confirmed', transaction: 'second' })
    chain.set('second', { state: 'confirmed', transaction: 'second' })
    chain.set(`tx of ${failed.id}`, { state: 'confirmed', transaction: 'second' })
    expect((await open().reconcile()).differences).toEqual([])
  })

  it('has pages that together have every settlement once', async () => {
    for (let count = 0; count < 3; count++) await fill()
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await open().reconcile({ limit: 4, ...(cursor === undefined ? {} : { cursor }) })
      seen.push(...page.settlements.map(({ id }) => id))
      expect(page.totals === undefined).toBe(cursor !== undefined)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(new Set(seen).size).toBe(15)
    expect(seen).toHaveLength(15)
  })

  it('has pages in the order of microseconds: none is skipped or repeated within a millisecond', async () => {
    for (let count = 0; count < 3; count++) await fill()
    // Ids grow as times fall, and the lists of states alternate.
    await pool.query(
      `update settlements s set created_at = date_trunc('second', now()) - interval '1 minute' + n * interval '1 microsecond'
       from (select id, row_number() over (order by id desc) as n from settlements) o where o.id = s.id`,
    )
    const { rows } = await pool.query('select id from settlements order by created_at desc, id desc')
    const ids = z.array(z.object({ id: z.string() })).parse(rows)
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await open().reconcile({ limit: 2, ...(cursor === undefined ? {} : { cursor }) })
      seen.push(...page.settlements.map(({ id }) => id))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(seen).toEqual(ids.map(({ id }) => id))
  })

  it('can be of one network, and refuses one that is neither configured nor in the journal', async () => {
    await fill()
    expect((await open().reconcile({ network: 'toy:1' })).settlements).toHaveLength(5)
    await expect(open().reconcile({ network: 'toy:2' })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('network'),
    })
    for (const state of ['failed', 'claimed', 'confirmed']) {
      await pool.query(`update settlements set network = 'toy:1'`)
      await pool.query(
        `update settlements set network = $2 where id = (select id from settlements where state = $1 limit 1)`,
        [state === 'claimed' ? 'pending' : state, `toy:${state}`],
      )
      const page = await open().reconcile({ network: `toy:${state}` })
      expect(page.settlements.map(({ network }) => network)).toEqual([`toy:${state}`])
    }
  })

  it.each([
    ['an empty period', { from: new Date(5), to: new Date(5) }, 'from'],
    ['an unknown cursor', { from: new Date(4), to: new Date(5), cursor: randomUUID() }, 'cursor'],
  ])('of %s is refused', async (_, query, field) => {
    const { useCases } = createReconciliation({
      store: createReconciliationStore(pool, pool),
      nightlyStore: createReconciliationStore(pool, pool),
      journal,
      registry: createSchemeRegistry([]),
      gauges: { setLastReconciliation: () => undefined },
      clock: systemClock,
      logger: silentLogger,
    })
    await expect(useCases.reconcilePeriod({ limit: 1, ...query })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining(field),
    })
  })
})

describe('the nightly reconciliation', () => {
  const never = new AbortController().signal
  const day = 86_400_000
  /** The middle of a day before noon, and so safe from midnight. */
  const setAge = (days: number) =>
    pool.query('update settlements set created_at = $1', [new Date(noon.getTime() - days * day)])
  const dayOf = (days: number) => new Date(noon.getTime() - days * day).toISOString().slice(0, 10)
  const readRuns = async () =>
    (
      await pool.query(
        `select to_char(day, 'YYYY-MM-DD') as day, settlements::int, counts, finished_at is not null as ended
         from nightly_reconciliations order by day`,
      )
    ).rows

  it('compares the last two days once, and its figures are measured', async () => {
    const { paid } = await fill()
    await setAge(1)
    await pool.query(`update settlements set created_at = created_at - interval '1 day' where id = $1`, [
      paid.id,
    ])
    chain.delete(`tx of ${paid.id}`)
    const { jobs, gauges } = open({ now: noon })
    await jobs.reconcileNightly.run(never)
    await jobs.measureReconciliation.run(never)
    const counts = [
      { kind: 'payment_missing', count: 1 },
      { kind: 'days_differ', count: 2 },
    ]
    expect(gauges).toEqual([{ counts, unchecked: 0, finishedAt: expect.any(String) }])
    expect((await open().reconcile()).lastNightly).toMatchObject({
      day: dayOf(1),
      settlements: 5,
      open: 1,
      unchecked: 0,
      differences: 3,
      listed: [
        { kind: 'payment_missing', settlementId: paid.id },
        { kind: 'days_differ' },
        { kind: 'days_differ' },
      ],
    })
    chain.clear()
    await jobs.reconcileNightly.run(never)
    expect(await readRuns()).toEqual([{ day: dayOf(1), settlements: 5, counts, ended: true }])
  })

  it('that was stopped is continued where it was', async () => {
    await fill()
    await setAge(1)
    const stopped = new AbortController()
    stopped.abort()
    const { jobs } = open({ now: noon })
    await jobs.reconcileNightly.run(stopped.signal)
    expect(await readRuns()).toEqual([expect.objectContaining({ settlements: 0, ended: false })])
    await jobs.reconcileNightly.run(never)
    expect((await open().reconcile()).lastNightly).toMatchObject({ settlements: 5 })
  })

  it('looks again the next day at what could not be checked', async () => {
    await fill()
    await setAge(1)
    const first = open({ now: noon })
    first.node.isDown = true
    await first.jobs.reconcileNightly.run(never)
    expect((await open().reconcile()).lastNightly).toMatchObject({ day: dayOf(1), unchecked: 4 })
    await open({ now: new Date(noon.getTime() + day) }).jobs.reconcileNightly.run(never)
    expect((await open().reconcile()).lastNightly).toMatchObject({
      day: dayOf(0),
      settlements: 5,
      unchecked: 0,
    })
  })

  it('makes up for missed days, the oldest first, at most seven', async () => {
    const on = (days: number) => open({ now: new Date(noon.getTime() + days * day) }).jobs.reconcileNightly
    await on(0).run(never)
    for (let round = 0; round < 5; round += 1) await on(3).run(never)
    expect((await readRuns()).map((run) => run.day)).toEqual([dayOf(1), dayOf(0), dayOf(-1), dayOf(-2)])
    for (let round = 0; round < 12; round += 1) await on(20).run(never)
    const days = (await readRuns()).map((run) => run.day)
    expect(days).toHaveLength(4 + 7)
    expect([days[4], days.at(-1)]).toEqual([dayOf(-13), dayOf(-19)])
  })

  it('is started before anything is compared, and raises the figures before it ends', async () => {
    const { paid } = await fill()
    await setAge(1)
    chain.delete(`tx of ${paid.id}`)
    const { jobs, gauges } = open({ now: noon })
    const other = await pool.connect()
    try {
      await other.query('begin')
      await other.query('lock table unfinal_settlements in access exclusive mode')
      const stopped = new AbortController()
      const running = jobs.reconcileNightly.run(stopped.signal)
      const seen = async () => (await readRuns()).find(({ settlements }) => settlements === 5)
      expect(await pollUntil(seen, 'the comparison of settlements', readRuns)).toMatchObject({ ended: false })
      expect(await readRuns()).toHaveLength(1)
      await jobs.measureReconciliation.run(never)
      expect(gauges).toEqual([
        { counts: [{ kind: 'payment_missing', count: 1 }], unchecked: 0, finishedAt: expect.any(String) },
      ])
      // Other databases of the server have the same numbers of tables.
      const waiting = `select from pg_locks where not granted and relation = 'unfinal_settlements'::regclass
        and database = (select oid from pg_database where datname = current_database())`
      await pollUntil(async () => (await pool.query(waiting)).rowCount === 1, 'the second counter to wait')
      // Another instance does not count at the same time.
      await open({ now: noon }).jobs.reconcileNightly.run(never)
      expect((await pool.query(waiting)).rowCount).toBe(1)
      // A stop cancels the statement: the job ends while the table is still locked.
      stopped.abort()
      await running
      const { rows } = await pool.query('select counting_until, counted from nightly_reconciliations')
      expect(rows).toEqual([{ counting_until: null, counted: ['open_list'] }])
    } finally {
      await other.query('rollback')
      other.release()
    }
    await jobs.reconcileNightly.run(never)
    expect(await readRuns()).toEqual([expect.objectContaining({ ended: true })])
  })

  it('lists a difference of a counter behind many of another kind', async () => {
    for (let count = 0; count < 12; count += 1) await settle('confirmed')
    await setAge(1)
    await pool.query(`update webhook_deliveries set state = 'failed'`)
    await pool.query('update account_days set count = count + 1')
    await open({ now: noon }).jobs.reconcileNightly.run(never)
    const { lastNightly } = await open().reconcile()
    expect(lastNightly?.counts).toContainEqual({ kind: 'event_undelivered', count: 12 })
    const listed = lastNightly?.listed.map(({ kind }) => kind) ?? []
    expect(listed.filter((kind) => kind === 'event_undelivered')).toHaveLength(10)
    expect(listed).toContain('days_differ')
  })
})
