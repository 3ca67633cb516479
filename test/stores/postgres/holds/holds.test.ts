import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Funds, FundsHold, HoldResult } from '../../../../src/ports/holds.js'
import type {
  Settlement,
  SettlementClaim,
  SettlementJournal,
} from '../../../../src/ports/settlementJournal.js'
import { maxLiveHolds } from '../../../../src/stores/postgres/holds/holdStatements.js'
import { createHolds } from '../../../../src/stores/postgres/holds/holds.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createStreamStore } from '../../../../src/stores/postgres/streams/streamStore.js'
import { decideHere } from '../../../../src/usecases/streams/control.js'
import { viewStream } from '../../../../src/usecases/streams/viewStream.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance } from '../../../support/instances.js'
import { countRuns } from '../../../support/longRun.js'
import { usePatientQueues } from '../../../support/patientQueues.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { streamOf } from '../../../support/streamOf.js'
import { watchQueries } from '../../../support/watchQueries.js'

const anHour = 3_600_000
const soon = () => new Date(Date.now() + anHour)
const past = () => new Date(Date.now() - 1_000)

const reservation = (authorizationId: string, changes: Partial<FundsHold> = {}): FundsHold => ({
  authorizationId,
  network: 'eip155:84532',
  asset: '0xasset',
  payer: '0xpayer',
  spender: '0xrouter',
  payTo: '0xpayee',
  account: 'anonymous',
  purpose: 'settle',
  amount: 100n,
  expiresAt: soon(),
  ...changes,
})

const funds = (balance: bigint, allowance: bigint | null = null): Funds => ({ balance, allowance })
const reserved = expect.objectContaining({ state: 'held' })
const isReserved = ({ state }: HoldResult): boolean => state === 'held'

const { pool, otherPool } = useTestDatabase()
usePatientQueues()
let journal: SettlementJournal

const reservations = createHolds(pool)
const theirs = createHolds(otherPool)
beforeEach(async () => {
  await emptyTables(pool, 'consumed_authorizations', 'settlements', 'instances', 'reservations', 'quota_uses')
  journal = createSettlementJournal(pool, await addInstance(pool))
})

const claim = async (authorizationId: string, holder = 'settle'): Promise<Settlement> => {
  const settlement = await journal.claim(claimOf({ authorizationId, scheme: 'upto' }), null, {
    purpose: holder,
  })
  if (settlement === null) throw new Error('The authorization has a settlement')
  return settlement
}
/** As any scheme claims it that a hold can concern; null: refused. */
const claimAs = (
  caller: string,
  authorizationId: string,
  changes: Partial<SettlementClaim> = {},
  by = journal,
) => by.claim(claimOf({ authorizationId, caller, ...changes }), null, { purpose: 'settle' })
const confirm = async (authorizationId: string) =>
  await journal.close((await claim(authorizationId)).id, {
    state: 'confirmed',
    transaction: 'tx',
    settledAmount: 1n,
  })
const expire = () => pool.query("update reservations set expires_at = now() - interval '1 hour'")
const isAnyLockAwaited = async () => {
  const waiting =
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  return (await pool.query(waiting)).rows.length > 0
}
/** Transactions that wrote a reservation meanwhile. */
const countCommits = async (work: () => Promise<void>): Promise<number> => {
  await work()
  const { rows } = await pool.query('select count(distinct xmin::text) as count from reservations')
  return Number(rows[0]?.count)
}
const countRows = async () => Number((await pool.query('select count(*) from reservations')).rows[0]?.count)

describe('a reservation', () => {
  it('fits beside the others of the payer, to the unit', async () => {
    expect(await reservations.place(reservation('a'), funds(300n))).toEqual(reserved)
    expect(await reservations.place(reservation('b', { amount: 200n }), funds(300n))).toEqual(reserved)
    expect(await reservations.place(reservation('c', { amount: 1n }), funds(300n))).toEqual({
      state: 'exceeds',
      limit: 'balance',
      heldByOthers: 300n,
    })
    expect(await reservations.place(reservation('c', { amount: 1n }), funds(301n))).toEqual(reserved)
  })

  it('that alone exceeds the balance is refused, and holds nothing', async () => {
    expect(await reservations.place(reservation('a'), funds(99n))).toEqual({
      state: 'exceeds',
      limit: 'balance',
      heldByOthers: 0n,
    })
    expect(await countRows()).toBe(0)
  })

  it('has the obstacle that would keep it from being made, and to ask for it holds nothing', async () => {
    const asking = reservation('b', { amount: 201n })
    expect(await reservations.findObstacle(asking, funds(300n))).toBeNull()
    expect(await countRows()).toBe(0)
    expect(await reservations.place(reservation('a'), funds(300n))).toEqual(reserved)
    const exceeds = { state: 'exceeds', limit: 'balance', heldByOthers: 100n }
    expect(await reservations.findObstacle(asking, funds(300n))).toEqual(exceeds)
    expect(await reservations.place(asking, funds(300n))).toEqual(exceeds)
    expect(await countRows()).toBe(1)
  })

  it('fits the allowance beside others of the same spender only', async () => {
    const of = (id: string, spender: string) => reservation(id, { spender })
    expect(await reservations.place(of('a', '0x1'), funds(1_000n, 150n))).toEqual(reserved)
    expect(await reservations.place(of('b', '0x2'), funds(1_000n, 150n))).toEqual(reserved)
    expect(await reservations.place(of('c', '0x1'), funds(1_000n, 199n))).toEqual({
      state: 'exceeds',
      limit: 'allowance',
      heldByOthers: 100n,
    })
    expect(await reservations.place(of('c', '0x1'), funds(1_000n, 200n))).toEqual(reserved)
    // Without a limit of its own, only the balance counts.
    expect(await reservations.place(of('d', '0x1'), funds(400n))).toEqual(reserved)
  })

  it('fits the account that is spent, where the payer has several', async () => {
    const of = (id: string, spender: string, by = reservations) =>
      by.place(reservation(id, { spender }), { balance: null, allowance: 100n })
    expect(await of('a', 'first')).toEqual(reserved)
    expect(await of('b', 'second', theirs)).toEqual(reserved)
    for (const account of ['first', 'second']) {
      expect(await of('c', account)).toEqual({ state: 'exceeds', limit: 'allowance', heldByOthers: 100n })
    }
  })

  it.each([
    ['network', { network: 'eip155:1' }],
    ['asset', { asset: '0xother' }],
    ['payer', { payer: '0xother' }],
  ])('of another %s does not count', async (_name, changes) => {
    await reservations.place(reservation('a', changes), funds(100n))
    expect(await reservations.place(reservation('b'), funds(100n))).toEqual(reserved)
  })

  it('passes again, also when the balance has become too low since', async () => {
    await reservations.place(reservation('a'), funds(100n))
    expect(await reservations.place(reservation('a'), funds(0n, 0n))).toEqual(reserved)
    expect(await theirs.place(reservation('a'), funds(0n, 0n))).toEqual(reserved)
    expect(await countRows()).toBe(1)
  })

  it('is for one recipient: another one cannot reserve the same nonce until it ends', async () => {
    await reservations.place(reservation('a'), funds(1_000n))
    const other = reservation('a', { payTo: '0xother', amount: 1n })
    expect(await theirs.place(other, funds(1_000n))).toEqual({
      state: 'taken',
      by: 'recipient',
    })
    await expire()
    expect(await theirs.place(other, funds(1_000n))).toEqual(reserved)
  })

  it('of a higher amount is checked, and replaces the amount', async () => {
    await reservations.place(reservation('a'), funds(100n))
    const higher = reservation('a', { amount: 150n })
    expect(await reservations.place(higher, funds(149n))).toMatchObject({
      state: 'exceeds',
      heldByOthers: 0n,
    })
    expect(await reservations.place(higher, funds(150n))).toEqual(reserved)
    expect(await reservations.place(reservation('b'), funds(249n))).toMatchObject({ heldByOthers: 150n })
  })

  it.each(['anonymous', 'shop'])('of %s is not lowered or shortened by a renewal', async (account) => {
    const expiresAt = soon()
    await reservations.place(reservation('a', { account, purpose: 'verify', expiresAt }), funds(100n))
    for (const holder of ['verify', 'settle']) {
      const less = reservation('a', {
        account,
        purpose: holder,
        amount: 0n,
        expiresAt: new Date(Date.now() + 1_000),
      })
      expect(await theirs.place(less, funds(100n))).toEqual(reserved)
    }
    const { rows } = await pool.query('select amount, expires_at from reservations')
    expect(rows).toEqual([{ amount: '100', expires_at: expiresAt }])
    expect(await reservations.place(reservation('b', { account, amount: 1n }), funds(100n))).toMatchObject({
      heldByOthers: 100n,
    })
  })

  it('is lengthened by a renewal', async () => {
    const expiresAt = new Date(Date.now() + 2 * anHour)
    await reservations.place(reservation('a'), funds(100n))
    await reservations.place(reservation('a', { amount: 1n, expiresAt }), funds(100n))
    const { rows } = await pool.query('select amount, expires_at from reservations')
    expect(rows).toEqual([{ amount: '100', expires_at: expiresAt }])
  })

  it('is of any text, and none of it is run', async () => {
    const text = `'x', "y"; \\ $1 $9 /* ü 😀 */ drop table reservations; --`
    const odd = reservation(text, { asset: text, payer: text, spender: text, payTo: text, account: text })
    expect(await reservations.place(odd, funds(100n))).toEqual(reserved)
    expect(await theirs.place({ ...odd, authorizationId: `${text} 2` }, funds(150n))).toMatchObject({
      state: 'exceeds',
      heldByOthers: 100n,
    })
    const { rows } = await pool.query('select authorization_id, payer, account from reservations')
    expect(rows).toEqual([{ authorization_id: text, payer: text, account: text }])
  })

  it('is on disk once it is answered, except that of a settlement, whose claim brings it there', async () => {
    await pool.query(`create table commits (holder text, is_awaited text);
      create function note_commit() returns trigger language plpgsql as $$ begin
        insert into commits values (new.holder, current_setting('synchronous_commit')); return new; end $$;
      create trigger note_commit after insert on reservations for each row execute function note_commit()`)
    // Test databases await no commit.
    const { connectionString } = pool.options
    const durable = new Pool({ connectionString, options: '-c synchronous_commit=on' })
    try {
      for (const purpose of ['verify', 'settle', `stream:${randomUUID()}`]) {
        await createHolds(durable).place(reservation(purpose, { purpose }), funds(1_000n))
      }
      const { rows } = await pool.query(
        `select split_part(holder, ':', 1) as holder, is_awaited from commits`,
      )
      expect(rows).toEqual([
        { holder: 'verify', is_awaited: 'on' },
        { holder: 'settle', is_awaited: 'off' },
        { holder: 'stream', is_awaited: 'on' },
      ])
    } finally {
      await durable.end()
      await pool.query(
        'drop trigger note_commit on reservations; drop function note_commit; drop table commits',
      )
    }
  })

  it('is decided and committed in one round trip', async () => {
    const single = new Pool({ connectionString: pool.options.connectionString, max: 1 })
    try {
      const sent = await watchQueries(single)
      const holds = createHolds(single)
      expect(await holds.place(reservation('a'), funds(100n))).toEqual(reserved)
      expect(await holds.place(reservation('b'), funds(100n))).toMatchObject({ state: 'exceeds' })
      expect(sent).toHaveLength(2)
    } finally {
      await single.end()
    }
  })

  it('is not answered as held where it fits and is not written', async () => {
    await pool.query(`create function skip() returns trigger language plpgsql as 'begin return null; end';
      create trigger skip before insert on reservations for each row execute function skip()`)
    try {
      await expect(reservations.place(reservation('a'), funds(100n))).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
      })
    } finally {
      await pool.query('drop trigger skip on reservations; drop function skip')
    }
  })

  it('says that its authorization has no settlement, unless one is open, successful or consumed', async () => {
    const shop = reservation('a', { account: 'shop', purpose: 'verify' })
    const isUnclaimed = async (by = reservations) => {
      const result = await by.place(shop, funds(1_000n))
      return result.state === 'held' && result.isUnclaimed === true
    }
    expect(await isUnclaimed()).toBe(true)
    const other = reservation('b', { account: 'shop', purpose: 'verify' })
    await reservations.place(other, funds(1_000n))
    await claimAs('shop', 'b')
    expect(await isUnclaimed(theirs)).toBe(true)
    const settlement = await claimAs('shop', 'a')
    const id = settlement?.id ?? ''
    expect(await isUnclaimed()).toBe(false)
    await journal.recorderFor(id).record({ transaction: 'tx', bytes: 'bytes' })
    expect(await isUnclaimed()).toBe(false)
    await journal.close(id, { state: 'failed', reason: 'transaction_failed' })
    expect(await isUnclaimed()).toBe(true)
    const again = await claimAs('shop', 'a')
    await journal.close(
      again?.id ?? '',
      { state: 'confirmed', transaction: 'tx', settledAmount: 1n },
      'consumer',
    )
    expect(await isUnclaimed()).toBe(false)
    await pool.query(
      "update settlements set state = 'failed', reason = 'transaction_failed', settled_amount = null where state = 'confirmed'",
    )
    expect(await isUnclaimed()).toBe(false)
  })

  it('may be as large as a uint256', async () => {
    const amount = 2n ** 256n - 1n
    expect(await reservations.place(reservation('a', { amount }), funds(amount))).toEqual(reserved)
    expect(await reservations.place(reservation('b', { amount }), funds(amount))).toEqual({
      state: 'exceeds',
      limit: 'balance',
      heldByOthers: amount,
    })
  })
})

describe('the end of a reservation', () => {
  const takesAll = () => reservations.place(reservation('next'), funds(100n))
  beforeEach(async () => {
    await reservations.place(reservation('a'), funds(100n))
    expect(await takesAll()).toMatchObject({ state: 'exceeds' })
  })

  it('is the confirmed settlement of its authorization', async () => {
    await confirm('a')
    expect(await takesAll()).toEqual(reserved)
  })

  it('is not a settlement that is claimed or pending', async () => {
    const { id } = await claim('a')
    expect(await takesAll()).toMatchObject({ state: 'exceeds' })
    await journal.recorderFor(id).record({ transaction: 'tx', bytes: 'bytes' })
    expect(await takesAll()).toMatchObject({ state: 'exceeds' })
  })

  it('is the failed settlement of its authorization, until it is reserved again', async () => {
    const { id } = await claim('a')
    await journal.close(id, { state: 'failed', reason: 'transaction_failed' })
    expect(await reservations.place(reservation('a'), funds(100n))).toEqual(reserved)
    expect(await takesAll()).toMatchObject({ state: 'exceeds', heldByOthers: 100n })

    const again = await claim('a')
    await journal.abandon(again.id)
    expect(await takesAll()).toEqual(reserved)
  })

  it('is not its expiry while its settlement is claimed or pending, also for the purge', async () => {
    for (const close of ['confirmed', 'failed'] as const) {
      await reservations.place(reservation('a'), funds(100n))
      const { id } = await claim('a')
      await expire()
      await reservations.purge()
      expect(await takesAll()).toMatchObject({ state: 'exceeds', heldByOthers: 100n })
      await journal.recorderFor(id).record({ transaction: `tx of ${close}`, bytes: 'bytes' })
      await theirs.purge()
      expect(await takesAll()).toMatchObject({ state: 'exceeds', heldByOthers: 100n })
      await journal.close(
        id,
        close === 'failed'
          ? { state: 'failed', reason: 'transaction_failed' }
          : { state: 'confirmed', transaction: 'tx' },
      )
      await reservations.purge()
      expect(await countRows()).toBe(0)
      await emptyTables(pool, 'consumed_authorizations', 'settlements')
    }
  })

  it('is not a settlement of its account that was abandoned before anything was sent', async () => {
    await emptyTables(pool, 'reservations')
    const shop = reservation('a', { account: 'shop' })
    await reservations.place(shop, funds(100n))
    const settlement = await claimAs('shop', 'a')
    await journal.abandon(settlement?.id ?? '')
    expect(await takesAll()).toMatchObject({ state: 'exceeds' })
    expect(await theirs.place(reservation('a'), funds(1_000n))).toEqual({ state: 'taken', by: 'account' })
    expect(await claimAs('anonymous', 'a')).toBeNull()
    expect(await claimAs('shop', 'a')).not.toBeNull()
  })

  it('is not the failed settlement of a stream, which tries again', async () => {
    await reservations.place(reservation('b', { purpose: 'stream:1' }), funds(300n))
    const { id } = await claim('b', 'stream:1')
    await journal.close(id, { state: 'failed', reason: 'transaction_failed' })
    expect(await reservations.place(reservation('b'), funds(300n))).toEqual({
      state: 'taken',
      by: 'stream',
    })
    expect(await reservations.place(reservation('b', { purpose: 'stream:1' }), funds(300n))).toEqual(reserved)
  })

  it('is not the settlement of another authorization', async () => {
    await confirm('b')
    expect(await takesAll()).toMatchObject({ state: 'exceeds' })
  })

  it('is its expiry; a settlement that comes later must fit again', async () => {
    await expire()
    expect(await takesAll()).toEqual(reserved)
    expect(await reservations.place(reservation('a'), funds(100n))).toMatchObject({
      state: 'exceeds',
      heldByOthers: 100n,
    })
  })

  it('is moved by a renewal', async () => {
    await expire()
    await reservations.place(reservation('a'), funds(100n))
    expect(await takesAll()).toMatchObject({ state: 'exceeds' })
  })
})

describe('reservations at once', () => {
  it.each([0, 1, 7, 49])('exactly %i of 50 fit, by two pools', async (fitting) => {
    const balance = BigInt(fitting) * 100n + 99n
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? reservations : theirs).place(reservation(`a${index}`), funds(balance)),
      ),
    )
    expect(results.filter(isReserved)).toHaveLength(fitting)
    expect(await countRows()).toBe(fitting)
  })

  it('exactly as many fit as the allowance of their spender', async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? reservations : theirs).place(reservation(`a${index}`), funds(10_000n, 300n)),
      ),
    )
    expect(results.filter(isReserved)).toHaveLength(3)
  })

  it('of one authorization are one reservation', async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? reservations : theirs).place(reservation('a'), funds(100n)),
      ),
    )
    expect(results.every(isReserved)).toBe(true)
    expect(await countRows()).toBe(1)
  })

  it('of many payers, while old ones are purged and settled, never deadlock', async () => {
    const payers = ['0x1', '0x2', '0x3', '0x4']
    const rounds = Array.from({ length: 40 }, (_, round) => round)
    await Promise.all(
      rounds.map(async (round) => {
        const payer = payers[round % payers.length] ?? ''
        const expiresAt = round % 3 === 0 ? past() : soon()
        const by = round % 2 === 0 ? reservations : theirs
        await by.place(reservation(`a${round}`, { payer, expiresAt }), funds(100_000n))
        if (round % 5 === 0) await confirm(`a${round}`)
        if (round % 4 === 0) await theirs.purge()
      }),
    )
    expect(await countRows()).toBeLessThanOrEqual(40)
  })

  it('of one payer leave connections to other payers', async () => {
    const key = "hashtextextended('eip155:84532 0xasset 0xpayer', 12)"
    const blocker = await otherPool.connect()
    try {
      await blocker.query(`select pg_advisory_lock(${key})`)
      const waiting = Array.from({ length: 30 }, (_, index) =>
        reservations.place(reservation(`a${index}`), funds(1_000n)),
      )
      // The pool has ten connections.
      expect(await reservations.place(reservation('b', { payer: '0xother' }), funds(100n))).toEqual(reserved)
      await blocker.query(`select pg_advisory_unlock(${key})`)
      expect((await Promise.all(waiting)).filter(isReserved)).toHaveLength(10)
    } finally {
      blocker.release()
    }
  })

  it('of many payers share few transactions', async () => {
    const commits = await countCommits(async () => {
      const results = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          reservations.place(reservation(`a${index}`, { payer: `0x${index}` }), funds(100n)),
        ),
      )
      expect(results.every(isReserved)).toBe(true)
    })
    expect(await countRows()).toBe(60)
    expect(commits).toBeLessThanOrEqual(4)
  })

  it('in one transaction are answered each for itself', async () => {
    await reservations.place(reservation('held', { account: 'one', purpose: 'verify' }), funds(100n))
    const ask = (authorizationId: string, payer: string, changes: Partial<FundsHold> = {}) =>
      reservations.place(
        reservation(authorizationId, { payer, account: 'two', purpose: 'verify', ...changes }),
        funds(100n),
      )
    const results = await Promise.all([
      ask('first', '0x1'),
      ask('a', '0x2', { isPromised: true, promisee: { part: 'part', customer: 'customer' } }),
      ask('b', '0x3', { amount: 101n }),
      ask('held', '0x4'),
      ask('c', '0x5', { purpose: 'settle' }),
    ])
    const receiptOf = (authorizationId: string) => ({
      receipt: expect.objectContaining({ authorizationId }),
      isUnclaimed: true,
    })
    expect(results).toEqual([
      { state: 'held', ...receiptOf('first') },
      {
        state: 'held',
        ...receiptOf('a'),
        isPromised: true,
        isNewPromise: true,
        promisee: { part: 'part', customer: 'customer' },
      },
      { state: 'exceeds', limit: 'balance', heldByOthers: 0n },
      { state: 'taken', by: 'account' },
      { state: 'held', ...receiptOf('c') },
    ])
  })

  it('of one authorization for two payers or assets never succeed both', async () => {
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        reservations.place(reservation(`x${index}`, { payer: `0x${index}` }), funds(100n)),
      ),
    )
    const results = await Promise.all(
      ['0xasset', '0xother'].map((asset) =>
        reservations.place(reservation('a', { asset, account: 'one' }), funds(100n)),
      ),
    )
    expect(results).toEqual([reserved, { state: 'taken', by: 'asset' }])
  })

  it('of others do not wait for a payer or an authorization that is locked elsewhere', async () => {
    const blocker = await otherPool.connect()
    const lock = (key: string) => blocker.query(`select pg_advisory_lock(${key})`)
    const unlock = () => blocker.query('select pg_advisory_unlock_all()')
    const keys = ["hashtextextended('eip155:84532 0xasset 0x1', 12)", "hashtextextended('a2', 13)"]
    try {
      for (const key of keys) await lock(key)
      const ended: string[] = []
      const place = async (index: number) => {
        const result = await reservations.place(
          reservation(`a${index}`, { payer: `0x${index}` }),
          funds(100n),
        )
        ended.push(`a${index}`)
        return result
      }
      const all = Promise.all(Array.from({ length: 10 }, (_, index) => place(index)))
      await pollUntil(
        () => ended.length >= 8,
        'the others',
        () => ended,
      )
      expect(ended.toSorted()).toEqual(['a0', 'a3', 'a4', 'a5', 'a6', 'a7', 'a8', 'a9'])
      await unlock()
      expect((await all).every(isReserved)).toBe(true)
    } finally {
      await unlock()
      blocker.release()
    }
  })

  it('of many payers that are locked elsewhere leave connections to others', async () => {
    const payers = Array.from({ length: 12 }, (_, index) => `0x${index}`)
    const blocker = await otherPool.connect()
    const unlock = () => blocker.query('select pg_advisory_unlock_all()')
    try {
      for (const payer of payers) {
        const key = `eip155:84532 0xasset ${payer}`
        await blocker.query('select pg_advisory_lock(hashtextextended($1, 12))', [key])
      }
      const waiting = Promise.all(
        payers.map((payer) => reservations.place(reservation(`a${payer}`, { payer }), funds(100n))),
      )
      await pollUntil(
        async () => {
          const { rows } = await blocker.query(
            "select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'",
          )
          return rows.length >= 5
        },
        'holds to wait',
        () => null,
      )
      const ended: string[] = []
      const other = reservations.place(reservation('other', { payer: '0xother' }), funds(100n))
      const both = Promise.all([
        other.then(() => ended.push('hold')),
        claimAs('anonymous', 'another').then(() => ended.push('claim')),
      ])
      await pollUntil(
        () => ended.length === 2,
        'others to be decided',
        () => ended,
      )
      await unlock()
      await both
      expect((await waiting).every(isReserved)).toBe(true)
    } finally {
      await unlock()
      blocker.release()
    }
  })

  it('of others do not wait for a row that is locked elsewhere', async () => {
    await reservations.place(reservation('old', { payer: '0x1', expiresAt: past() }), funds(100n))
    const blocker = await otherPool.connect()
    try {
      await blocker.query("begin; select from reservations where authorization_id = 'old' for update")
      const waiting = reservations.place(reservation('a', { payer: '0x1' }), funds(100n))
      const others = await Promise.all(
        ['0x2', '0x3'].map((payer) => reservations.place(reservation(payer, { payer }), funds(100n))),
      )
      expect(others).toEqual([reserved, reserved])
      await blocker.query('commit')
      expect(await waiting).toEqual(reserved)
    } finally {
      await blocker.query('rollback')
      blocker.release()
    }
  })

  it.each(['a\0', 'a\ud800'])('with a text that Postgres cannot store fails alone: %j', async (text) => {
    const odd = reservations.place(reservation(text), funds(100n))
    const other = reservations.place(reservation('b', { payer: '0xother' }), funds(100n))
    await expect(odd).rejects.toThrow('cannot be stored')
    expect(await other).toEqual(reserved)
  })
})

describe('live reservations of one payer', () => {
  it('are bounded; each that ends makes room for one', async () => {
    await pool.query(
      `insert into reservations (network, asset, payer, authorization_id, spender, pay_to, amount, reserved_at, expires_at)
       select 'eip155:84532', '0xasset', '0xpayer', 'a' || n, '0xrouter', '0xpayee', 1, now(), now() + interval '1 hour'
       from generate_series(1, $1) n`,
      [maxLiveHolds],
    )
    const next = reservation('next', { amount: 1n })
    expect(await reservations.place(next, funds(10_000n))).toEqual({ state: 'too_many' })
    expect(await reservations.place(reservation('a1', { amount: 1n }), funds(10_000n))).toEqual(reserved)
    await confirm('a2')
    expect(await reservations.place(next, funds(10_000n))).toEqual(reserved)
    expect(await reservations.place(reservation('after', { amount: 1n }), funds(10_000n))).toEqual({
      state: 'too_many',
    })
  })
})

describe('a reservation for a settlement that no claim follows', () => {
  const reserve = async (changes: Partial<FundsHold> = {}, by = reservations) => {
    const result = await by.place(reservation('a', changes), funds(100n))
    if (result.state !== 'held') throw new Error(result.state)
    return result.receipt
  }
  const listHolders = async () =>
    (await pool.query('select account, holder from reservations')).rows.map(
      ({ account, holder }) => `${account} ${holder}`,
    )
  const verification = { purpose: 'verify' }

  it('is deleted', async () => {
    await reservations.releaseUnclaimed(await reserve())
    expect(await listHolders()).toEqual([])
  })

  const readHold = async () => {
    const { rows } = await pool.query('select account, holder, amount::text, expires_at from reservations')
    return rows
  }
  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000)

  it.each(['anonymous', 'shop'])('leaves exactly what %s had verified', async (account) => {
    const expiresAt = inMinutes(5)
    await reserve({ account, purpose: 'verify', amount: 60n, expiresAt })
    await theirs.releaseUnclaimed(await reserve({ account, amount: 100n, expiresAt: inMinutes(60) }))
    expect(await readHold()).toEqual([{ account, holder: 'verify', amount: '60', expires_at: expiresAt }])
  })

  it('leaves exactly what was verified since', async () => {
    const receipt = await reserve({ amount: 100n, expiresAt: inMinutes(60) })
    const expiresAt = inMinutes(5)
    await reserve({ purpose: 'verify', amount: 60n, expiresAt }, theirs)
    await reservations.releaseUnclaimed(receipt)
    expect(await readHold()).toEqual([
      { account: 'anonymous', holder: 'verify', amount: '60', expires_at: expiresAt },
    ])
  })

  it('leaves the most and the longest of what was verified', async () => {
    const expiresAt = inMinutes(5)
    await reserve({ purpose: 'verify', amount: 60n, expiresAt })
    const receipt = await reserve({ expiresAt: inMinutes(60) })
    await reserve({ purpose: 'verify', amount: 70n, expiresAt: inMinutes(1) })
    await reservations.releaseUnclaimed(receipt)
    expect(await readHold()).toMatchObject([{ holder: 'verify', amount: '70', expires_at: expiresAt }])
  })

  it('leaves nothing of a verification that has expired since', async () => {
    await reserve({ purpose: 'verify', expiresAt: inMinutes(5) })
    const receipt = await reserve({ expiresAt: inMinutes(60) })
    await pool.query("update reservations set verified_until = now() - interval '1 second'")
    await reservations.releaseUnclaimed(receipt)
    expect(await readHold()).toEqual([])
  })

  it('leaves what a release verified that recorded nothing', async () => {
    const expiresAt = inMinutes(5)
    await reserve({ purpose: 'verify', expiresAt })
    await pool.query('update reservations set verified_amount = null, verified_until = null')
    await reservations.releaseUnclaimed(await reserve({ expiresAt: inMinutes(60) }))
    expect(await readHold()).toMatchObject([{ holder: 'verify', amount: '100', expires_at: expiresAt }])
  })

  describe.each([
    ['the first that came ends first', [0, 1]],
    ['the first that came ends last', [1, 0]],
  ])('beside another one, where %s', (_, order) => {
    const releaseBoth = async () => {
      const receipts = [await reserve({ expiresAt: inMinutes(60) }), await reserve({}, theirs)]
      const [first = 0, last = 0] = order
      const [one, other] = [receipts[first], receipts[last]]
      if (one === undefined || other === undefined) throw new Error('There is no receipt')
      await reservations.releaseUnclaimed(one)
      const between = await readHold()
      await theirs.releaseUnclaimed(other)
      return between
    }

    it('is kept until both have ended', async () => {
      expect(await releaseBoth()).toMatchObject([{ holder: 'settle', amount: '100' }])
      expect(await readHold()).toEqual([])
    })

    it('leaves exactly what was verified', async () => {
      const expiresAt = inMinutes(5)
      await reserve({ purpose: 'verify', amount: 60n, expiresAt })
      await releaseBoth()
      expect(await readHold()).toMatchObject([{ holder: 'verify', amount: '60', expires_at: expiresAt }])
    })
  })

  it('is kept for another one for no longer than a minute', async () => {
    await reserve()
    await pool.query("update reservations set settling = array[now() - interval '61 seconds']")
    await reservations.releaseUnclaimed(await reserve())
    expect(await readHold()).toEqual([])
  })

  it('stays where the account abandoned a settlement meanwhile', async () => {
    const receipt = await reserve({ account: 'shop' })
    const settlement = await claimAs('shop', 'a')
    await journal.abandon(settlement?.id ?? '')
    await reservations.releaseUnclaimed(receipt)
    expect(await listHolders()).toEqual(['shop settle'])
  })

  it('stays while a settlement is open', async () => {
    const receipt = await reserve()
    await claim('a')
    await reservations.releaseUnclaimed(receipt)
    expect(await listHolders()).toEqual(['anonymous settle'])
  })

  it('stays with the account or the stream that took it', async () => {
    for (const [taker, held] of [
      [{ account: 'shop' }, 'shop settle'],
      [{ account: 'shop', purpose: 'stream:1' }, 'shop stream:1'],
    ] as const) {
      await emptyTables(pool, 'reservations')
      const receipt = await reserve()
      await reserve(taker, theirs)
      await reservations.releaseUnclaimed(receipt)
      expect(await listHolders()).toEqual([held])
    }
  })

  it('binds no account for longer than a minute, whatever verifies it', async () => {
    await reserve({ amount: 60n })
    const shop = reservation('b', { account: 'shop' })
    expect(await reservations.place(shop, funds(100n))).toMatchObject({ heldByOthers: 60n })
    await pool.query("update reservations set reserved_at = now() - interval '61 seconds'")
    await reserve({ ...verification, amount: 60n })
    expect(await reservations.place(shop, funds(100n))).toEqual(reserved)
  })
})

describe('the purge', () => {
  it('deletes what has expired, and nothing else', async () => {
    await reservations.place(reservation('a', { expiresAt: past() }), funds(1_000n))
    await reservations.place(reservation('b', { payer: '0xother' }), funds(1_000n))
    await reservations.purge()
    const { rows } = await pool.query('select authorization_id from reservations')
    expect(rows).toEqual([{ authorization_id: 'b' }])
  })

  it('deletes what is held for streams that are not open, once they had time to be stored', async () => {
    const streams = createStreamStore(pool)
    const [open, ended, unstored, young] = [
      streamOf({ authorizationId: 'open' }),
      streamOf({ authorizationId: 'ended' }),
      streamOf({ authorizationId: 'unstored' }),
      streamOf({ authorizationId: 'young' }),
    ]
    for (const stream of [open, ended]) {
      const event = { type: 'stream.opened', data: viewStream(stream) } as const
      await streams.open({ stream, payment: {}, event, quota: null })
    }
    await streams.change(ended.id, decideHere({ kind: 'end' }, ended.closesAt))
    for (const { id, authorizationId } of [open, ended, unstored, young]) {
      const held = reservation(authorizationId, { purpose: `stream:${id}`, amount: 1n })
      await reservations.place(held, funds(1_000n))
    }
    await reservations.place(reservation('of no id', { purpose: 'stream:x', amount: 1n }), funds(1_000n))
    await reservations.place(reservation('of a settle', { amount: 1n }), funds(1_000n))
    await pool.query(
      `update reservations set reserved_at = now() - interval '11 minutes' where authorization_id <> 'young'`,
    )
    await reservations.purge()
    const { rows } = await pool.query('select authorization_id from reservations order by 1')
    expect(rows.map((row) => row.authorization_id)).toEqual(['of a settle', 'open', 'young'])
  })

  it('never deadlocks with a decision that deletes the same rows in another order', async () => {
    const ids = ['a', 'b', 'c']
    for (const id of ids) {
      const held = reservation(id, { purpose: `stream:${randomUUID()}`, amount: 1n })
      await reservations.place(held, funds(1_000n))
    }
    await pool.query("update reservations set reserved_at = now() - interval '11 minutes'")
    const deciding = await otherPool.connect()
    try {
      await deciding.query("begin; delete from reservations where authorization_id = 'b'")
      let isPurged = false
      const purging = reservations.purge().then(() => {
        isPurged = true
      })
      await pollUntil(async () => isPurged || (await isAnyLockAwaited()), 'the purge')
      const deleting = deciding.query("delete from reservations where authorization_id in ('a', 'c')")
      // Postgres would end one of them with an error.
      await Promise.all([purging, deleting.then(() => deciding.query('commit'))])
    } finally {
      deciding.release()
    }
    await reservations.purge()
    expect(await countRows()).toBe(0)
  })

  it('goes on after a full batch, and ends when it is stopped', async () => {
    await pool.query(
      `insert into reservations (network, asset, payer, authorization_id, spender, pay_to, amount, reserved_at, expires_at)
       select 'eip155:1', '0xasset', 'p' || n, 'a' || n, '0xrouter', '0xpayee', 1, now(), now() - interval '1 hour'
       from generate_series(1, 2500) n`,
    )
    await reservations.purge(AbortSignal.abort())
    expect(await countRows()).toBe(2_500)
    await reservations.purge()
    expect(await countRows()).toBe(0)
  })
})

describe('the holder of an authorization', () => {
  const stream = 'stream:1'
  const takenBy = (by: 'stream' | 'settlement') => ({ state: 'taken', by })

  it.each([
    ['verify', 'verify', reserved, 'verify'],
    ['verify', 'settle', reserved, 'settle'],
    ['verify', stream, reserved, stream],
    ['settle', 'verify', reserved, 'settle'],
    ['settle', 'settle', reserved, 'settle'],
    ['settle', stream, takenBy('settlement'), 'settle'],
    [stream, 'verify', takenBy('stream'), stream],
    [stream, 'settle', takenBy('stream'), stream],
    [stream, stream, reserved, stream],
    [stream, 'stream:2', takenBy('stream'), stream],
  ])('is %s; %s asks: %o, and then it is %s', async (held, asking, result, then) => {
    await reservations.place(reservation('a', { purpose: held }), funds(1_000n))
    const others = reservation('a', { purpose: asking, amount: 1n })
    expect(await theirs.place(others, funds(1_000n))).toEqual(result)
    const { rows } = await pool.query('select holder from reservations')
    expect(rows).toEqual([{ holder: then }])
  })

  it('has it for every asset that the authorization is presented with', async () => {
    const elsewhere = { asset: '0xother' }
    await reservations.place(reservation('a', { purpose: stream }), funds(100n))
    for (const holder of ['verify', 'settle', 'stream:2']) {
      const asking = reservation('a', { ...elsewhere, purpose: holder })
      expect(await theirs.place(asking, funds(100n))).toEqual(takenBy('stream'))
    }
    await reservations.release({ authorizationId: 'a', purpose: stream })
    expect(await theirs.place(reservation('a', elsewhere), funds(100n))).toEqual(reserved)
  })

  it('is one of two that ask at once', async () => {
    const results = await Promise.all([
      reservations.place(reservation('a', { purpose: 'settle' }), funds(1_000n)),
      theirs.place(reservation('a', { purpose: stream }), funds(1_000n)),
    ])
    expect(results.filter(isReserved)).toHaveLength(1)
  })

  it('alone releases it', async () => {
    await reservations.place(reservation('a', { purpose: stream }), funds(100n))
    await reservations.release({ authorizationId: 'a', purpose: 'stream:2' })
    expect(isReserved(await reservations.place(reservation('b'), funds(100n)))).toBe(false)
    await reservations.release({ authorizationId: 'a', purpose: stream })
    expect(await reservations.place(reservation('b'), funds(100n))).toEqual(reserved)
  })

  it('loses it when it ends', async () => {
    await reservations.place(reservation('a', { purpose: stream, expiresAt: past() }), funds(100n))
    expect(await reservations.place(reservation('a'), funds(100n))).toEqual(reserved)
  })
})

describe('the account of a reservation', () => {
  const stream = 'stream:1'
  const taken = { state: 'taken', by: 'account' }
  const exceeds = { state: 'exceeds', limit: 'balance', heldByOthers: 100n }
  const readRow = async () =>
    (await pool.query('select account, holder, pay_to, amount from reservations')).rows[0]

  it.each([
    ['verify', 'verify'],
    ['verify', 'settle'],
    ['verify', 'stream:2'],
    ['settle', 'verify'],
    ['settle', 'settle'],
    [stream, stream],
    [stream, 'settle'],
  ])('keeps %s from %s of every other caller, for any amount and asset', async (holder, asking) => {
    await reservations.place(reservation('a', { account: 'shop', purpose: holder }), funds(1_000n))
    const before = await readRow()
    for (const account of ['anonymous', 'other']) {
      for (const changes of [{ amount: 0n }, { amount: 100n }, { payTo: '0xother' }, { asset: '0xother' }]) {
        const theirAsk = reservation('a', { account, purpose: asking, ...changes })
        expect(await theirs.place(theirAsk, funds(1_000n))).toEqual(taken)
      }
    }
    expect(await readRow()).toEqual(before)
  })

  it('keeps nothing once it has ended', async () => {
    await reservations.place(reservation('a', { account: 'shop', expiresAt: past() }), funds(100n))
    expect(await reservations.place(reservation('a'), funds(100n))).toEqual(reserved)
  })

  it.each(['verify', 'settle', stream])(
    'replaces %s of a caller without one, after a check of its own',
    async (holder) => {
      const asked = reservation('a', { account: 'shop', purpose: 'verify', amount: 70n, payTo: '0xshop' })
      await reservations.place(reservation('a', { purpose: holder }), funds(100n))
      expect(await reservations.place(asked, funds(69n))).toMatchObject({ state: 'exceeds' })
      expect(await reservations.place(asked, funds(70n))).toEqual(reserved)
      expect(await readRow()).toEqual({ account: 'shop', holder: 'verify', pay_to: '0xshop', amount: '70' })
      expect(await reservations.place(reservation('a', { purpose: holder }), funds(100n))).toEqual(taken)
    },
  )

  it('that verifies does not count what callers without one hold, until that is settled', async () => {
    const shop = reservation('b', { account: 'shop' })
    for (const holder of ['verify', stream]) {
      await reservations.place(reservation('a', { purpose: holder }), funds(100n))
      expect(await reservations.place(shop, funds(100n))).toEqual(reserved)
      await reservations.release({ authorizationId: 'b', purpose: 'settle' })
    }
    await claim('a', stream)
    expect(await reservations.place(shop, funds(199n))).toMatchObject({
      state: 'exceeds',
      heldByOthers: 100n,
    })
    expect(await reservations.place(shop, funds(200n))).toEqual(reserved)
  })

  it('that settles counts for everyone, and so does a caller without one that settles', async () => {
    await reservations.place(reservation('a', { purpose: 'settle' }), funds(100n))
    expect(await reservations.place(reservation('b', { account: 'shop' }), funds(199n))).toMatchObject({
      heldByOthers: 100n,
    })
    await reservations.place(reservation('b', { account: 'shop', purpose: 'verify' }), funds(200n))
    expect(await reservations.place(reservation('c', { account: 'other' }), funds(299n))).toMatchObject({
      heldByOthers: 200n,
    })
    expect(await reservations.place(reservation('c'), funds(299n))).toMatchObject({ heldByOthers: 200n })
  })

  it.each(['anonymous', 'shop'])(
    'that is %s keeps no settlement alive by a verification during its failing close',
    async (account) => {
      await reservations.place(reservation('a', { account }), funds(100n))
      const settlement = await claimAs(account, 'a')
      const blocker = await otherPool.connect()
      try {
        await blocker.query('begin; select from settlements for update')
        const closing = journal.close(settlement?.id ?? '', {
          state: 'failed',
          reason: 'transaction_failed',
        })
        await pollUntil(isAnyLockAwaited, 'the close to wait for the row')
        const renewal = reservation('a', { account, purpose: 'verify' })
        expect(await theirs.place(renewal, funds(100n))).toEqual(reserved)
        await blocker.query('commit')
        expect(await closing).toBe(true)
      } finally {
        blocker.release()
      }
      // What the verification of an account promised stays reserved; without an account it binds no account.
      const next = await reservations.place(reservation('b', { account: 'other' }), funds(100n))
      expect(next).toEqual(account === 'shop' ? exceeds : reserved)
    },
  )

  it.each([
    ['a verification renewed it', 'verify'],
    ['another settlement renewed it', 'settle'],
  ])('keeps its authorization from streams while it is settled, also after %s', async (_name, holder) => {
    await reservations.place(reservation('a'), funds(100n))
    await claim('a')
    await reservations.place(reservation('a', { purpose: holder }), funds(100n))
    expect(await reservations.place(reservation('a', { purpose: stream }), funds(100n))).toEqual({
      state: 'taken',
      by: 'settlement',
    })
  })

  it('cannot reserve what another caller is settling', async () => {
    await claim('a')
    const settling = { state: 'taken', by: 'settlement' }
    expect(await reservations.place(reservation('a', { account: 'shop' }), funds(100n))).toEqual(settling)
    expect(await countRows()).toBe(0)
    expect(await reservations.place(reservation('a'), funds(100n))).toEqual(reserved)
  })

  it('is not known of reservations of an earlier release, which keep their rules', async () => {
    for (const [holder, asking, result] of [
      ['verify', 'settle', reserved],
      [stream, 'settle', { state: 'taken', by: 'stream' }],
      [stream, stream, reserved],
    ] as const) {
      await emptyTables(pool, 'reservations')
      await pool.query(
        `insert into reservations (network, asset, payer, authorization_id, spender, pay_to, holder, amount, reserved_at, expires_at)
         values ('eip155:84532', '0xasset', '0xpayer', 'a', '0xrouter', '0xpayee', $1, 100, now(), now() + interval '1 hour')`,
        [holder],
      )
      const next = reservation('b', { account: 'shop', purpose: 'verify' })
      expect(await reservations.place(next, funds(199n))).toMatchObject({ heldByOthers: 100n })
      const asked = reservation('a', { account: 'shop', purpose: asking })
      // What was reserved stays reserved, whatever the balance is now.
      expect(await reservations.place(asked, funds(0n))).toEqual(result)
    }
  })
})

it('an authorization is reserved for one asset', async () => {
  await reservations.place(reservation('a'), funds(100n))
  expect(await reservations.place(reservation('a', { asset: '0xother' }), funds(100n))).toEqual({
    state: 'taken',
    by: 'asset',
  })
})

describe('a claim of an authorization that is reserved', () => {
  const stream = 'stream:1'

  it.each([
    // Who holds it for what, and who claims it.
    ['shop', 'verify', 'shop', true],
    ['shop', 'verify', 'other', false],
    ['shop', 'verify', 'anonymous', false],
    ['shop', 'settle', 'shop', true],
    ['shop', 'settle', 'anonymous', false],
    ['shop', stream, 'shop', false],
    ['shop', stream, 'anonymous', false],
    ['anonymous', 'verify', 'shop', true],
    ['anonymous', 'verify', 'anonymous', true],
    ['anonymous', stream, 'shop', true],
    ['anonymous', stream, 'anonymous', false],
  ])('by %s for %s is opened by %s: %s', async (account, holder, caller, isOpened) => {
    await reservations.place(reservation('a', { account, purpose: holder }), funds(100n))
    for (const scheme of ['exact', 'upto']) {
      const settlement = await claimAs(caller, 'a', { scheme })
      expect(settlement !== null).toBe(isOpened)
      if (settlement !== null) await journal.abandon(settlement.id)
    }
    const quota = { at: new Date(), tier: { monthlyQuota: 5, feeRate: 0 }, customer: caller }
    if (caller === 'anonymous') return
    const claim = claimOf({ authorizationId: 'a', caller, scheme: 'exact' })
    expect((await journal.claim(claim, quota, { purpose: 'settle' })) !== null).toBe(isOpened)
    const { rows } = await pool.query('select coalesce(sum(used), 0)::int as used from quota_uses')
    expect(rows).toEqual([{ used: isOpened ? 1 : 0 }])
  })

  it('is opened by the stream that holds it', async () => {
    await reservations.place(reservation('a', { account: 'shop', purpose: stream }), funds(100n))
    const claim = claimOf({ authorizationId: 'a', caller: 'shop' })
    expect(await journal.claim(claim, null, { purpose: 'stream:2' })).toBeNull()
    expect(await journal.claim(claim, null, { purpose: stream })).not.toBeNull()
  })

  it('is refused for another recipient or asset, whatever the letter case of the same one', async () => {
    await reservations.place(reservation('a', { account: 'shop' }), funds(100n))
    expect(await claimAs('shop', 'a', { payTo: '0xother' })).toBeNull()
    expect(await claimAs('shop', 'a', { asset: '0xother' })).toBeNull()
    expect(await claimAs('shop', 'a', { payTo: '0xPAYEE', asset: '0xASSET' })).not.toBeNull()
  })

  it('is opened once the reservation has ended', async () => {
    await reservations.place(reservation('a', { account: 'shop', expiresAt: past() }), funds(100n))
    expect(await claimAs('anonymous', 'a')).not.toBeNull()
  })

  it('is not refused for another authorization in the same statement, or for another caller', async () => {
    await reservations.place(reservation('a', { account: 'shop' }), funds(100n))
    const claims = await Promise.all([
      claimAs('anonymous', 'a'),
      claimAs('other', 'a'),
      claimAs('shop', 'a'),
      claimAs('anonymous', 'b'),
    ])
    expect(claims.map((settlement) => settlement?.caller ?? null)).toEqual([null, null, 'shop', 'anonymous'])
  })

  it('waits a second for a lock, and keeps no other claim of the statement waiting', async () => {
    const blocker = await otherPool.connect()
    try {
      await blocker.query("begin; select pg_advisory_xact_lock(hashtextextended('a', 13))")
      const claims = await Promise.all(['a', 'b', 'c', 'a', 'd'].map((id) => claimAs('anonymous', id)))
      expect(claims.map((settlement) => settlement?.authorizationId ?? null)).toEqual([
        null,
        'b',
        'c',
        null,
        'd',
      ])
      await blocker.query('commit')
    } finally {
      blocker.release()
    }
    expect(await claimAs('anonymous', 'a')).not.toBeNull()
  })

  it('never deadlocks with claims of the same authorizations in another order', async () => {
    const find = (by: Pool, ids: readonly string[]) => by.query('select * from find_holds($1, $1)', [ids])
    for (let round = 0; round < countRuns(20, 50); round++) {
      const ids = Array.from({ length: 200 }, (_, index) => `r${round}-${index}`)
      const orders = [ids, ids.toReversed(), ids, ids.toReversed()]
      // Postgres would end one of them with an error.
      await Promise.all(orders.map((order, index) => find(index % 2 === 0 ? pool : otherPool, order)))
    }
  })

  it('never succeeds beside a reservation for another caller at the same time', async () => {
    const theirJournal = createSettlementJournal(otherPool, await addInstance(pool))
    const counts = { reserved: 0, claimed: 0 }
    const isTried = () => counts.reserved > 0 && counts.claimed > 0
    // It goes on until each of them was first at times, as otherwise the race is not tried.
    for (let round = 0; round < countRuns(40, 60) || !isTried(); round++) {
      const ids = Array.from({ length: 8 }, (_, index) => `r${round}-${index}`)
      const outcomes = await Promise.all(
        ids.map(async (id, index) => {
          const payer = `0x${index}`
          const reserve = () => reservations.place(reservation(id, { account: 'shop', payer }), funds(100n))
          const settle = () => claimAs('anonymous', id, { scheme: 'exact' }, theirJournal)
          const [held, settlement] = await Promise.all([reserve(), settle()])
          return { isReserved: isReserved(held), isClaimed: settlement !== null }
        }),
      )
      for (const outcome of outcomes) {
        expect([outcome.isReserved, outcome.isClaimed].filter(Boolean)).toHaveLength(1)
        counts[outcome.isReserved ? 'reserved' : 'claimed'] += 1
      }
    }
  })
})

describe('what covers a payment', () => {
  it('is a live reservation of the account, for the recipient, of at least the amount', async () => {
    const held = reservation('a', { account: 'shop', purpose: 'verify', amount: 50n })
    await reservations.place(held, funds(100n))
    expect(await theirs.covers(held)).toBe(true)
    expect(await theirs.covers({ ...held, amount: 51n })).toBe(false)
    expect(await theirs.covers({ ...held, account: 'rival' })).toBe(false)
    expect(await theirs.covers({ ...held, payTo: 'carol' })).toBe(false)
    expect(await theirs.covers({ ...held, asset: 'silver' })).toBe(false)
    await reservations.release(held)
    expect(await theirs.covers(held)).toBe(false)
  })

  it('is no reservation of an anonymous caller, and none that has expired', async () => {
    const anonymous = reservation('a', { account: 'anonymous', purpose: 'verify' })
    await reservations.place(anonymous, funds(100n))
    expect(await theirs.covers(anonymous)).toBe(false)
    expect(await theirs.covers({ ...anonymous, countsAnonymous: true })).toBe(true)
    const expired = reservation('b', { account: 'shop', expiresAt: new Date(0) })
    await reservations.place(expired, funds(100n))
    expect(await theirs.covers({ ...expired, countsAnonymous: true })).toBe(false)
  })
})

describe('a promised settlement', () => {
  const network = 'eip155:84532'
  const promise = (authorizationId: string, changes: Partial<FundsHold> = {}) =>
    reservations.place(
      reservation(authorizationId, { account: 'shop', purpose: 'verify', isPromised: true, ...changes }),
      funds(1_000n),
    )
  const count = async () => {
    const counts = await theirs.countPromised(network)
    return Object.fromEntries(
      counts.map(({ part, customer, count }) => [part === customer ? part : `${part} ${customer}`, count]),
    )
  }

  it('is counted for its account, in all instances, once', async () => {
    await promise('a')
    await promise('b', { account: 'rival' })
    await promise('c', { account: 'anonymous', purpose: 'stream:1' })
    await promise('c', { account: 'anonymous', purpose: 'stream:1' })
    await promise('d', { isPromised: false })
    expect(await count()).toEqual({ shop: 1, rival: 1, anonymous: 1 })
    expect(await theirs.countPromised('eip155:1')).toEqual([])
  })

  it('is counted for whom it was promised to, whoever renews it', async () => {
    const mailbox = { part: 'mailbox', customer: 'mailbox' }
    const address = { part: 'address', customer: 'stranger' }
    await promise('a', { promisee: mailbox })
    await promise('b', { account: 'stall', promisee: mailbox })
    await promise('a', { promisee: address })
    await promise('a', { isPromised: false })
    await promise('c', { account: 'stranger', promisee: address })
    expect(await promise('c', { account: 'stranger', promisee: mailbox })).toMatchObject({
      promisee: address,
    })
    expect(await count()).toEqual({ mailbox: 2, 'address stranger': 1 })
  })

  it('stays one when the account settles it, and is none for a settlement that was not verified', async () => {
    await promise('a')
    const settle = (id: string) =>
      reservations.place(reservation(id, { account: 'shop', amount: 1n }), funds(1_000n))
    for (let repeat = 0; repeat < 2; repeat++) {
      expect(await settle('a')).toMatchObject({ state: 'held', isPromised: true })
      const unverified = await settle('b')
      expect(unverified).toEqual(reserved)
      expect(unverified).not.toHaveProperty('isPromised')
    }
  })

  it('is not taken over with the authorization by another caller', async () => {
    await promise('a', { account: 'anonymous', purpose: 'stream:1' })
    expect(await reservations.place(reservation('a', { account: 'shop' }), funds(1_000n))).toEqual(reserved)
    expect(await count()).toEqual({})
  })

  it('is not counted while it is settled, afterwards, or once its time is over', async () => {
    await promise('a')
    const { id } = await claimAsShop('a')
    expect(await count()).toEqual({})
    await journal.close(id, { state: 'confirmed', transaction: 'tx', settledAmount: 1n })
    expect(await count()).toEqual({})
    await promise('b')
    expect(await count()).toEqual({ shop: 1 })
    await expire()
    expect(await count()).toEqual({})
  })

  const passHour = () =>
    pool.query("update reservations set promised_at = promised_at - interval '61 minutes'")

  it('ends an hour after its verification, however long the server waits', async () => {
    await promise('a', { expiresAt: new Date(Date.now() + 365 * 24 * anHour) })
    await pool.query("update reservations set promised_at = promised_at - interval '50 minutes'")
    expect(await count()).toEqual({ shop: 1 })
    // A renewal does not prolong it.
    await promise('a')
    await pool.query("update reservations set promised_at = promised_at - interval '11 minutes'")
    expect(await count()).toEqual({})
    const settled = await reservations.place(reservation('a', { account: 'shop', amount: 1n }), funds(1_000n))
    expect(settled).toMatchObject({ state: 'held' })
    expect(settled).not.toHaveProperty('isPromised')
  })

  it('can be promised again after that, and lasts as long as a stream that holds it', async () => {
    await promise('a')
    await passHour()
    expect(await promise('a')).toMatchObject({ isPromised: true })
    expect(await count()).toEqual({ shop: 1 })
    await promise('a', { purpose: 'stream:1' })
    await passHour()
    expect(await count()).toEqual({ shop: 1 })
  })

  const claimAsShop = async (authorizationId: string): Promise<Settlement> => {
    const settlement = await claimAs('shop', authorizationId, { scheme: 'upto' })
    if (settlement === null) throw new Error('The authorization has a settlement')
    return settlement
  }
})
