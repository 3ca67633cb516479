import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { createSandboxChannels } from '../../../../src/stores/postgres/sandbox/channels.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { insertJournalRows, openColumns } from '../../../support/journalRows.js'
import { useTestDatabase } from '../../../support/postgres.js'

const { pool } = useTestDatabase()
beforeEach(async () => {
  await emptyTables(pool, 'sandbox_channels', 'sandbox_receivers', 'sandbox_executions', 'settlements')
})

const network = 'toy:1'
const open = (maximum = 100) => createSandboxChannels(pool, maximum)
const channelOf = (channelId: string) => ({ channelId, receiver: 'shop', token: 'coin' })
const depositOf = (channelId: string, amount = 100n) =>
  ({ type: 'deposit', ...channelOf(channelId), amount }) as const
const claimOf = (channelId: string, total: bigint) =>
  ({ type: 'claim', rows: [{ channelId, total }] }) as const
const sweep = { type: 'settle', receiver: 'shop', token: 'coin' } as const
const run = (change: Parameters<ReturnType<typeof open>['execute']>[2]) =>
  open().execute(network, randomUUID(), change)
const expire = (table: string) => pool.query(`update ${table} set expires_at = now() - interval '1 second'`)
const count = async (table: string) => (await pool.query(`select 1 from ${table}`)).rows.length
const find = async (id: string) => (await open().find(network, [id])).get(id) ?? null

describe('a transaction of the sandbox', () => {
  it('is executed once, however many ask for it at once, and has one result', async () => {
    const results = await Promise.all(
      Array.from({ length: 8 }, () => open().execute(network, '0xaa', depositOf('a'))),
    )
    const expected = { amount: 100n, channel: { balance: 100n, totalClaimed: 0n, refundNonce: 0n } }
    for (const result of results) expect(result).toEqual(expected)
    await run(depositOf('a'))
    expect(await find('a')).toMatchObject({ balance: 200n })
    expect(await open().execute(network, '0xaa', depositOf('a'))).toEqual(expected)
    expect(await open().findExecution(network, '0xaa')).toEqual(expected)
    expect(await open().findExecution('toy:2', '0xaa')).toBeNull()
  })

  it('that reverts changes nothing, and stays reverted', async () => {
    await run(depositOf('a'))
    const rows = [
      { channelId: 'a', total: 60n },
      { channelId: 'missing', total: 1n },
    ]
    expect(await open().execute(network, '0xbb', { type: 'claim', rows })).toBeNull()
    expect(await find('a')).toMatchObject({ totalClaimed: 0n })
    await run(depositOf('missing'))
    expect(await open().execute(network, '0xbb', { type: 'claim', rows })).toBeNull()
    expect(await find('a')).toMatchObject({ totalClaimed: 0n })
    expect(await run(claimOf('a', 101n))).toBeNull()
    expect(await run(sweep)).toBeNull()
    const refund = { type: 'refund', channelId: 'a', amount: 10n, rows: [] } as const
    expect(await run({ ...refund, nonce: 1n })).toBeNull()
    expect(await run({ ...refund, nonce: 0n, amount: 0n })).toBeNull()
    // Its claim is taken back with it.
    expect(await run({ ...refund, nonce: 0n, rows: [{ channelId: 'a', total: 100n }] })).toBeNull()
    expect(await find('a')).toEqual({ balance: 100n, totalClaimed: 0n, refundNonce: 0n })
    expect(await run(depositOf('a', 2n ** 128n - 100n))).toBeNull()
  })

  it('reverts, as the contract, where it would credit a receiver with more than a uint128', async () => {
    const most = 2n ** 128n - 1n
    const ids = ['a', 'b', 'c', 'd']
    for (const id of ids) await run(depositOf(id, most))
    const rows = ids.map((channelId) => ({ channelId, total: most }))
    expect(await run({ type: 'claim', rows })).toBeNull()
    expect(await find('a')).toMatchObject({ totalClaimed: 0n })
    expect(await run(claimOf('a', most))).not.toBeNull()
    for (const id of ids.slice(1)) expect(await run(claimOf(id, most))).toBeNull()
    expect(await run(claimOf('b', 1n))).toBeNull()
    expect(await run(sweep)).toMatchObject({ amount: most })
    expect(await find('b')).toMatchObject({ totalClaimed: 0n })
  })

  it('claims rows in any order beside another one without waiting for it forever', async () => {
    const ids = ['a', 'b', 'c', 'd']
    for (const id of ids) await run(depositOf(id))
    const claims = Array.from({ length: 12 }, (_, index) => {
      const rows = ids.map((channelId) => ({ channelId, total: BigInt(index + 1) }))
      return run({ type: 'claim', rows: index % 2 === 0 ? rows : rows.reverse() })
    })
    for (const result of await Promise.all(claims)) expect(result).not.toBeNull()
    expect(await open().findReceiver(network, 'shop', 'coin')).toEqual({
      totalClaimed: 48n,
      totalSettled: 0n,
    })
  })
})

describe('channels of the sandbox', () => {
  it('have room up to the maximum; one that is open needs none', async () => {
    const store = open(2)
    expect(await store.reserve(network, channelOf('a'), [])).toBe('reserved')
    expect(await store.reserve(network, channelOf('b'), [])).toBe('reserved')
    expect(await store.reserve(network, channelOf('c'), [])).toBe('full')
    expect(await store.reserve(network, channelOf('a'), [])).toBe('reserved')
    await expire('sandbox_channels')
    expect(await store.reserve(network, channelOf('c'), [])).toBe('reserved')
  })

  it('leave seven eighths of the free room to others than one holder', async () => {
    const store = open(80)
    const reserve = (index: number, holders: readonly string[]) =>
      store.reserve(network, channelOf(`${index}`), holders)
    const answers: string[] = []
    for (let index = 0; index < 12; index += 1)
      answers.push(await reserve(index, [`requester ${index}`, 'site 1']))
    expect(answers.filter((answer) => answer === 'reserved')).toHaveLength(9)
    expect(answers.at(-1)).toBe('share')
    expect(await reserve(100, ['requester 2'])).toBe('reserved')
  })

  it('are reserved once by two requests at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => open().reserve(network, channelOf('a'), ['one'])),
    )
    expect(new Set(answers)).toEqual(new Set(['reserved']))
    expect(await count('sandbox_channels')).toBe(1)
    expect(await find('a')).toMatchObject({ balance: 0n })
  })

  it('are forgotten a week after their last change, and open anew', async () => {
    await run(depositOf('a'))
    await run(claimOf('a', 60n))
    await run(sweep)
    const { rows } = await pool.query<{ days: string }>(
      'select round(extract(epoch from expires_at - now()) / 86400) as days from sandbox_channels',
    )
    expect(rows).toEqual([{ days: '7' }])
    for (const table of ['sandbox_channels', 'sandbox_receivers']) await expire(table)
    expect(await find('a')).toBeNull()
    expect(await open().findReceiver(network, 'shop', 'coin')).toEqual({ totalClaimed: 0n, totalSettled: 0n })
    expect(await run(claimOf('a', 70n))).toBeNull()
    expect(await run(sweep)).toBeNull()
    await run(depositOf('a', 30n))
    expect(await find('a')).toEqual({ balance: 30n, totalClaimed: 0n, refundNonce: 0n })
    await run(claimOf('a', 20n))
    expect(await open().findReceiver(network, 'shop', 'coin')).toEqual({
      totalClaimed: 20n,
      totalSettled: 0n,
    })
  })

  it('are purged with receivers and executions once they expired', async () => {
    const tables = ['sandbox_channels', 'sandbox_receivers', 'sandbox_executions']
    await run(depositOf('a'))
    await run(claimOf('a', 60n))
    await open().purge()
    expect(await Promise.all(tables.map(count))).toEqual([1, 1, 2])
    for (const table of tables) await expire(table)
    await open().purge()
    expect(await Promise.all(tables.map(count))).toEqual([0, 0, 0])
  })

  it('keep the execution of a settlement that is still pending', async () => {
    const columns = { ...openColumns, network: `'${network}'`, transaction: `'0xcc'` }
    await insertJournalRows(pool, { count: 1, columns })
    await open().execute(network, '0xcc', depositOf('a'))
    await expire('sandbox_executions')
    await open().purge()
    expect(await count('sandbox_executions')).toBe(1)
  })
})
