import { describe, expect, it } from 'vitest'
import { newestTransaction } from '../../../../src/stores/postgres/journal/settlementStates.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { countSent } from '../strangers.js'
import { claimedOf, newAccount, payBy, runJob, useCare } from './careScene.js'
import { type Channel, openChannelOnChain } from './channelScene.js'

/* What one receiver or one dead process costs the others whose claims share its transaction. */

const care = useCare()
const { scene, authorizer, openService } = care

/** Channels of an account and a receiver each, in which 9,000 are charged for sure. */
const openPaid = async (count: number, by = care.service) => {
  const accounts = Array.from({ length: count }, newAccount)
  const channels: Channel[] = []
  for (const account of accounts) {
    const channel = await openChannelOnChain(scene.chain, { authorizer }, 100_000n)
    await payBy(by, channel, 10_000n, account)
    channels.push(channel)
  }
  return { accounts, channels }
}

const listSettlements = async (accounts: readonly string[], type: string) => {
  const { rows } = await scene.database.pool().query(
    `select caller, state, ${newestTransaction('s')} as transaction from settlements s where caller = any($1) and details ->> 'type' = $2
       order by array_position($1, caller), created_at`,
    [accounts, type],
  )
  return rows
}

const claimTwice = async (by = care.service) => {
  await runJob(by, 'claimChannels')
  // What was claimed is seen by the next round.
  await runJob(by, 'claimChannels')
}

describe('a receiver that the token blocks', () => {
  it('keeps no claim of its own or of others from their shared transaction, and no payout of others', async () => {
    const { accounts, channels } = await openPaid(3)
    const [first, blocked, last] = channels.map(({ config }) => config.receiver)
    if (first === undefined || blocked === undefined || last === undefined) throw new Error('There are three')
    await scene.chain.setBlacklisted(blocked, true)
    await claimTwice()
    expect(await Promise.all(channels.map(claimedOf))).toEqual([9_000n, 9_000n, 9_000n])
    expect(await countSent(scene, care.service)).toBe(1)
    const sweep = async (expected: readonly bigint[]) => {
      await runJob(care.service, 'sweepReceivers')
      const balances = await Promise.all([first, blocked, last].map(scene.chain.balanceOf))
      expect(balances).toEqual(expected)
    }
    await sweep([9_000n, 0n, 9_000n])
    const sent = await countSent(scene, care.service)
    // It is tried again, and costs nothing while it is blocked.
    await sweep([9_000n, 0n, 9_000n])
    expect(await countSent(scene, care.service)).toBe(sent)
    await scene.chain.setBlacklisted(blocked, false)
    await sweep([9_000n, 9_000n, 9_000n])
    const payouts = await listSettlements(accounts, 'settle')
    expect(payouts.filter(({ state }) => state === 'confirmed').map(({ caller }) => caller)).toEqual(accounts)
  })

  it('shows in the log of the operator, who can do something about it', async () => {
    const lines: { readonly event: string; readonly fields: object }[] = []
    const note = (fields: object, event: string) => void lines.push({ event, fields })
    const logger = { debug: note, info: note, warn: note, error: note, fatal: note }
    const logged = await openService({ logger })
    const { channels } = await openPaid(2, logged)
    const [blocked, other] = channels.map(({ config }) => config.receiver)
    if (blocked === undefined || other === undefined) throw new Error('There are two')
    await scene.chain.setBlacklisted(blocked, true)
    await claimTwice(logged)
    await runJob(logged, 'sweepReceivers')
    expect(await scene.chain.balanceOf(other)).toBe(9_000n)
    expect(lines).toContainEqual({
      event: 'channel.sweep_failed',
      fields: expect.objectContaining({ network: scene.chain.network, receiver: expect.any(String) }),
    })
    await scene.chain.setBlacklisted(blocked, false)
  })
})

describe('a process that ends after it sent a shared claim', () => {
  it.each(['before', 'after'] as const)(
    'leaves each row to the chain, %s the claim is mined: once, and by one transaction',
    async (mined) => {
      const proxy = await scene.openProxy()
      const dying = await openService({ rpcUrls: [proxy.url], environment: { SETTLE_WAIT_SECONDS: '3' } })
      const { accounts, channels } = await openPaid(3, dying)
      if (mined === 'before') await scene.chain.control.setAutomine(false)
      // Its answer is lost, and from then on no node answers this process: it knows no more than one that was killed.
      proxy.setFault('eth_sendRawTransaction', { kind: 'loseAnswer' })
      proxy.setFault('eth_getTransactionReceipt', { kind: 'refuse' })
      await runJob(dying, 'claimChannels')
      proxy.setFault('*', { kind: 'refuse' })
      const recorded = await listSettlements(accounts, 'claim')
      expect(recorded.map(({ state }) => state)).toEqual(['pending', 'pending', 'pending'])
      expect(new Set(recorded.map(({ transaction }) => transaction)).size).toBe(1)
      care.clock.shift(600_000)
      const { signers } = dying
      const heir = await openService({ signers })
      await runJob(heir, 'claimChannels')
      await scene.chain.control.setAutomine(true)
      await pollUntil(
        async () => {
          await scene.chain.control.mine()
          await heir.reconcile()
          return (await listSettlements(accounts, 'claim')).every(({ state }) => state === 'confirmed')
        },
        'each row to be resolved',
        () => listSettlements(accounts, 'claim'),
      )
      expect(await Promise.all(channels.map(claimedOf))).toEqual([9_000n, 9_000n, 9_000n])
      await claimTwice(heir)
      expect(await listSettlements(accounts, 'claim')).toHaveLength(3)
      expect(await countSent(scene, heir)).toBe(1)
    },
  )
})
