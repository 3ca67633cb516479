import { describe, expect, it } from 'vitest'
import { claimedOf, newAccount, useCare, withdraw } from './careScene.js'
import { openChannelOnChain } from './channelScene.js'

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
