import { describe, expect, it } from 'vitest'
import { createEoa } from '../../../support/evm/wallets.js'
import { eventually } from '../scene.js'
import { claimedOf, newAccount, useCare, withdraw } from './careScene.js'
import { callSettlement, openChannelOnChain } from './channelScene.js'

/* Withdrawals that payers announce, found in the log of the chain however many channels there are. */

const care = useCare()
const { scene, openService, open, pay, run } = care

const listWithdrawn = async (account: string): Promise<readonly string[]> => {
  const { rows } = await scene.database
    .pool()
    .query('select channel_id from channel_vouchers where account_id = $1 and withdraw_requested_at > 0', [
      account,
    ])
  return rows.map(({ channel_id }) => channel_id)
}

const readCursor = async (): Promise<bigint> => {
  const { rows } = await scene.database
    .pool()
    .query('select next_block::text as next from channel_watches where network = $1', [scene.chain.network])
  return BigInt(rows[0]?.next ?? 0)
}

describe('an announced withdrawal', () => {
  it('is seen in the next round where the channel itself is not due to be looked at', async () => {
    const account = newAccount()
    const [channel, quiet] = [await open(), await open()]
    // Nothing is charged yet, so that both are looked at every five minutes.
    await pay(channel, 1_000n, account)
    await pay(quiet, 1_000n, account)
    await run('claimChannels')
    const stranger = await openChannelOnChain(scene.chain)
    await withdraw(stranger)
    await withdraw(channel)
    await run('claimChannels')
    expect(await listWithdrawn(account)).toEqual([channel.id])
    expect(await readCursor()).toBe((await scene.chain.client.getBlockNumber({ cacheTime: 0 })) + 1n)
  })

  it('is claimed against in the round that sees it', async () => {
    const account = newAccount()
    const channel = await open()
    await pay(channel, 2_000n, account)
    await run('claimChannels')
    expect(await claimedOf(channel)).toBe(0n)
    await withdraw(channel)
    await run('claimChannels')
    expect(await claimedOf(channel)).toBe(1_000n)
  })

  it('is found through nodes that answer for few blocks at once', async () => {
    const proxy = await scene.openProxy()
    const service = await openService({ rpcUrls: [proxy.url] })
    const account = newAccount()
    const channel = await open()
    await pay(channel, 1_000n, account, service)
    await run('claimChannels', service)
    await withdraw(channel)
    for (let block = 0; block < 30; block += 1) await scene.chain.control.mine()
    proxy.setFault('eth_getLogs', {
      kind: 'errorFor',
      findError: ([filter]) => {
        const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string }
        return Number(toBlock) - Number(fromBlock) > 10 ? 'query exceeds max block range' : null
      },
    })
    await run('claimChannels', service)
    expect(await listWithdrawn(account)).toEqual([channel.id])
  })

  it('is seen as each channel is looked at where nodes answer no query of logs', async () => {
    const proxy = await scene.openProxy()
    const service = await openService({ rpcUrls: [proxy.url] })
    const account = newAccount()
    const channel = await open()
    await pay(channel, 2_000n, account, service)
    await run('claimChannels', service)
    proxy.setFault('eth_getLogs', { kind: 'error', code: -32601, message: 'the method is not available' })
    await withdraw(channel)
    await run('claimChannels', service)
    expect(await claimedOf(channel)).toBe(1_000n)
  })

  it('is not looked for in each round where a gateway refuses queries of logs, which fails the endpoint', async () => {
    const proxy = await scene.openProxy()
    const service = await openService({ rpcUrls: [proxy.url] })
    const [account, channel] = [newAccount(), await open()]
    await pay(channel, 1_000n, account, service)
    proxy.setFault('eth_getLogs', { kind: 'status', status: 403 })
    for (let round = 1; round <= 6; round += 1) await run('claimChannels', service)
    expect(proxy.count('eth_getLogs')).toBeLessThan(4)
    await pay(channel, 2_000n, account, service)
    await withdraw(channel)
    await run('claimChannels', service)
    expect(await claimedOf(channel)).toBe(1_000n)
  })

  it('is looked for by one query a round, and only on networks that have a channel to look at', async () => {
    const proxy = await scene.openProxy()
    const service = await openService({ rpcUrls: [proxy.url] })
    proxy.clearCalls()
    await run('claimChannels', service)
    expect(proxy.count('eth_getLogs')).toBe(0)
    await pay(await open(), 1_000n, newAccount(), service)
    for (let round = 1; round <= 3; round += 1) {
      await run('claimChannels', service)
      expect(proxy.count('eth_getLogs')).toBe(round)
      await scene.chain.control.mine()
    }
  })
})

// The last one: the chain's time has moved on afterwards.
describe('a withdrawal that its payer can execute at any time', () => {
  it('has no claim of another channel revert beside its own', async () => {
    const account = newAccount()
    const proxy = await scene.openProxy()
    const payTo = createEoa().address
    const [late, other] = [await open({ payTo }, 10_000n), await open({ payTo })]
    await pay(late, 9_000n, account)
    await pay(other, 4_000n, account)
    const { config } = late
    await withdraw(late, 10_000n)
    // No instance has run meanwhile.
    await scene.chain.control.increaseTime(config.withdrawDelay + 1)
    await scene.chain.control.mine()
    care.clock.shift((config.withdrawDelay + 1) * 1_000)
    await withdraw(other)
    // That a transaction has failed is proven blocks later, and its rows are not claimed again before.
    const depth = { [`EVM_FINALITY_DEPTH_${scene.chain.chainId}`]: '20', SETTLE_WAIT_SECONDS: '3' }
    await care.replaceService({ rpcUrls: [proxy.url], environment: depth })
    const release = proxy.hold('eth_sendRawTransaction')
    const round = run('claimChannels')
    await eventually(() => (proxy.count('eth_sendRawTransaction') > 0 ? true : null))
    await callSettlement(late, config.payer, 'finalizeWithdraw', [config])
    release()
    await round
    await eventually(async () => ((await claimedOf(other)) === 3_000n ? true : null))
    expect(await claimedOf(late)).toBe(0n)
  })
})
