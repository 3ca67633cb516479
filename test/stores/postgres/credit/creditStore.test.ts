import { randomUUID } from 'node:crypto'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { CreditFacts } from '../../../../src/ports/creditStore.js'
import type { SettlementJournal } from '../../../../src/ports/settlementJournal.js'
import { isReason, type Reason, reasons } from '../../../../src/protocol/reasons.js'
import { createCreditStore } from '../../../../src/stores/postgres/credit/creditStore.js'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { createConfirmedBlocks } from '../../../../src/stores/postgres/journal/confirmedBlocks.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { creditFormula, scoreCredit } from '../../../../src/usecases/credit/score.js'
import { type OpenPayment, openPayments } from '../../../support/creditModel.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance } from '../../../support/instances.js'
import { readTable } from '../../../support/markdown.js'
import { patientPool } from '../../../support/patientPool.js'
import { usePatientQueues } from '../../../support/patientQueues.js'
import { pollUntil, waitLimitMs } from '../../../support/pollUntil.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { readText } from '../../../support/readText.js'
import { withoutCredit } from '../../../support/withoutCredit.js'

const network = 'eip155:84532'
const block = { number: 7n, hash: '0x7' }
const unstopped = new AbortController().signal

describe('the credit store', () => {
  usePatientQueues()
  const database = useTestDatabase()
  let journal: SettlementJournal
  const { pool } = database
  /** Ends no statement by itself. */
  const patient = openPool({
    ...patientPool,
    url: database.url,
    maxConnections: 2,
    statementTimeoutMs: 3_600_000,
  })
  const impatientStore = createCreditStore(patient, database.otherPool)
  const blocks = createConfirmedBlocks(pool)
  const store = createCreditStore(pool, database.otherPool, { recountTimeoutMs: waitLimitMs })
  beforeAll(async () => {
    journal = createSettlementJournal(pool, await addInstance(pool))
  })
  afterAll(() => patient.end())
  beforeEach(() => emptyTables(pool, 'consumed_authorizations', 'settlements'))

  const open = async (payment: OpenPayment): Promise<string> => (await openPayments(pool, [payment]))[0] ?? ''
  const confirm = (id: string) => journal.close(id, { state: 'confirmed', transaction: id, block })
  const fail = (id: string, reason: Reason = 'insufficient_funds') =>
    journal.close(id, { state: 'failed', reason })
  const pay = async (payer: string, payee: string, more: Partial<OpenPayment> = {}) => {
    const id = await open({ payer, payee, ...more })
    await confirm(id)
    return id
  }
  const takeBack = () => blocks.reopen({ network, scheme: 'exact', block })
  const read = async (wallet: string): Promise<CreditFacts | undefined> =>
    (await store.read([`eip155:${wallet}`]))[0]?.facts
  const countPayments = async (wallet: string) => (await read(wallet))?.payments ?? 0

  it('knows a payment as soon as it is confirmed', async () => {
    const createdAt = new Date('2026-05-01T00:00:00Z')
    await pay('ada', 'shop', { amount: 2_500_000n, createdAt })
    expect(await read('ada')).toEqual({
      payments: 1,
      volume: 2_500_000n,
      cappedPayments: 1,
      cappedVolume: 2_500_000n,
      payees: 1,
      returnedPayments: 0,
      returnedVolume: 0n,
      failures: 0,
      firstAt: createdAt,
    })
    expect(await read('shop')).toBeUndefined()
  })

  it('counts what was settled, not what was authorized', async () => {
    const id = await open({ payer: 'ada', payee: 'shop', amount: 5_000_000n })
    await journal.close(id, { state: 'confirmed', transaction: 'x', settledAmount: 3_000_000n })
    expect((await read('ada'))?.volume).toBe(3_000_000n)
  })

  it.each<[what: string, payment: Partial<OpenPayment>, volume: bigint | undefined]>([
    ['2 decimals', { decimals: 2, amount: 150n }, 1_500_000n],
    ['18 decimals', { decimals: 18, amount: 1_500_000_999_999_999_999n }, 1_500_000n],
    ['the largest amount', { decimals: 0, amount: 2n ** 256n - 1n }, (2n ** 256n - 1n) * 1_000_000n],
    ['a cent', { amount: 10_000n }, 10_000n],
    ['less than a cent', { amount: 9_999n }, undefined],
    ['nothing', { amount: 0n }, undefined],
    ['unknown worth', { decimals: null }, undefined],
    ['a payment to oneself', { payee: 'ada' }, undefined],
    ['a payee whose name is too long for an index', { payee: 'x'.repeat(3_000) }, undefined],
  ])('counts %s', async (_what, payment, volume) => {
    await pay('ada', payment.payee ?? 'shop', payment)
    expect((await read('ada'))?.volume).toBe(volume)
  })

  it('counts at most so much of each payee as the formula says', async () => {
    const { paymentsPerPayee, dollarsPerPayee } = creditFormula
    for (let count = 0; count <= paymentsPerPayee; count += 1) {
      await pay('ada', 'shop', { amount: BigInt(dollarsPerPayee) * 1_000_000n })
    }
    await pay('ada', 'baker')
    expect(await read('ada')).toMatchObject({
      payments: paymentsPerPayee + 2,
      cappedPayments: paymentsPerPayee + 1,
      cappedVolume: BigInt(dollarsPerPayee + 1) * 1_000_000n,
      payees: 2,
    })
  })

  it('tells families apart, and not networks of a family', async () => {
    await pay('ada', 'shop', { network: 'eip155:1' })
    await pay('ada', 'shop', { network: 'eip155:8453' })
    await pay('ada', 'shop', { network: 'near:mainnet' })
    const found = await store.read(['eip155:ada', 'near:ada'])
    expect(found.map(({ wallet, facts }) => [wallet, facts.payments]).sort()).toEqual([
      ['eip155:ada', 2],
      ['near:ada', 1],
    ])
  })

  describe('of a reorg', () => {
    it('takes back what was confirmed, and counts it again', async () => {
      const id = await pay('ada', 'shop')
      await takeBack()
      expect(await countPayments('ada')).toBe(0)
      expect((await read('ada'))?.firstAt).toBeNull()
      await confirm(id)
      expect(await countPayments('ada')).toBe(1)
    })

    it('finds the earliest payment that is left', async () => {
      await pay('ada', 'shop', { createdAt: new Date('2026-01-01') })
      await pay('ada', 'shop', { createdAt: new Date('2026-01-02') })
      const later = await open({ payer: 'ada', payee: 'shop', createdAt: new Date('2026-01-03') })
      await journal.close(later, { state: 'confirmed', transaction: 'x', block: { number: 8n, hash: '0x8' } })
      await takeBack()
      expect(await read('ada')).toMatchObject({ payments: 1, firstAt: new Date('2026-01-03') })
      expect(await store.recount('eip155:ada')).toEqual({ isComplete: true, repairs: 0 })
    })
  })

  describe('of failures', () => {
    const failures = async () => (await read('ada'))?.failures ?? 0

    it('counts an authorization once, however often it is tried', async () => {
      for (let attempt = 0; attempt < 3; attempt += 1) {
        await fail(await open({ payer: 'ada', payee: 'shop', authorizationId: 'one' }))
      }
      expect(await failures()).toBe(1)
    })

    it('counts none that was made good, until the payment is taken back', async () => {
      await fail(await open({ payer: 'ada', payee: 'shop', authorizationId: 'one' }))
      await pay('ada', 'shop', { authorizationId: 'one' })
      expect(await read('ada')).toMatchObject({ payments: 1, failures: 0 })
      await takeBack()
      expect(await read('ada')).toMatchObject({ payments: 0, failures: 1 })
    })

    it('counts those that only the payer can cause', async () => {
      const { rows } = await pool.query<{ reason: string }>(
        'select reason from unnest($1::text[]) reason where credit_is_fault(reason) order by reason',
        [Object.keys(reasons)],
      )
      const counted = rows.map(({ reason }) => reason)
      expect(counted).toEqual([
        'insufficient_balance',
        'insufficient_funds',
        'insufficient_jetton_balance',
        'invalid_exact_svm_payload_transaction_sender_ata_not_found',
        'permit2_allowance_required',
      ])
      expect(counted.every(isReason)).toBe(true)
      await fail(await open({ payer: 'ada', payee: 'shop' }), 'invalid_exact_evm_nonce_already_used')
      expect(await failures()).toBe(0)
    })

    it.each<[string, Partial<OpenPayment>]>([
      ['less than a cent', { amount: 9_999n }],
      ['unknown worth', { decimals: null }],
      ['a payment to oneself', { payee: 'ada' }],
    ])('counts none of %s', async (_what, payment) => {
      await fail(await open({ payer: 'ada', payee: 'shop', ...payment }))
      expect(await failures()).toBe(0)
    })

    it('counts those to payees that pay back', async () => {
      await fail(await open({ payer: 'ada', payee: 'shop' }))
      await pay('ada', 'shop')
      await pay('shop', 'ada')
      expect(await read('ada')).toMatchObject({ payments: 0, returnedPayments: 1, failures: 1 })
    })
  })

  describe('of what comes back', () => {
    const cents = (dollars: string) => BigInt(Math.round(Number(dollars) * 100)) * 10_000n

    const examples = readTable(readText('docs/credit.md'), 'Kept dollars').map(
      (row) => [row.Case ?? '', row] as const,
    )

    it('has eight examples', () => expect(examples).toHaveLength(8))

    it.each(examples)('scores docs/credit.md: %s', async (_case, row) => {
      const now = new Date('2026-06-01T00:00:00Z')
      const createdAt = new Date(now.getTime() - 312 * 86_400_000)
      const payees = Array.from({ length: 20 }, (_each, index) => `p${index + 1}`)
      const further = [
        ...(row['Further payments, in dollars'] ?? '').matchAll(/`(\S+)>(\S+) (\S+)`/g),
      ].flatMap(([, from = '', payee = '', dollars = '']) =>
        (from === 'p1…p20' ? payees : [from]).map((payer) => ({ payer, payee, amount: cents(dollars) })),
      )
      const paid = payees.map((payee) => ({ payer: 'a', payee, amount: cents('100'), createdAt }))
      // Whichever of the payments came last.
      for (const id of await openPayments(pool, [...further, ...paid])) await confirm(id)
      const facts = await read('a')
      expect(facts?.volume).toBe(cents(row['Kept dollars'] ?? ''))
      expect(facts === undefined ? 0 : scoreCredit(facts, now).score).toBe(Number(row.score))
      expect(await store.recount('eip155:a')).toEqual({ isComplete: true, repairs: 0 })
      expect(await read('a')).toEqual(facts)
    })

    it('takes back what a reorg takes back', async () => {
      await pay('ada', 'bob')
      const back = await open({ payer: 'bob', payee: 'ada' })
      await journal.close(back, { state: 'confirmed', transaction: back, block: { number: 8n, hash: '0x8' } })
      expect(await read('ada')).toMatchObject({ payments: 0, returnedPayments: 1, firstAt: null })
      await blocks.reopen({ network, scheme: 'exact', block: { number: 8n, hash: '0x8' } })
      expect(await read('ada')).toMatchObject({ payments: 1, returnedPayments: 0, returnedVolume: 0n })
    })

    it('is dated by the earliest payment that counts', async () => {
      await pay('ada', 'bob', { createdAt: new Date('2026-01-01') })
      await pay('ada', 'shop', { createdAt: new Date('2026-01-02') })
      await pay('bob', 'ada')
      expect(await read('ada')).toMatchObject({ payments: 1, firstAt: new Date('2026-01-02') })
    })

    it('counts the share of the payments that was kept, rounded up, and one for each cent at most', async () => {
      for (let count = 0; count < 5; count += 1) await pay('ada', 'bob', { amount: 1_000_000n })
      await pay('bob', 'ada', { amount: 990_000n })
      expect(await read('ada')).toMatchObject({ payments: 5, volume: 4_010_000n, returnedPayments: 0 })
      await pay('bob', 'ada', { amount: 10_000n })
      expect(await read('ada')).toMatchObject({ payments: 4, volume: 4_000_000n, returnedPayments: 1 })
      await pay('bob', 'ada', { amount: 3_990_000n })
      expect(await read('ada')).toMatchObject({ payments: 1, volume: 10_000n, payees: 1 })
      await pay('bob', 'ada', { amount: 10_000n })
      expect(await read('ada')).toMatchObject({ payments: 0, volume: 0n, payees: 0, returnedPayments: 5 })
    })

    it('looks at the smaller side: a payee that pays many wallets hides nothing', async () => {
      const many = Array.from({ length: 1_500 }, (_each, index) => ({ payer: 'hub', payee: `w${index}` }))
      const ids = await openPayments(pool, [...many, { payer: 'w1499', payee: 'ada' }])
      await Promise.all(ids.map(confirm))
      await pay('ada', 'hub')
      expect(await read('ada')).toMatchObject({ payments: 0, returnedPayments: 1 })
      expect(await read('hub')).toMatchObject({ payments: 1_499, returnedPayments: 1 })
    })

    it('is bounded where both sides have many: it takes no more than flowed', async () => {
      const many = Array.from({ length: 1_200 }, (_each, index) => [
        { payer: 'ada', payee: `b${index}` },
        { payer: `b${index}`, payee: 'ada', amount: 10_000n },
      ]).flat()
      await Promise.all((await openPayments(pool, many)).map(confirm))
      const facts = await read('ada')
      expect(facts?.returnedVolume).toBeGreaterThanOrEqual(1_000n * 10_000n)
      expect(facts?.returnedVolume).toBeLessThanOrEqual(1_200n * 10_000n)
      expect(await store.recount('eip155:ada')).toEqual({ isComplete: true, repairs: 0 })
      expect(await read('ada')).toEqual(facts)
    })
  })

  describe('a recount', () => {
    it('finds nothing to repair after settlements', async () => {
      await pay('ada', 'shop')
      await pay('ada', 'baker')
      await fail(await open({ payer: 'ada', payee: 'shop' }))
      expect(await store.recount('eip155:ada')).toEqual({ isComplete: true, repairs: 0 })
      expect(await store.recount('eip155:unknown')).toEqual({ isComplete: true, repairs: 0 })
      expect(await store.read(['eip155:unknown'])).toEqual([])
    })

    it.each([
      ['payments of a pair', "update credit_edges set payments = 5, volume = 1 where payee = 'eip155:shop'"],
      ['a pair that is missing', "delete from credit_edges where payee = 'eip155:shop'"],
      [
        'a pair that never was',
        "insert into credit_edges values ('eip155:ada', 'eip155:x', 3, 3, now(), false)",
      ],
      ['the earliest payment of a pair', "update credit_edges set first_at = '2020-01-01'"],
      [
        'sums of the wallet',
        'update credit_wallets set paid_payments = 7, paid_capped_volume = 1, failures = 9',
      ],
      ['a wallet that is missing', 'delete from credit_wallets'],
      ['the age of the wallet', "update credit_wallets set paid_first_at = '2020-01-01'"],
      ['a failure that is missing', 'delete from credit_failures'],
      ['a failure that never was', "insert into credit_failures values ('none', 'eip155:ada')"],
    ])('repairs %s', async (_what, damage) => {
      await pay('ada', 'shop')
      await pay('ada', 'baker')
      await fail(await open({ payer: 'ada', payee: 'shop' }))
      const before = await read('ada')
      await pool.query(damage)
      expect((await store.recount('eip155:ada')).repairs).toBeGreaterThan(0)
      expect(await read('ada')).toEqual(before)
      expect(await store.recount('eip155:ada')).toEqual({ isComplete: true, repairs: 0 })
    })

    const whileHolding = async (sql: string, work: (holder: PoolClient) => Promise<void>) => {
      const holder = await database.otherPool.connect()
      try {
        await holder.query('begin')
        await holder.query(sql)
        await work(holder)
      } finally {
        await holder.query('rollback')
        holder.release()
      }
    }

    it('locks failures, then edges, then wallets, as the journal does: they cannot deadlock', async () => {
      await pay('ada', 'shop')
      await pool.query('update credit_edges set payments = 5, volume = 1')
      await pool.query('update credit_wallets set paid_payments = 7')
      await pool.query("insert into credit_failures values ('none', 'eip155:ada')")
      const isWaiting = async () =>
        (
          await pool.query(
            `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
               and query like '%credit_pairs%'`,
          )
        ).rowCount
      await whileHolding('select 1 from credit_edges for update', async (holder) => {
        const recount = store.recount('eip155:ada')
        await pollUntil(async () => (await isWaiting()) === 1, 'the recount to wait')
        // It waits for the edge: it has the failure, and no wallet yet.
        const { rowCount } = await holder.query('select 1 from credit_wallets for update nowait')
        expect(rowCount).toBe(1)
        await expect(
          database.otherPool.query('select 1 from credit_failures for update nowait'),
        ).rejects.toMatchObject({ code: '55P03' })
        await holder.query('commit')
        expect((await recount).repairs).toBeGreaterThan(0)
      })
      expect(await store.recount('eip155:ada')).toEqual({ isComplete: true, repairs: 0 })
    })
  })

  describe('the ranking', () => {
    const longAgo = new Date(0)
    const rank = async (before = longAgo) => {
      await store.findLostDates(unstopped)
      while (await store.rescore((facts) => Math.min(1_000, facts.payments), before)) {
        // The next wallets follow.
      }
      return (await store.listTop(10)).map(({ wallet, facts }) => [wallet, facts.payments])
    }

    it('orders wallets by score, and leaves out those without points', async () => {
      await pay('ada', 'shop')
      await pay('bob', 'shop')
      await pay('bob', 'shop')
      await pay('cy', 'dan')
      await pay('dan', 'cy')
      expect(await rank()).toEqual([
        ['eip155:bob', 2],
        ['eip155:ada', 1],
      ])
      expect(await store.listTop(1)).toHaveLength(1)
    })

    it('scores wallets again whose payments a payee passed on to a wallet that paid them', async () => {
      await pay('ada', 'shop')
      await pay('cy', 'dan')
      await pay('eve', 'cy')
      expect(await rank()).toHaveLength(3)
      const later = { number: 8n, hash: '0x8' }
      const id = await open({ payer: 'dan', payee: 'eve' })
      await journal.close(id, { state: 'confirmed', transaction: id, block: later })
      expect(await rank()).toEqual([['eip155:ada', 1]])
      await blocks.reopen({ network, scheme: 'exact', block: later })
      expect(await rank()).toHaveLength(3)
    })

    it('scores no other wallets again where a payee pays', async () => {
      await pay('cy', 'dan')
      await pay('eve', 'fay')
      await rank()
      let scored = 0
      await pay('dan', 'eve')
      await store.rescore(() => {
        scored += 1
        return 1
      }, longAgo)
      // Who paid, and who was paid and has paid: cy gets nothing back.
      expect(scored).toBe(2)
    })

    it('scores changed wallets, and those whose score is old', async () => {
      await pay('ada', 'shop')
      await rank()
      const scored: bigint[] = []
      const note = (facts: CreditFacts) => {
        scored.push(facts.volume)
        return 1
      }
      await store.rescore(note, longAgo)
      expect(scored).toEqual([])
      await store.rescore(note, new Date(Date.now() + 60_000))
      expect(scored).toEqual([1_000_000n])
      await pay('ada', 'shop')
      await store.rescore(note, longAgo)
      expect(scored).toEqual([1_000_000n, 2_000_000n])
    })

    it('keeps what changed when scoring fails', async () => {
      await pay('ada', 'shop')
      const fails = () => {
        throw new Error('broken')
      }
      await expect(store.rescore(fails, longAgo)).rejects.toThrow('broken')
      expect(await rank()).toHaveLength(1)
    })
  })

  it('is filled by its migration from the settlements of before', async () => {
    for (const [payer, payee] of ['ab', 'ba', 'bc', 'cd'].map((pair) => [...pair])) {
      await pay(payer ?? '', payee ?? '')
    }
    await fail(await open({ payer: 'c', payee: 'd' }))
    const wallets = ['a', 'b', 'c', 'd'].map((name) => `eip155:${name}`)
    const byWallet = async () =>
      (await store.read(wallets)).toSorted((left, right) => left.wallet.localeCompare(right.wallet))
    const before = await byWallet()
    expect(before.map(({ facts }) => [facts.payments, facts.returnedPayments, facts.failures])).toEqual([
      [0, 1, 0],
      [1, 1, 0],
      [1, 0, 1],
    ])
    await pool.query(withoutCredit)
    await pool.query(readText('migrations/0020_credit.sql'))
    await pool.query(readText('migrations/0024_returned_credit.sql'))
    expect(await byWallet()).toEqual(before)
    await pay('c', 'd')
    expect(await countPayments('c')).toBe(2)
  })

  it('gives up a recount that takes too long, and changes nothing', async () => {
    await pay('ada', 'shop')
    const other = await database.otherPool.connect()
    try {
      await other.query('begin')
      await other.query('lock table settlements in access exclusive mode')
      expect(await impatientStore.recount('eip155:ada')).toEqual({ isComplete: false, repairs: 0 })
    } finally {
      await other.query('rollback')
      other.release()
    }
    expect(await countPayments('ada')).toBe(1)
  })

  it('counts settlements that are imported as confirmed', async () => {
    const id = await open({ payer: 'ada', payee: 'shop' })
    await pool.query(
      `insert into settlements (id, authorization_id, caller, fingerprint, scheme, network, asset, payer, pay_to, amount,
         authorized_amount, state, transaction, closed_at, payer_wallet, payee_wallet, dollar_decimals)
       select $2, 'other', caller, fingerprint, scheme, network, asset, payer, pay_to, amount, authorized_amount,
         'confirmed', 'x', now(), payer_wallet, payee_wallet, dollar_decimals from settlements where id = $1`,
      [id, randomUUID()],
    )
    expect(await countPayments('ada')).toBe(1)
    expect(await store.recount('eip155:ada')).toEqual({ isComplete: true, repairs: 0 })
  })
})
