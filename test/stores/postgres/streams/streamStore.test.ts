import type { Pool, PoolClient } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Stream, StreamStore } from '../../../../src/ports/streamStore.js'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { createStreamStore } from '../../../../src/stores/postgres/streams/streamStore.js'
import { decideHere } from '../../../../src/usecases/streams/control.js'
import type { StreamCommand } from '../../../../src/usecases/streams/decide.js'
import { viewStream } from '../../../../src/usecases/streams/viewStream.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { patientPool } from '../../../support/patientPool.js'
import { usePatientQueues } from '../../../support/patientQueues.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.js'
import { rejectionOf } from '../../../support/rejectionOf.js'
import { streamOf } from '../../../support/streamOf.js'

let database: TestDatabase
let pool: Pool
let store: StreamStore
let other: StreamStore
beforeAll(async () => {
  database = await createTestDatabase()
  pool = database.pool()
  store = createStreamStore(pool)
  other = createStreamStore(database.otherPool())
})
afterAll(() => database.drop())
beforeEach(async () => {
  await emptyTables(pool, 'streams', 'stream_payments', 'webhook_deliveries', 'quota_uses')
})

const now = new Date('2026-01-01T00:10:00Z')
const later = new Date('2026-01-01T01:00:00Z')
const payment = { paymentPayload: { text: 'a\0b' } }

const open = async (
  change: Partial<Stream> = {},
  quota: Parameters<StreamStore['open']>[0]['quota'] = null,
  by: StreamStore = store,
) => {
  const stream = streamOf(change)
  const event = { type: 'stream.opened', data: viewStream(stream) } as const
  return { stream, state: await by.open({ stream, payment, event, quota }) }
}
const change = (id: string, command: StreamCommand, at = now, by: StreamStore = store) =>
  by.change(id, decideHere(command, at))
const update = (amount: bigint, sequence: number | null = null): StreamCommand => ({
  kind: 'update',
  amount,
  sequence,
  voucher: null,
})
const close: StreamCommand = { kind: 'close', finalAmount: null, attendAt: later }
const settled: StreamCommand = {
  kind: 'settled',
  settlementId: 'a1b2c3d4-0000-4000-8000-000000000000',
  transaction: '0xab',
  settledAmount: 5n,
}
const listEvents = async () => {
  const { rows } = await pool.query('select type, data from webhook_deliveries order by created_at, type')
  return rows.map((row) => z.object({ type: z.string(), data: z.unknown() }).parse(row))
}

describe('a stored stream', () => {
  it('is read as it was written, in every field', async () => {
    const { stream } = await open({
      quota: { customer: 'mailbox', feeRate: 0.001 },
      metadata: '{"a":"b\\u0000c"}',
      maxAmount: 2n ** 255n,
    })
    expect(await store.find(stream.id)).toEqual(stream)
    expect(await store.findOpen(stream.authorizationId)).toEqual(stream)
    expect(await store.findToSettle(stream.id)).toMatchObject({ payment })
    const anonymous = await open({ caller: 'anonymous', controlDigest: 'ab'.repeat(32) })
    expect(await store.find(anonymous.stream.id)).toEqual(anonymous.stream)
    await change(stream.id, { kind: 'update', amount: 2n ** 254n, sequence: 9, voucher: '0x12' })
    await change(stream.id, close)
    await change(stream.id, { ...settled, settledAmount: 2n ** 254n })
    expect(await store.find(stream.id)).toEqual({
      ...stream,
      state: 'closed',
      amount: 2n ** 254n,
      sequence: 9,
      updates: 1,
      voucher: '0x12',
      finalAmount: 2n ** 254n,
      settlementId: settled.settlementId,
      transaction: '0xab',
      settledAmount: 2n ** 254n,
      updatedAt: now,
      closedAt: now,
    })
  })

  it('over a channel is read as it was written, and stores no payment that an earlier version would settle', async () => {
    const channel = {
      id: `0x${'5c'.repeat(32)}`,
      config: { payer: 'alice', withdrawDelay: 900 },
      baseline: 7n,
    }
    const { stream } = await open({ channel, voucher: '0x12', ceiling: 2n ** 127n })
    expect(await store.find(stream.id)).toEqual(stream)
    expect((await pool.query('select from stream_payments')).rows).toEqual([])
    expect(await store.findToSettle(stream.id)).toEqual({ stream, payment: null })
    await change(stream.id, {
      kind: 'update',
      amount: 9n,
      sequence: 3,
      voucher: '0x34',
      ceiling: 2n ** 128n - 1n,
    })
    expect(await store.takeToCheck(later, now, 5)).toMatchObject([
      { stream: { id: stream.id }, payment: null },
    ])
    await change(stream.id, { kind: 'close', finalAmount: null, attendAt: now, claimSignature: '0x56' })
    const leased = await store.leaseClosing({ network: 'toy:1', now, leasedUntil: later, limit: 5 })
    expect(leased).toMatchObject([
      {
        payment: null,
        stream: { channel, voucher: '0x34', ceiling: 2n ** 128n - 1n, claimSignature: '0x56' },
      },
    ])
    await change(stream.id, { ...settled, settlementId: null, transaction: '' })
    expect(await store.find(stream.id)).toMatchObject({
      state: 'closed',
      settlementId: null,
      voucher: '0x34',
    })
  })

  it('keeps what attempts to close it found', async () => {
    const { stream } = await open({ amount: 5n })
    await change(stream.id, close)
    const settlementId = 'a1b2c3d4-0000-4000-8000-000000000000'
    await change(stream.id, { kind: 'claimed', settlementId })
    const reason = 'invalid_upto_evm_transaction_failed'
    await change(stream.id, { kind: 'retry', attendAt: later, reason, settlementId, isReverted: true })
    expect(await store.find(stream.id)).toMatchObject({
      state: 'closing',
      attempts: 1,
      refusals: 1,
      refusedAt: now,
      reverts: 1,
      reason,
      settlementId: null,
    })
  })

  it('is none under an unknown id, or one that is no id', async () => {
    for (const id of ['3f0c1f6e-7a0e-4c53-9f5b-0c1de6b2a4b7', 'x', "'; drop table streams"]) {
      expect(await store.find(id)).toBeNull()
      expect(await change(id, update(1n))).toMatchObject({ refusal: { code: 'NOT_FOUND' } })
    }
  })

  it('forgets its payment when it ends', async () => {
    const { stream } = await open({ amount: 5n })
    await change(stream.id, close)
    expect(await store.findToSettle(stream.id)).toMatchObject({ payment })
    await change(stream.id, settled)
    expect(await store.findToSettle(stream.id)).toBeNull()
  })
})

describe('a stream that is placed among others', () => {
  const settlesUntil = new Date('2026-01-01T02:00:00Z')
  const closesAt = new Date('2026-01-01T01:55:00Z')
  const openPlaced = async (
    change: Partial<Stream> = {},
    { by = store, onPlace = () => undefined }: { by?: StreamStore; onPlace?: (counted: object) => void } = {},
  ) => {
    const stream = streamOf({ settlesUntil, closesAt, ...change })
    const event = { type: 'stream.opened', data: viewStream(stream) } as const
    const place = (counted: object) => {
      onPlace(counted)
      return { stream, event }
    }
    const pace = { windowMs: 1_200_000, maxMarginMs: 600_000, place }
    return await by.open({ stream, payment, event, quota: null, pace })
  }

  it('is placed by those of all accounts of its customer', async () => {
    const quota = { customer: 'mailbox', feeRate: 0 }
    await openPlaced({ caller: 'one', quota })
    await openPlaced({ caller: 'two', quota })
    await openPlaced({ caller: 'three', quota: { ...quota, customer: 'three' } })
    const counts: object[] = []
    await openPlaced({ caller: 'four', quota }, { onPlace: (counted) => void counts.push(counted) })
    expect(counts).toEqual([{ others: 3, own: 2 }])
  })

  it('is placed by all that end with it, and by those of its caller', async () => {
    await openPlaced({ caller: 'one' })
    await openPlaced({ caller: 'two' })
    await openPlaced({ caller: 'one' })
    const counts: object[] = []
    await openPlaced({ caller: 'one' }, { onPlace: (counted) => void counts.push(counted) })
    expect(counts).toEqual([{ others: 3, own: 2 }])
  })

  it('is stored by the statement after the count: others wait for the lock meanwhile', async () => {
    const statements: string[] = []
    const observed = new Proxy(pool, {
      get: (target, name) =>
        name === 'connect'
          ? async () => observeStatements(await target.connect(), statements)
          : Reflect.get(target, name),
    })
    expect(await openPlaced({}, { by: createStreamStore(observed) })).toBe('opened')
    expect(statements).toEqual(['begin;', '/*', 'select', 'with', 'commit'])
  })

  describe('while another instance places one of the network', () => {
    const hold = async (network: string) => {
      const client = await database.otherPool().connect()
      await client.query('begin')
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 18))', [`ending on ${network}`])
      return async () => {
        await client.query('rollback')
        client.release()
      }
    }

    it('waits a second for it, then the answer is 503', async () => {
      const release = await hold('toy:1')
      try {
        // By the time-out of the lock, not by that of the statement, which is ten times as long.
        expect(await rejectionOf(openPlaced({ network: 'toy:1' }))).toMatchObject({
          code: 'SERVICE_UNAVAILABLE',
          cause: { code: '55P03' },
        })
      } finally {
        await release()
      }
      expect(await openPlaced({ network: 'toy:1' })).toBe('opened')
    })

    it('takes one connection, however many wait', async () => {
      const release = await hold('toy:1')
      const waiting = Array.from({ length: 40 }, () =>
        openPlaced({ network: 'toy:1' }).catch(() => 'refused'),
      )
      try {
        // The first one waits for a second, and then the next one: at most moments one does, and never two.
        expect(await pollUntil(async () => (await countWaiting()) || null, 'a wait for the lock')).toBe(1)
        expect(await openPlaced({ network: 'toy:2' })).toBe('opened')
        expect(await countWaiting()).toBeLessThanOrEqual(1)
      } finally {
        await release()
      }
      await Promise.all(waiting)
    })

    const countWaiting = async () => {
      const { rows } = await database.otherPool().query(
        `select count(*)::integer as count from pg_locks where locktype = 'advisory' and not granted
             and database = (select oid from pg_database where datname = current_database())`,
      )
      return Number(rows[0].count)
    }
  })
})

const observeStatements = (client: PoolClient, statements: string[]): PoolClient =>
  new Proxy(client, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...given: readonly unknown[]): unknown => {
        if (name === 'query') statements.push(String(given[0]).trim().split(' ')[0] ?? '')
        return Reflect.apply(member, target, given)
      }
    },
  })

describe('changes at the same time', () => {
  usePatientQueues()

  it('to one stream are decided one after the other, in order', async () => {
    const { stream } = await open()
    const amounts = Array.from({ length: 300 }, (_, index) => BigInt(index + 1))
    const decisions = await Promise.all(amounts.map((amount) => change(stream.id, update(amount))))
    expect(decisions.map(({ state }) => state)).toEqual(amounts.map(() => 'changed'))
    expect(await store.find(stream.id)).toMatchObject({ amount: 300n, sequence: 300, updates: 300 })
  })

  it('from two instances lose no update and decide each sequence once', async () => {
    const { stream } = await open()
    const sequences = Array.from({ length: 200 }, (_, index) => index + 1)
    const decisions = await Promise.all(
      sequences.flatMap((sequence) => [
        change(stream.id, update(BigInt(sequence * 10), sequence)),
        change(stream.id, update(BigInt(sequence * 10 + 1), sequence), now, other),
      ]),
    )
    const changed = decisions.filter(({ state }) => state === 'changed')
    expect(await store.find(stream.id)).toMatchObject({ sequence: 200, updates: changed.length })
    expect(changed.length).toBeLessThanOrEqual(200)
  })

  it('delay no close while they wait for a row', async () => {
    // In this order a batch locks the row of the close before it waits for the busy one.
    const [closing, busy] = [
      await open({ id: '00000000-0000-4000-8000-000000000001' }),
      await open({ id: '00000000-0000-4000-8000-000000000002' }),
    ]
    // Nothing is cancelled: a close that waited would wait until the end of the test.
    const patient = openPool({
      ...patientPool,
      url: database.url,
      maxConnections: 4,
      statementTimeoutMs: 3_600_000,
    })
    const ours = createStreamStore(patient)
    const client = await pool.connect()
    try {
      await client.query('begin')
      await client.query('select 1 from streams where id = $1 for update', [busy.stream.id])
      const updated = change(busy.stream.id, update(1n), now, ours)
      const queued = change(closing.stream.id, update(1n), now, ours)
      const closed = await ours.change(closing.stream.id, decideHere(close, now), 'closes')
      expect(closed).toMatchObject({ state: 'changed', stream: { state: 'closing' } })
      await client.query('rollback')
      expect(await updated).toMatchObject({ state: 'changed' })
      await queued
    } finally {
      client.release()
      await patient.end()
    }
  })

  it('are made but those of the rows that stay locked, whose callers get 503', async () => {
    const streams = await Promise.all(Array.from({ length: 6 }, () => open()))
    const ids = streams.map(({ stream }) => stream.id)
    const locked = ids.slice(0, 2)
    const client = await pool.connect()
    try {
      await client.query('begin')
      await client.query('select 1 from streams where id = any($1) for update', [locked])
      const missing = '00000000-0000-4000-8000-00000000000f'
      const answers = await Promise.all(
        [...ids, missing].map((id) =>
          change(id, update(1n)).then(
            ({ state }) => state,
            (error: unknown) => error,
          ),
        ),
      )
      expect(answers).toEqual([
        ...locked.map(() => expect.objectContaining({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 })),
        ...ids.slice(2).map(() => 'changed'),
        'refused',
      ])
    } finally {
      await client.query('rollback')
      client.release()
    }
    for (const id of locked) expect((await change(id, update(1n))).state).toBe('changed')
  })

  it('to many streams never wait for each other in a circle', async () => {
    const streams = await Promise.all(Array.from({ length: 40 }, () => open()))
    const ids = streams.map(({ stream }) => stream.id)
    await Promise.all(
      Array.from({ length: 20 }, (_, round) =>
        (round % 2 === 0 ? ids : ids.toReversed()).map((id) =>
          change(id, update(BigInt(round)), now, round % 3 === 0 ? other : store),
        ),
      ).flat(),
    )
    for (const id of ids) expect(await store.find(id)).toMatchObject({ amount: 19n })
  })

  it('fix one final amount', async () => {
    const { stream } = await open()
    const closes = [1n, 2n, 3n].flatMap((finalAmount) => [
      change(stream.id, { kind: 'close', finalAmount, attendAt: later }),
      change(stream.id, { kind: 'close', finalAmount, attendAt: later }, now, other),
    ])
    const decisions = await Promise.all(closes)
    expect(decisions.filter(({ state }) => state === 'changed')).toHaveLength(1)
    expect(decisions.filter(({ state }) => state === 'unchanged')).toHaveLength(1)
  })

  it('write no index: none has a column that an update changes (HOT)', async () => {
    const { rows } = await pool.query(
      `select a.attname as column from pg_index i join pg_class c on c.oid = i.indrelid
       join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
       where c.relname = 'streams' and a.attname in ('amount', 'sequence', 'updates', 'voucher', 'updated_at')`,
    )
    expect(rows).toEqual([])
  })
})

describe('an authorization', () => {
  it('opens one stream at a time, whichever instance is asked', async () => {
    const opened = await Promise.all(
      [store, other, store, other].map((by) => open({ authorizationId: 'toy:1/n1' }, null, by)),
    )
    expect(opened.map(({ state }) => state).sort()).toEqual(['opened', 'taken', 'taken', 'taken'])
    const winner = opened.find(({ state }) => state === 'opened')
    expect(await store.findOpen('toy:1/n1')).toMatchObject({ id: winner?.stream.id })
    await change(winner?.stream.id ?? '', { kind: 'end' }, later)
    expect(await store.findOpen('toy:1/n1')).toBeNull()
    expect(await open({ authorizationId: 'toy:1/n1' })).toMatchObject({ state: 'opened' })
  })
})

describe('the quota', () => {
  const quota = { customer: 'mailbox', monthlyQuota: 5 }
  const counted = { quota: { customer: 'mailbox', feeRate: 0 }, createdAt: now }

  it('counts open streams and what the month used, exactly, however many are opened at once', async () => {
    await pool.query(`insert into quota_uses (account_id, month, used) values ('mailbox', '2026-01-01', 2)`)
    const opened = await Promise.all(
      Array.from({ length: 10 }, (_, index) => open(counted, quota, index % 2 === 0 ? store : other)),
    )
    expect(opened.filter(({ state }) => state === 'opened')).toHaveLength(3)
    expect(opened.filter(({ state }) => state === 'exhausted')).toHaveLength(7)
    const [first] = opened.filter(({ state }) => state === 'opened')
    await change(first?.stream.id ?? '', { kind: 'end' }, later)
    expect(await open(counted, quota)).toMatchObject({ state: 'opened' })
    expect(await open(counted, quota)).toMatchObject({ state: 'exhausted' })
    expect(await open(counted, null)).toMatchObject({ state: 'opened' })
  })
})

describe('events', () => {
  it('are written with the change, in its transaction, and none for updates', async () => {
    const { stream } = await open({ amount: 5n })
    await change(stream.id, update(6n))
    await change(stream.id, { kind: 'pause' })
    const { stream: paused } = z
      .object({ stream: z.custom<Stream>() })
      .parse(await change(stream.id, { kind: 'pause' }))
    const events = await listEvents()
    expect(events.map(({ type }) => type)).toEqual(['stream.opened', 'stream.paused'])
    expect(events[1]?.data).toEqual(viewStream(paused))
  })

  it('are none for callers without an account', async () => {
    await open({ caller: 'anonymous', controlDigest: 'ab'.repeat(32) })
    expect(await listEvents()).toEqual([])
  })
})

describe('the work of the jobs', () => {
  it('is what is over, what is closing and what was not checked', async () => {
    const { stream } = await open({ amount: 5n })
    await open({ closesAt: new Date('2026-01-02T00:00:00Z') })
    expect(await store.listDue(now, 10)).toEqual([])
    expect(await store.listDue(later, 10)).toEqual([stream.id])
    await change(stream.id, { kind: 'end' }, later)
    expect(await store.listDue(later, 10)).toEqual([])
    expect(await store.listClosingNetworks(later)).toEqual(['toy:1'])
  })

  it('is leased to one instance until it says otherwise', async () => {
    const ids: string[] = []
    for (let index = 0; index < 6; index += 1) {
      const { stream } = await open({ amount: 5n })
      await change(stream.id, { kind: 'end' }, later)
      ids.push(stream.id)
    }
    const lease = { network: 'toy:1', now: later, leasedUntil: new Date('2026-01-01T01:01:00Z'), limit: 4 }
    const leased = (await Promise.all([store.leaseClosing(lease), other.leaseClosing(lease)])).flat()
    expect(leased.map(({ stream }) => stream.id).sort()).toEqual(ids.sort())
    expect(leased[0]).toMatchObject({ payment, stream: { state: 'closing', finalAmount: 5n } })
    expect(await store.leaseClosing(lease)).toEqual([])
    expect(await store.leaseClosing({ ...lease, now: lease.leasedUntil })).toHaveLength(4)
    expect(await store.leaseClosing({ ...lease, network: 'toy:2' })).toEqual([])
  })

  it('is leased up to the limit where the planner expects a single stream', async () => {
    for (let index = 0; index < 6; index += 1) {
      const { stream } = await open({ amount: 5n })
      await change(stream.id, { kind: 'end' }, later)
      if (index === 0) await pool.query('vacuum analyze streams')
    }
    const lease = { network: 'toy:1', now: later, leasedUntil: new Date('2026-01-01T01:01:00Z'), limit: 4 }
    expect(await store.leaseClosing(lease)).toHaveLength(4)
    expect(await other.leaseClosing(lease)).toHaveLength(2)
  })

  it('begins with the authorizations that end first', async () => {
    const ends = ['2026-01-03T00:00:00Z', '2026-01-01T02:00:00Z', '2026-01-02T00:00:00Z']
    for (const end of ends) {
      const { stream } = await open({ amount: 5n, settlesUntil: new Date(end) })
      await change(stream.id, { kind: 'end' }, later)
    }
    const lease = { network: 'toy:1', now: later, leasedUntil: new Date('2026-01-01T01:01:00Z'), limit: 2 }
    const leased = await store.leaseClosing(lease)
    expect(leased.map(({ stream }) => stream.settlesUntil).sort((a, b) => Number(a) - Number(b))).toEqual([
      new Date('2026-01-01T02:00:00Z'),
      new Date('2026-01-02T00:00:00Z'),
    ])
  })

  it('is counted by network and state', async () => {
    const { stream } = await open({ amount: 5n, updatedAt: new Date(Date.now() - 60_000) })
    await open({ updatedAt: new Date(Date.now() - 90_000) })
    await open({ network: 'toy:2' })
    const ended = await open()
    await change(ended.stream.id, { kind: 'end' }, later)
    await change(stream.id, close, new Date(stream.createdAt.getTime() + 1_000))
    const counts = await store.countOpen()
    expect(counts.map(({ network, state, count }) => `${network} ${state} ${count}`).sort()).toEqual([
      'toy:1 active 1',
      'toy:1 closing 1',
      'toy:2 active 1',
    ])
    const active = counts.find(({ network, state }) => network === 'toy:1' && state === 'active')
    expect(active?.oldestSeconds).toBeGreaterThan(89)
    expect(active?.oldestSeconds).toBeLessThan(200)
  })

  it('checks each open stream once in its turn', async () => {
    const { stream } = await open({ createdAt: now })
    expect(await store.takeToCheck(now, later, 10)).toEqual([])
    const taken = await store.takeToCheck(later, later, 10)
    expect(taken).toMatchObject([{ payment, stream: { id: stream.id } }])
    expect(await store.takeToCheck(later, later, 10)).toEqual([])
  })

  it('checks a stream of each customer before the second one of any, the oldest first', async () => {
    const crowd = { createdAt: new Date('2026-01-01T00:00:00Z'), caller: 'eve' }
    for (let index = 0; index < 20; index += 1) await open(crowd)
    const quota = { customer: 'mailbox', feeRate: 0 }
    const second = await open({ createdAt: new Date('2026-01-01T00:02:00Z'), caller: 'b', quota })
    const first = await open({ createdAt: new Date('2026-01-01T00:01:00Z'), caller: 'a', quota })
    const round = async () => (await store.takeToCheck(later, later, 2)).map(({ stream: { id } }) => id)
    expect(await round()).toContain(first.stream.id)
    expect(await round()).toContain(second.stream.id)
    expect(await round()).toHaveLength(2)
  })
})

describe('the list of a caller', () => {
  it('pages through streams of the same instant without repeating or skipping one', async () => {
    for (let index = 0; index < 7; index += 1) await open({ caller: 'ada', createdAt: now })
    const foreign = await open({ caller: 'eve', createdAt: now })
    const seen: string[] = []
    let after: string | null = null
    do {
      const page: readonly Stream[] = await store.list({ caller: 'ada', state: null, limit: 3, after })
      seen.push(...page.map(({ id }) => id))
      after = page.at(-1)?.id ?? null
    } while (after !== null)
    expect(new Set(seen).size).toBe(7)
    expect(await store.list({ caller: 'ada', state: 'active', limit: 9, after: foreign.stream.id })).toEqual(
      [],
    )
  })
})
