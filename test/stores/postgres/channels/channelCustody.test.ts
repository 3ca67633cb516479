import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { BoundChannel } from '../../../../src/ports/channelCustody.js'
import { createCustodyCache } from '../../../../src/stores/cache/custodyCache.js'
import { createChannelCustody } from '../../../../src/stores/postgres/channels/channelCustody.js'
import { randomAddress, randomHex } from '../../../support/evm/authorization.js'
import { useTestDatabase } from '../../../support/postgres.js'

const { pool, otherPool } = useTestDatabase()
const custody = createChannelCustody(pool)

const channelOf = (changes: Partial<BoundChannel> = {}): BoundChannel => ({
  network: 'eip155:8453',
  channelId: randomHex(32),
  account: 'ada',
  payer: randomAddress().toLowerCase(),
  payerAuthorizer: randomAddress().toLowerCase(),
  receiver: randomAddress().toLowerCase(),
  receiverAuthorizer: randomAddress().toLowerCase(),
  token: randomAddress().toLowerCase(),
  withdrawDelay: 900,
  salt: randomHex(32),
  ...changes,
})

const funded = { isFunded: true }
const unfunded = { isFunded: false }

describe('the binding of a channel', () => {
  it('is that of the first account, for all instances', async () => {
    const channel = channelOf()
    const other = createChannelCustody(otherPool)
    expect(await custody.findAccounts([channel])).toEqual([null])
    expect(await custody.bind(channel, unfunded)).toEqual({ account: 'ada' })
    expect(await other.bind({ ...channel, account: 'eve' }, funded)).toEqual({ account: 'ada' })
    expect(await custody.bind(channel, funded)).toEqual({ account: 'ada' })
    expect(await other.findAccounts([channelOf(), channel])).toEqual([null, 'ada'])
  })

  it('is one of those that two instances try to make at once', async () => {
    const instances = [createCustodyCache(custody), createCustodyCache(createChannelCustody(otherPool))]
    for (let round = 0; round < 10; round += 1) {
      const channel = channelOf()
      const bound = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          instances[index % 2]?.bind({ ...channel, account: `account ${index}` }, funded),
        ),
      )
      expect(new Set(bound.map((each) => JSON.stringify(each))).size).toBe(1)
      expect(await custody.findAccounts([channel])).toEqual([Object(bound[0]).account])
    }
  })

  it('on another network is another one', async () => {
    const channel = channelOf()
    const elsewhere = { ...channel, network: 'eip155:10', account: 'eve' }
    await custody.bind(channel, funded)
    expect(await custody.bind(elsewhere, funded)).toEqual({ account: 'eve' })
    expect(await custody.findAccounts([channel, elsewhere])).toEqual(['ada', 'eve'])
  })

  it('of a receiver that an account has stated as its own is left to that account', async () => {
    const [owner, receiver] = [randomUUID(), randomAddress().toLowerCase()]
    await pool.query(
      `insert into recipient_statements (network, pay_to, account_id, memo, signed_claim, own_key)
       values ('eip155:8453', $1, $2, false, false, true)`,
      [receiver, owner],
    )
    const channel = channelOf({ receiver })
    expect(await custody.bind(channel, funded)).toEqual({ refused: 'claimed' })
    expect(await custody.bind({ ...channel, account: owner }, funded)).toEqual({ account: owner })
    expect(await custody.bind(channel, funded)).toEqual({ account: owner })
  })
})

describe('a signed refund', () => {
  it('is recorded for its channel: the highest amount of the newest nonce', async () => {
    const channel = channelOf()
    const cached = createCustodyCache(createChannelCustody(otherPool))
    await custody.bind(channel, funded)
    expect(await cached.findRefund(channel)).toBeNull()
    await custody.recordRefund(channel, { nonce: 0n, amount: 500n })
    await custody.recordRefund(channel, { nonce: 0n, amount: 300n })
    expect(await cached.findRefund(channel)).toEqual({ nonce: 0n, amount: 500n })
    await custody.recordRefund(channel, { nonce: 2n ** 256n - 1n, amount: 200n })
    expect(await cached.findRefund(channel)).toEqual({ nonce: 2n ** 256n - 1n, amount: 200n })
  })

  it('of a lower nonce, which a reorg has brought back, adds to the other one', async () => {
    const channel = channelOf()
    await custody.bind(channel, funded)
    await custody.recordRefund(channel, { nonce: 1n, amount: 500n })
    await custody.recordRefund(channel, { nonce: 0n, amount: 300n })
    expect(await custody.findRefund(channel)).toEqual({ nonce: 1n, amount: 800n })
  })

  it('is none of a channel that is not bound', async () => {
    await expect(custody.recordRefund(channelOf(), { nonce: 0n, amount: 1n })).rejects.toThrow('not bound')
  })
})

describe('a payer without deposits', () => {
  it('has an account bind 100 channels at most, and stops no other payer or account', async () => {
    const { payer } = channelOf()
    const bind = (changes: Partial<BoundChannel> = {}, options = unfunded) =>
      custody.bind(channelOf({ payer, ...changes }), options)
    for (let count = 0; count < 100; count += 1) expect(await bind()).toEqual({ account: 'ada' })
    expect(await bind()).toEqual({ refused: 'full' })
    expect(await bind({ account: 'bob' })).toEqual({ account: 'bob' })
    expect(await bind({ payer: channelOf().payer })).toEqual({ account: 'ada' })
    expect(await bind({}, funded)).toEqual({ account: 'ada' })
  })

  it('has room again once a deposit is seen in one of them', async () => {
    const { payer } = channelOf()
    const channels = Array.from({ length: 100 }, () => channelOf({ payer }))
    const cached = createCustodyCache(custody)
    for (const channel of channels) await cached.bind(channel, unfunded)
    expect(await cached.bind(channelOf({ payer }), unfunded)).toEqual({ refused: 'full' })
    const [first = channelOf()] = channels
    // Another account's look at the channel changes nothing.
    expect(await cached.bind({ ...first, account: 'eve' }, funded)).toEqual({ account: 'ada' })
    expect(await cached.bind(channelOf({ payer }), unfunded)).toEqual({ refused: 'full' })
    expect(await cached.bind(first, funded)).toEqual({ account: 'ada' })
    expect(await cached.bind(channelOf({ payer }), unfunded)).toEqual({ account: 'ada' })
  })
})

describe('a cached binding', () => {
  it('is looked up once, and one that is missing each time', async () => {
    const asked: number[] = []
    const cached = createCustodyCache({
      ...custody,
      findAccounts: (channels) => {
        asked.push(channels.length)
        return custody.findAccounts(channels)
      },
    })
    const [bound, unbound] = [channelOf(), channelOf()]
    await custody.bind(bound, funded)
    expect(await cached.findAccounts([unbound, bound])).toEqual([null, 'ada'])
    expect(await cached.findAccounts([bound])).toEqual(['ada'])
    expect(await cached.findAccounts([bound, unbound])).toEqual(['ada', null])
    expect(asked).toEqual([2, 1])
    await cached.bind(unbound, funded)
    expect(await cached.findAccounts([unbound])).toEqual(['ada'])
    expect(asked).toEqual([2, 1])
  })
})
