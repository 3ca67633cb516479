import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BoundChannel } from '../../../src/ports/channelCustody.js'
import { createChannelCustody } from '../../../src/stores/postgres/channels/channelCustody.js'
import { createChannelLedger } from '../../../src/stores/postgres/channels/channelLedger.js'
import { createHeldPayments } from '../../../src/stores/postgres/heldPayments/heldPayments.js'
import { runAdminCommand as admin } from '../../support/adminCommand.js'
import { randomAddress, randomHex } from '../../support/evm/authorization.js'
import { addInstance, killInstances } from '../../support/instances.js'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js'
import { makeTemporaryFolder } from '../../support/temporaryFolder.js'

/* Whose channels and holds are, brought into a database that was restored from before they were bound. */

const network = 'eip155:8453'
const funded = { isFunded: true }
const at = new Date('2026-11-28T12:00:00Z')

const channelOf = (): BoundChannel => ({
  network,
  channelId: randomHex(32),
  account: 'ada',
  payer: randomAddress().toLowerCase(),
  payerAuthorizer: randomAddress().toLowerCase(),
  receiver: randomAddress().toLowerCase(),
  receiverAuthorizer: randomAddress().toLowerCase(),
  token: randomAddress().toLowerCase(),
  withdrawDelay: 900,
  salt: randomHex(32),
})

const holdOf = (authorizationId: string) => ({
  network,
  hash: randomHex(32),
  authorizationId,
  payer: 'payer',
  payTo: 'payee',
  asset: 'asset',
  amount: 5n,
  captureDeadline: at,
  refundDeadline: at,
  terms: {},
})

const createStores = (database: TestDatabase) => {
  const pool = database.pool()
  const [custody, ledger] = [createChannelCustody(pool), createChannelLedger(pool)]
  return {
    pool,
    custody,
    ledger,
    bind: async (channel: BoundChannel, ceiling: bigint) => {
      await custody.bind(channel, funded)
      const { account: accountId, channelId, receiver, token } = channel
      const voucher = { network, channelId, accountId, receiver, token, config: {}, ceiling, price: 1_000n }
      await ledger.keep({ ...voucher, signature: `0x${ceiling}` }, at)
    },
    hold: async (hash: string, account: string) => {
      const { rows } = await pool.query(
        `insert into held_payments (network, hash, account_id, authorization_id, payer, pay_to, asset, amount, capture_deadline,
           refund_deadline, terms) values ($1, $2, $3, 'authorization', 'payer', 'payee', 'asset', 5, now(), now(), '{"a": "1"}')
         returning id`,
        [network, hash, account],
      )
      await pool.query(
        `insert into hold_moves (account_id, idempotency_key, part, held_payment_id, authorization_id, fingerprint, move)
         values ($1, $2, 'request', $3, 'move', 'fingerprint', '{}')`,
        [account, `key of ${hash}`, rows[0]?.id],
      )
    },
    listHolds: async () =>
      (
        await pool.query(
          `select hash, h.account_id as account, idempotency_key as key
           from held_payments h left join hold_moves m on m.held_payment_id = h.id order by 1`,
        )
      ).rows,
  }
}

describe('npm run admin -- bindings', () => {
  let [source, target]: readonly [TestDatabase?, TestDatabase?] = []
  let folder: string
  let file: string

  beforeEach(async () => {
    ;[source, target] = await Promise.all([createTestDatabase(), createTestDatabase()])
    folder = await makeTemporaryFolder('quittance-bindings-')
    file = join(folder, 'bindings.backup')
  })
  afterEach(async () => {
    await Promise.all([source?.drop(), target?.drop(), rm(folder, { recursive: true })])
  })

  const open = () => {
    if (source === undefined || target === undefined) throw new Error('There is no database')
    const urls = { source: { DATABASE_URL: source.url }, target: { DATABASE_URL: target.url } }
    return {
      from: createStores(source),
      into: createStores(target),
      exportAll: () => admin(['bindings', 'export', file], urls.source),
      importAll: (...flags: readonly string[]) => admin(['bindings', 'import', file, ...flags], urls.target),
    }
  }

  it('adds what a restored database lacks, so that no payer can bind it anew, and nothing a second time', async () => {
    const { from, into, exportAll, importAll } = open()
    const [bound, hold] = [channelOf(), randomHex(32)]
    await from.bind(bound, 3_000n)
    await from.custody.recordRefund(bound, { nonce: 2n, amount: 700n })
    await from.hold(hold, 'ada')
    expect(await exportAll()).toEqual({ code: 0, output: `Wrote ${file}: 1 channels, 1 holds.\n` })
    const imported = await importAll()
    expect(imported.code).toBe(0)
    expect(imported.output).toContain(
      '1 channels, of which the database lacked 1, and 1 holds, of which it lacked 1.',
    )
    expect(imported.output).toContain('2 belong to accounts that the database lacks')
    expect(await into.custody.bind({ ...bound, account: 'eve' }, funded)).toEqual({ account: 'ada' })
    expect(await into.custody.findRefund(bound)).toEqual({ nonce: 2n, amount: 700n })
    expect(await into.ledger.find(bound)).toMatchObject({
      accountId: 'ada',
      ceiling: 3_000n,
      charged: 2_000n,
    })
    expect(await into.listHolds()).toEqual([{ hash: hold, account: 'ada', key: `key of ${hold}` }])
    expect((await importAll()).output).toContain('1 channels, of which the database lacked 0')
  })

  it('leaves a binding as it is that differs, and reports it', async () => {
    const { from, into, exportAll, importAll } = open()
    const [bound, hold] = [channelOf(), randomHex(32)]
    await from.bind(bound, 9_000n)
    await from.custody.recordRefund(bound, { nonce: 0n, amount: 700n })
    await from.hold(hold, 'ada')
    await into.bind({ ...bound, account: 'eve' }, 2_000n)
    await into.hold(hold, 'eve')
    await exportAll()
    const { code, output } = await importAll('--json')
    expect(code).toBe(1)
    expect(JSON.parse(output)).toMatchObject({
      channels: { listed: 1, added: 0 },
      holds: { listed: 1, added: 0 },
      raised: 0,
      conflicts: [
        { binding: 'channel', network, id: bound.channelId, account: 'eve', accountInFile: 'ada' },
        { binding: 'hold', network, id: hold, account: 'eve', accountInFile: 'ada' },
      ],
    })
    expect((await importAll()).output).toContain(
      `The channel ${bound.channelId} on ${network} belongs to account eve here, and to ada in the file`,
    )
    expect(await into.custody.findAccounts([bound])).toEqual(['eve'])
    expect(await into.custody.findRefund(bound)).toBeNull()
    expect(await into.ledger.find(bound)).toMatchObject({ accountId: 'eve', ceiling: 2_000n })
    expect(await into.listHolds()).toEqual([{ hash: hold, account: 'eve', key: `key of ${hold}` }])
  })

  it('raises the voucher and the signed refund of the same account, and lowers none', async () => {
    const { from, into, exportAll, importAll } = open()
    const [behind, ahead] = [channelOf(), channelOf()]
    await from.bind(behind, 9_000n)
    await from.bind(ahead, 3_000n)
    await from.custody.recordRefund(behind, { nonce: 0n, amount: 700n })
    await from.custody.recordRefund(ahead, { nonce: 1n, amount: 10n })
    await into.bind(behind, 2_000n)
    await into.bind(ahead, 8_000n)
    await into.custody.recordRefund(behind, { nonce: 0n, amount: 500n })
    await into.custody.recordRefund(ahead, { nonce: 1n, amount: 900n })
    await into.pool.query('update channel_vouchers set is_live = false')
    await exportAll()
    expect((await importAll()).output).toContain('1 channels have a higher voucher, or a higher charge, now')
    expect(await into.ledger.find(behind)).toMatchObject({
      ceiling: 9_000n,
      signature: '0x9000',
      charged: 8_000n,
    })
    expect(await into.ledger.find(ahead)).toMatchObject({ ceiling: 8_000n, signature: '0x8000' })
    const { rows } = await into.pool.query('select channel_id as id from channel_vouchers where is_live')
    expect(rows).toEqual([{ id: behind.channelId }])
    expect(await into.custody.findRefund(behind)).toEqual({ nonce: 0n, amount: 700n })
    expect(await into.custody.findRefund(ahead)).toEqual({ nonce: 1n, amount: 900n })
  })

  it('raises what a voucher of the same or a lower ceiling was charged for, as streams do', async () => {
    const { from, into, exportAll, importAll } = open()
    const [same, lower] = [channelOf(), channelOf()]
    const charge = async ({ ledger }: typeof from, { channelId, ...bound }: BoundChannel, price: bigint) => {
      const { account: accountId, receiver, token } = bound
      const voucher = { network, channelId, accountId, receiver, token, config: {}, ceiling: 9_000n }
      await ledger.keep({ ...voucher, price, signature: '0x9000' }, at)
    }
    await from.bind(same, 9_000n)
    await charge(from, same, 0n)
    await into.bind(same, 9_000n)
    await from.bind(lower, 8_000n)
    await into.bind(lower, 2_000n)
    await charge(into, lower, 9_000n)
    await exportAll()
    expect((await importAll()).output).toContain('2 channels have a higher voucher, or a higher charge, now')
    expect(await into.ledger.find(same)).toMatchObject({ charged: 9_000n, signature: '0x9000' })
    expect(await into.ledger.find(lower)).toMatchObject({
      ceiling: 9_000n,
      signature: '0x9000',
      charged: 7_000n,
    })
    expect((await importAll('--json')).output).toContain('"raised": 0')
  })

  it('brings what accounts ask for at deadlines, of two statements the later one, and names what stays', async () => {
    const { from, into, exportAll, importAll } = open()
    const state = ({ pool }: typeof from, account: string, atDeadline: string, hour: number) =>
      pool.query('insert into hold_defaults (account_id, at_deadline, changed_at) values ($1, $2, $3)', [
        account,
        atDeadline,
        new Date(Date.UTC(2026, 10, 28, hour)),
      ])
    const list = async () =>
      (await into.pool.query('select account_id as account, at_deadline as is from hold_defaults order by 1'))
        .rows
    await state(from, 'missing', 'capture', 1)
    await state(from, 'later in the file', 'capture', 2)
    await state(into, 'later in the file', 'void', 1)
    await state(from, 'later here', 'capture', 1)
    await state(into, 'later here', 'void', 2)
    await state(from, 'same', 'void', 2)
    await state(into, 'same', 'void', 1)
    await state(into, 'only here', 'void', 1)
    await into.pool.query(
      `insert into hold_defaults (account_id, at_deadline, changed_at) values ('after the file', 'void', now() + interval '1 hour')`,
    )
    await exportAll()
    const { code, output } = await importAll('--json')
    expect(code).toBe(1)
    expect(JSON.parse(output)).toMatchObject({
      conflicts: [],
      defaults: {
        listed: 4,
        added: 1,
        changed: 1,
        conflicts: [{ account: 'later here', atDeadline: 'void', atDeadlineInFile: 'capture' }],
        withdrawn: [{ account: 'only here', atDeadline: 'void' }],
      },
    })
    const expected = [
      { account: 'after the file', is: 'void' },
      { account: 'later here', is: 'void' },
      { account: 'later in the file', is: 'capture' },
      { account: 'missing', is: 'capture' },
      { account: 'only here', is: 'void' },
      { account: 'same', is: 'void' },
    ]
    expect(await list()).toEqual(expected)
    const again = await importAll()
    expect(again.output).toContain('the database lacked 0 of them, and 0 had asked for something else')
    expect(again.output).toContain('The account later here asks here for void')
    expect(again.output).toContain('The account only here asks here for void')
    expect(again.output).not.toContain('after the file')
    expect(await list()).toEqual(expected)
    await createHeldPayments(into.pool).bind(holdOf('missing'), 'missing')
    const { rows } = await into.pool.query('select at_deadline from held_payments')
    expect(rows).toEqual([{ at_deadline: 'capture' }])
  })

  it('finds what a key moved of a hold that was made again after the restore', async () => {
    const { from, into, exportAll, importAll } = open()
    const hold = randomHex(32)
    await from.hold(hold, 'ada')
    await into.hold(hold, 'ada')
    await into.pool.query('delete from hold_moves')
    await exportAll()
    expect((await importAll()).code).toBe(0)
    expect(await into.listHolds()).toEqual([{ hash: hold, account: 'ada', key: `key of ${hold}` }])
  })

  it('brings what each account was credited of a payout, so that any of them can have it paid out', async () => {
    const { from, into, exportAll, importAll } = open()
    const { receiver, token } = channelOf()
    const [first, second] = ['ada', 'bob'].map((account) => ({ ...channelOf(), account, receiver, token }))
    if (first === undefined || second === undefined) throw new Error('There are no channels')
    const credit = async ({ ledger }: typeof from, { channelId }: BoundChannel, totalClaimed: bigint) => {
      const seen = { channelId, balance: 9_000n, totalClaimed, withdrawal: 0n, withdrawRequestedAt: 0 }
      await ledger.observe(network, [seen], at)
    }
    const listShares = async ({ pool }: typeof from) =>
      (await pool.query('select account_id as account, amount from channel_sweep_shares order by 1')).rows
    for (const channel of [first, second]) {
      await from.bind(channel, 9_000n)
      await credit(from, channel, 2_000n)
    }
    // The restored database has the first channel as it was before, and has credited a part of it anew.
    await into.bind(first, 9_000n)
    await credit(into, first, 500n)
    // A part of what others' channels have credited, without a channel here, is no account's.
    await from.pool.query(
      `insert into channel_sweep_shares (network, receiver, token, account_id, amount, since, last_credit)
       select network, receiver, token, 'eve', 1000000, since, last_credit from channel_sweep_shares limit 1`,
    )
    await exportAll()
    for (let times = 0; times < 2; times += 1) {
      expect((await importAll()).code).toBe(0)
      expect(await listShares(into)).toEqual([
        { account: 'ada', amount: '2000' },
        { account: 'bob', amount: '2000' },
      ])
    }
    const list = () =>
      into.ledger.listUnswept(network, { limit: 10, after: null, dueAmount: 1_000n, dueBefore: new Date(0) })
    const asked: string[] = []
    for (let times = 0; times < 2; times += 1) {
      const [unswept] = await list()
      if (unswept === undefined) throw new Error('Nothing is due')
      asked.push(unswept.accountId)
      await into.ledger.passOver(unswept, new Date())
    }
    expect(asked.sort()).toEqual(['ada', 'bob'])
  })

  it('takes a file of a version that had no parts of payouts', async () => {
    const { from, into, exportAll, importAll } = open()
    const bound = channelOf()
    await from.bind(bound, 3_000n)
    await from.pool.query('drop table channel_sweep_shares')
    await exportAll()
    expect((await importAll()).code).toBe(0)
    expect(await into.custody.findAccounts([bound])).toEqual(['ada'])
  })

  it('pays out what was credited before the restore, and imports nothing beside a service', async () => {
    const { from, into, exportAll, importAll } = open()
    const bound = channelOf()
    for (const { bind, ledger, pool } of [from, into]) {
      await bind(bound, 3_000n)
      const seen = { channelId: bound.channelId, balance: 9_000n, totalClaimed: 2_000n }
      await ledger.observe(network, [{ ...seen, withdrawal: 0n, withdrawRequestedAt: 0 }], at)
      if (pool === into.pool) await pool.query('update channel_sweeps set unswept_since = null')
    }
    await exportAll()
    await addInstance(into.pool)
    expect(await importAll()).toMatchObject({
      code: 1,
      output: expect.stringContaining('Nothing was imported'),
    })
    await killInstances(into.pool)
    expect(await importAll()).toMatchObject({ code: 0 })
    expect(
      await into.ledger.listUnswept(network, { limit: 10, after: null, dueAmount: 1n, dueBefore: at }),
    ).toMatchObject([{ receiver: bound.receiver, unsweptSince: at }])
  })
})
