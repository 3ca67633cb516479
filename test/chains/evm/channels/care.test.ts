import { describe, expect, it } from 'vitest'
import { newestTransaction } from '../../../../src/stores/postgres/journal/settlementStates.js'
import { readChannel, readReceiver } from '../../../support/evm/channels.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { eventually, quickFinality, refuseSends } from '../scene.js'
import { countSent } from '../strangers.js'
import { claimedOf, newAccount, useCare, withdraw } from './careScene.js'
import {
  type Channel,
  callSettlement,
  claimBody,
  depositBody,
  openChannelOnChain,
  planChannel,
  prefixed,
  refundOrder,
  rowOf,
  voucherBody,
} from './channelScene.js'

/* What becomes of vouchers of delegated channels without a request: claims, payouts and events. */

const care = useCare()
const { scene, authorizer, openService, open, pay, run } = care
const hourMs = 3_600_000

const listEvents = async (account: string, type: string) => {
  const { rows } = await scene.database
    .pool()
    .query('select data from webhook_deliveries where account_id = $1 and type = $2', [account, type])
  return rows.map(({ data }) => data)
}

const listSettlements = async (account: string) => {
  const { rows } = await scene.database
    .pool()
    .query(
      `select id, state, details, amount, settled_amount, ${newestTransaction('s')} as transaction from settlements s where caller = $1 order by created_at`,
      [account],
    )
  return rows
}

describe('a voucher of a delegated channel', () => {
  it('is kept before it is answered, and one of another authorizer costs nothing', async () => {
    const account = newAccount()
    const channel = await open()
    await pay(channel, 3_000n, account)
    const foreign = await openChannelOnChain(scene.chain)
    await pay(foreign, 3_000n, account)
    const { rows } = await scene.database
      .pool()
      .query('select channel_id, charged, ceiling from channel_vouchers')
    expect(rows).toEqual([{ channel_id: channel.id, charged: '2000', ceiling: '3000' }])
  })

  it('is not answered as valid while it cannot be kept', async () => {
    const channel = await open()
    await pay(channel, 3_000n, 'ada')
    await scene.database.pool().query('alter table channel_vouchers rename to channel_vouchers_away')
    try {
      await expect(care.service.verify(await voucherBody(channel, 4_000n), 'ada')).rejects.toThrow()
    } finally {
      await scene.database.pool().query('alter table channel_vouchers_away rename to channel_vouchers')
    }
  })

  it('is not kept by an explanation, and that of a deposit from /settle on', async () => {
    const account = newAccount()
    const count = async () => (await scene.database.pool().query('select from channel_vouchers')).rowCount
    const channel = planChannel(scene.chain, { authorizer })
    const deposit = await depositBody(channel)
    await care.service.verify(deposit, account)
    await care.service.explain(deposit, account)
    expect(await count()).toBe(0)
    expect(await care.service.settle(deposit, account)).toMatchObject({ success: true })
    expect(await count()).toBe(1)
    await care.service.explain(await voucherBody(channel, 9_000n), account)
    const { rows } = await scene.database.pool().query('select ceiling from channel_vouchers')
    expect(rows).toEqual([{ ceiling: '1000' }])
  })
})

describe('a claim without a request', () => {
  it('takes what was charged for sure, once it is worth its gas, and is a settlement of the account', async () => {
    const account = newAccount()
    const channel = await open()
    await pay(channel, 2_900n, account)
    await run('claimChannels')
    expect(await claimedOf(channel)).toBe(0n)
    await pay(channel, 3_000n, account)
    await run('claimChannels')
    expect(await claimedOf(channel)).toBe(2_000n)
    expect(await listSettlements(account)).toMatchObject([
      { state: 'confirmed', details: { type: 'claim', rows: [{ channelId: channel.id, total: '2000' }] } },
    ])
    expect(await listEvents(account, 'settlement.confirmed')).toHaveLength(1)
    await run('claimChannels')
    expect(await countSent(scene, care.service)).toBe(1)
  })

  it('takes less when it has waited long enough, and never what is not worth its row', async () => {
    const account = newAccount()
    const payTo = createEoa().address
    const [channel, dust] = [await open({ payTo }), await open({ payTo })]
    await pay(channel, 1_500n, account)
    await pay(dust, 1_050n, account)
    await run('claimChannels')
    expect(await countSent(scene, care.service)).toBe(0)
    care.clock.shift(25 * hourMs)
    await run('claimChannels')
    expect(await claimedOf(channel)).toBe(500n)
    expect(await claimedOf(dust)).toBe(0n)
  })

  it('is one transaction for the channels of a receiver', async () => {
    const account = newAccount()
    const payTo = createEoa().address
    const channels = [await open({ payTo }), await open({ payTo }), await open({ payTo })]
    for (const channel of channels) await pay(channel, 4_000n, account)
    await run('claimChannels')
    for (const channel of channels) expect(await claimedOf(channel)).toBe(3_000n)
    expect(await countSent(scene, care.service)).toBe(1)
  })

  const listOf = async (accounts: readonly string[]) => {
    const lists = await Promise.all(accounts.map(listSettlements))
    return lists.flat()
  }

  it('shares one transaction with those of other receivers and accounts, each a settlement of its own', async () => {
    const accounts = [newAccount(), newAccount(), newAccount()]
    const channels = new Map<string, Channel>()
    for (const account of accounts) {
      const channel = await open()
      channels.set(account, channel)
      await pay(channel, 4_000n, account)
    }
    await run('claimChannels')
    expect(await countSent(scene, care.service)).toBe(1)
    const settlements = await listOf(accounts)
    expect(new Set(settlements.map(({ transaction }) => transaction)).size).toBe(1)
    for (const [account, channel] of channels) {
      expect(await claimedOf(channel)).toBe(3_000n)
      expect(await listSettlements(account)).toMatchObject([
        { state: 'confirmed', details: { rows: [{ channelId: channel.id, total: '3000' }] } },
      ])
    }
  })

  it('that reverts once it was sent leaves the others of its transaction a success', async () => {
    const accounts = [newAccount(), newAccount(), newAccount()]
    const proxy = await scene.openProxy()
    const cut = await openService({ rpcUrls: [proxy.url], environment: quickFinality(scene) })
    const [first, refunded, last] = [await open(), await open(), await open()]
    for (const [index, channel] of [first, refunded, last].entries()) {
      await pay(channel, 4_000n, accounts[index] ?? '', cut)
    }
    const release = proxy.hold('eth_sendRawTransaction')
    const round = run('claimChannels', cut)
    await eventually(() => (proxy.count('eth_sendRawTransaction') > 0 ? true : null))
    const { config } = refunded
    await callSettlement(refunded, config.receiver, 'refund', [config, 97_500n])
    release()
    await round
    expect(await claimedOf(first)).toBe(3_000n)
    expect(await claimedOf(last)).toBe(3_000n)
    expect(await claimedOf(refunded)).toBe(0n)
    await eventually(async () => {
      await scene.chain.control.mine(2)
      await cut.reconcile()
      return (await listOf(accounts)).every(({ state }) => state !== 'pending') ? true : null
    })
    expect((await listOf(accounts)).map(({ state }) => state)).toEqual(['confirmed', 'failed', 'confirmed'])
    // What is left is claimed by another one.
    await run('claimChannels', cut)
    expect(await claimedOf(refunded)).toBe(2_500n)
  })

  it('that was recorded with others and never sent is sent by another instance', async () => {
    const accounts = [newAccount(), newAccount()]
    const proxy = await scene.openProxy()
    const dying = await openService({ rpcUrls: [proxy.url], environment: { SETTLE_WAIT_SECONDS: '2' } })
    const channels = [await open(), await open()]
    for (const [index, channel] of channels.entries()) {
      await pay(channel, 4_000n, accounts[index] ?? '', dying)
    }
    proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    await run('claimChannels', dying)
    const recorded = await listOf(accounts)
    expect(recorded).toMatchObject([{ state: 'pending' }, { state: 'pending' }])
    expect(new Set(recorded.map(({ transaction }) => transaction)).size).toBe(1)
    await eventually(async () => {
      await care.service.reconcile()
      return (await listOf(accounts)).every(({ state }) => state === 'confirmed') ? true : null
    })
    for (const channel of channels) expect(await claimedOf(channel)).toBe(3_000n)
  })

  it('of a payer that can void its vouchers shares no transaction', async () => {
    const accounts = [newAccount(), newAccount()]
    const channels = [await open(), await open({ voucherKey: null })]
    for (const [index, channel] of channels.entries()) {
      await pay(channel, 4_000n, accounts[index] ?? '')
    }
    await run('claimChannels')
    for (const channel of channels) expect(await claimedOf(channel)).toBe(3_000n)
    expect(await countSent(scene, care.service)).toBe(2)
  })

  it('takes no more than a deposit backs that a reorg has taken back', async () => {
    const account = newAccount()
    const planned = planChannel(scene.chain, { authorizer })
    const proxy = await scene.openProxy()
    await care.replaceService({ rpcUrls: [proxy.url] })
    const before = await scene.chain.control.snapshot()
    const deposit = await depositBody(planned, { amount: 50_000n })
    expect(await care.service.settle(deposit, account)).toMatchObject({ success: true })
    await pay(planned, 9_000n, account)
    refuseSends(proxy)
    await scene.chain.control.revert(before)
    for (let round = 0; round < 4; round++) {
      await run('claimChannels')
      care.clock.shift(2 * hourMs)
    }
    const claims = (await listSettlements(account)).filter(({ details }) => details.type === 'claim')
    expect(claims).toEqual([])
    expect(await listEvents(account, 'channel.unclaimable')).toEqual([])
  })

  it('is made once by two instances at the same time', async () => {
    const account = newAccount()
    const other = await openService()
    const channel = await open()
    await pay(channel, 5_000n, account)
    await Promise.all([run('claimChannels'), run('claimChannels', other)])
    expect(await claimedOf(channel)).toBe(4_000n)
    expect((await countSent(scene, care.service)) + (await countSent(scene, other))).toBe(1)
  })

  it('that was recorded and never sent is sent by another instance, and not made a second time', async () => {
    const account = newAccount()
    const proxy = await scene.openProxy()
    const dying = await openService({ rpcUrls: [proxy.url], environment: { SETTLE_WAIT_SECONDS: '2' } })
    const channel = await open()
    await pay(channel, 5_000n, account, dying)
    proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    await run('claimChannels', dying)
    expect(await claimedOf(channel)).toBe(0n)
    // A higher voucher must not start a second claim beside it.
    await pay(channel, 9_000n, account)
    await run('claimChannels')
    expect(await listSettlements(account)).toMatchObject([{ state: 'pending' }])
    await eventually(async () => {
      await care.service.reconcile()
      return (await listSettlements(account))[0]?.state === 'confirmed' ? true : null
    })
    expect(await claimedOf(channel)).toBe(4_000n)
    await run('claimChannels')
    expect(await claimedOf(channel)).toBe(8_000n)
  })

  it('that was sent before a withdrawal is replaced from what is kept for urgent work, once that is near its end', async () => {
    const accounts = [newAccount(), newAccount()] as const
    const proxy = await scene.openProxy()
    const service = await openService({ rpcUrls: [proxy.url], environment: { SETTLE_WAIT_SECONDS: '2' } })
    const channels = [await open(), await open()] as const
    for (const index of [0, 1] as const) await pay(channels[index], 5_000n, accounts[index], service)
    proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    await run('claimChannels', service)
    const readShares = async () => {
      const { rows } = await scene.database.pool().query(
        `select distinct b.urgent_shares from broadcasts b join broadcast_settlements using (network, transaction)
           join settlements s on s.id = settlement_id where s.caller = any($1)`,
        [accounts],
      )
      return rows.map(({ urgent_shares }) => urgent_shares)
    }
    await withdraw(channels[0])
    await run('claimChannels', service)
    expect(await readShares()).toEqual([null])
    care.clock.shift(226_000)
    for (let round = 0; round < 2; round += 1) await run('claimChannels', service)
    expect(await readShares()).toEqual([[{ account: accounts[0], share: 1 }]])
    expect(await listSettlements(accounts[0])).toMatchObject([{ state: 'pending' }])
    // Where the first one has spent its part, the second one pays for the transaction that both wait for.
    await withdraw(channels[1])
    await run('claimChannels', service)
    care.clock.shift(226_000)
    for (let round = 0; round < 2; round += 1) await run('claimChannels', service)
    expect(await readShares()).toEqual([
      [
        { account: accounts[0], share: 1 },
        { account: accounts[1], share: 0 },
      ],
    ])
  })

  it('that a request has sent before is replaced from what is kept for urgent work as well', async () => {
    const account = newAccount()
    const proxy = await scene.openProxy()
    const service = await openService({ rpcUrls: [proxy.url], environment: { SETTLE_WAIT_SECONDS: '2' } })
    const channel = await open()
    await pay(channel, 5_000n, account, service)
    proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    const claim = await claimBody(channel, [await rowOf(channel, 5_000n, 4_000n)])
    expect(await service.settle(claim, account)).toMatchObject({ status: 'pending' })
    await withdraw(channel)
    care.clock.shift(226_000)
    for (let round = 0; round < 2; round += 1) await run('claimChannels', service)
    const { rows } = await scene.database.pool().query(
      `select distinct b.urgent_shares from broadcasts b join broadcast_settlements using (network, transaction)
         join settlements s on s.id = settlement_id where s.caller = $1`,
      [account],
    )
    expect(rows).toEqual([{ urgent_shares: [{ account, share: 1 }] }])
  })

  it('goes on for other channels beside one that cannot be claimed, which is set aside with one event', async () => {
    const account = newAccount()
    const payTo = createEoa().address
    const [good, bad] = [await open({ payTo }), await open({ payTo })]
    await pay(good, 5_000n, account)
    await pay(bad, 9_000n, account)
    // As if its payer's account had made it invalid.
    const { signature } = await rowOf(good, 9_000n)
    await scene.database
      .pool()
      .query('update channel_vouchers set signature = $2 where channel_id = $1', [bad.id, signature])
    for (let round = 0; round < 4; round++) await run('claimChannels')
    expect(await claimedOf(good)).toBe(4_000n)
    expect(await claimedOf(bad)).toBe(0n)
    expect(await listEvents(account, 'channel.unclaimable')).toMatchObject([
      { channelId: bad.id, charged: '8000', errorReason: prefixed('claim_simulation_failed') },
    ])
    await pay(bad, 10_000n, account)
    await run('claimChannels')
    expect(await claimedOf(bad)).toBe(9_000n)
  })
})

describe('a withdrawal', () => {
  it('is notified also where nothing is known to be charged', async () => {
    const account = newAccount()
    const channel = await open()
    await pay(channel, 1_000n, account)
    await run('claimChannels')
    await withdraw(channel)
    care.clock.shift(301_000)
    await run('claimChannels')
    expect(await listEvents(account, 'channel.withdrawal_requested')).toHaveLength(1)
    expect(await countSent(scene, care.service)).toBe(0)
  })

  it('of dust sends nothing', async () => {
    const account = newAccount()
    const channel = await open()
    await pay(channel, 1_010n, account)
    await withdraw(channel)
    await run('claimChannels')
    expect(await countSent(scene, care.service)).toBe(0)
    expect(await listEvents(account, 'channel.unclaimable')).toEqual([])
  })
})

it('notifies of a ceiling near the balance', async () => {
  const account = newAccount()
  const channel = await open({}, 10_000n)
  await pay(channel, 9_000n, account)
  await run('claimChannels')
  await run('claimChannels')
  expect(await listEvents(account, 'channel.near_cap')).toMatchObject([{ ceiling: '9000', balance: '10000' }])
})

describe('a payout without a request', () => {
  const balanceOf = ({ config }: Channel) => scene.chain.balanceOf(config.receiver)

  it('follows once enough was claimed, and is a settlement of the account', async () => {
    const account = newAccount()
    const channel = await open()
    await pay(channel, 5_900n, account)
    await run('claimChannels')
    await run('claimChannels')
    await run('sweepReceivers')
    expect(await balanceOf(channel)).toBe(0n)
    await pay(channel, 8_000n, account)
    await run('claimChannels')
    await run('claimChannels')
    await run('sweepReceivers')
    expect(await balanceOf(channel)).toBe(7_000n)
    care.clock.shift(600_000)
    await run('sweepReceivers')
    const { receiver, token } = channel.config
    expect(await readReceiver(scene.chain, receiver, token)).toMatchObject({ totalSettled: 7_000n })
    const sweeps = (await listSettlements(account)).filter(({ details }) => details.type === 'settle')
    expect(sweeps.map((each) => each.settled_amount ?? each.amount)).toEqual(['7000'])
    const isUnswept = async () => {
      const { rows } = await scene.database.pool().query('select unswept_since from channel_sweeps')
      return rows.some((each) => each.unswept_since !== null)
    }
    // Until it is final, a reorg can take it back.
    expect(await isUnswept()).toBe(true)
    await scene.database.pool().query('update settlements set is_final = true where block_hash is not null')
    await run('sweepReceivers')
    expect(await isUnswept()).toBe(false)
  })

  it('follows after a while, whatever was claimed, and once from two instances', async () => {
    const account = newAccount()
    const other = await openService()
    const channel = await open()
    await pay(channel, 3_500n, account)
    await run('claimChannels')
    await run('claimChannels')
    care.clock.shift(25 * hourMs)
    await Promise.all([run('sweepReceivers'), run('sweepReceivers', other)])
    expect(await balanceOf(channel)).toBe(2_500n)
    expect((await countSent(scene, care.service)) + (await countSent(scene, other))).toBe(2)
  })
})

it('a refund claims what vouchers show to be charged, also where the request claims nothing', async () => {
  const account = newAccount()
  const channel = await open()
  await pay(channel, 5_000n, account)
  const refund = await refundOrder(
    channel,
    { amount: 100_000n },
    { claimAuthorizerSignature: undefined, refundAuthorizerSignature: undefined },
  )
  expect(await care.service.settle(refund, account)).toMatchObject({ success: true, amount: '96000' })
  expect(await readChannel(scene.chain, channel.config)).toMatchObject({
    balance: 4_000n,
    totalClaimed: 4_000n,
  })
})

it('channels are listed and shown to their own account alone', async () => {
  const [account, other] = [newAccount(), newAccount()]
  const { listChannels, getChannel } = care.service.core.useCases.channels
  const [first, second] = [await open(), await open()]
  await pay(first, 3_000n, account)
  care.clock.shift(1_000)
  await pay(second, 3_000n, account)
  await run('claimChannels')
  const page = await listChannels(account, { limit: 1 })
  expect(page.channels).toMatchObject([{ channelId: second.id, ceiling: '3000', claimable: '2000' }])
  const rest = await listChannels(account, { limit: 1, cursor: page.nextCursor })
  expect(rest).toMatchObject({ channels: [{ channelId: first.id }] })
  expect(rest).not.toHaveProperty('nextCursor')
  expect(await listChannels(other, { limit: 10, cursor: page.nextCursor })).toEqual({ channels: [] })
  const name = { network: scene.chain.network, channelId: first.id }
  expect(await getChannel(account, name)).toMatchObject({ channelId: first.id, boundAt: expect.any(String) })
  await expect(getChannel(other, name)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(getChannel(account, { ...name, network: 'eip155:1' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  })
})

it('a round that no node answers claims nothing, and the next one goes on with the same channels', async () => {
  const account = newAccount()
  const proxy = await scene.openProxy()
  const cut = await openService({ rpcUrls: [proxy.url] })
  const channel = await open()
  await pay(channel, 5_000n, account, cut)
  proxy.setFault('eth_call', { kind: 'refuse' })
  await run('claimChannels', cut)
  expect(await claimedOf(channel)).toBe(0n)
  proxy.clearFaults()
  await run('claimChannels', cut)
  expect(await claimedOf(channel)).toBe(4_000n)
})

it('rival claims of one account: a claim that its server has made is not made again', async () => {
  const account = newAccount()
  const channel = await open()
  await pay(channel, 5_000n, account)
  const own = await claimBody(channel, [await rowOf(channel, 5_000n)], {
    claimAuthorizerSignature: undefined,
  })
  expect(await care.service.settle(own, account)).toMatchObject({ success: true })
  await run('claimChannels')
  expect(await claimedOf(channel)).toBe(5_000n)
  expect(await countSent(scene, care.service)).toBe(1)
})

// The last one: the chain's time has moved on afterwards.
it('a withdrawal is claimed against before it can be executed, whatever the wait, and notified once', async () => {
  const account = newAccount()
  const channel = await open()
  await pay(channel, 1_500n, account)
  await withdraw(channel, 100_000n)
  await run('claimChannels')
  expect(await claimedOf(channel)).toBe(500n)
  await run('claimChannels')
  expect(await listEvents(account, 'channel.withdrawal_requested')).toMatchObject([
    { channelId: channel.id, withdrawal: '100000', charged: '500', balance: '100000' },
  ])
  await scene.chain.control.increaseTime(1_000)
  await scene.chain.control.mine()
  await callSettlement(channel, channel.config.payer, 'finalizeWithdraw', [channel.config])
  expect(await readChannel(scene.chain, channel.config)).toMatchObject({
    balance: 500n,
    totalClaimed: 500n,
  })
})
