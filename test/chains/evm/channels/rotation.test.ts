import { getAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import { newestTransaction } from '../../../../src/stores/postgres/journal/settlementStates.js'
import { randomAddress } from '../../../support/evm/authorization.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { createMemoryLogger } from '../../../support/memoryLogger.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { countSent } from '../strangers.js'
import { claimedOf, newAccount, useCare, withdraw } from './careScene.js'
import type { Channel } from './channelScene.js'

/* A new key of the receiver authorizer while vouchers of channels that name the old one are kept. */

const care = useCare()
const { scene, authorizer, openService, open, pay, run } = care

const next = createEoa()
const hourMs = 3_600_000
const withKeys = (...keys: readonly { readonly privateKey: string }[]) => ({
  environment: { EVM_CHANNEL_AUTHORIZER_KEY: keys.map(({ privateKey }) => privateKey).join() },
})

const listClaims = async (account: string) =>
  (
    await scene.database
      .pool()
      .query(
        `select state, ${newestTransaction('s')} as transaction from settlements s where caller = $1 and details ->> 'type' = 'claim' order by created_at`,
        [account],
      )
  ).rows

describe('channels of one receiver that name the old and the new key', () => {
  it('are claimed by one claim for each key, whatever the order of what they owe', async () => {
    const [account, receiver] = [newAccount(), getAddress(randomAddress())]
    const both = await openService(withKeys(next, authorizer))
    const channels: Channel[] = []
    for (const [index, key] of [authorizer, next, authorizer, next].entries()) {
      const channel = await open({ authorizer: key, payTo: receiver })
      await pay(channel, 9_000n - BigInt(index), account, both)
      channels.push(channel)
    }
    await run('claimChannels', both)
    expect(await Promise.all(channels.map(claimedOf))).toEqual([8_000n, 7_999n, 7_998n, 7_997n])
    expect(await listClaims(account)).toHaveLength(2)
    expect(await countSent(scene, both)).toBeLessThanOrEqual(2)
  })
})

describe('a process that has the new key alone', () => {
  it('resolves a claim that was open, and leaves what it cannot sign to one that has both', async () => {
    const proxy = await scene.openProxy()
    const earlier = await openService({
      rpcUrls: [proxy.url],
      environment: { SETTLE_WAIT_SECONDS: '3' },
    })
    const account = newAccount()
    const channel = await open()
    await pay(channel, 5_000n, account, earlier)
    // It is recorded, and never sent.
    proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    await run('claimChannels', earlier)
    const [recorded] = await listClaims(account)
    expect(recorded).toMatchObject({ state: 'pending', transaction: expect.any(String) })
    await pay(channel, 50_000n, account, earlier)
    const { signers } = earlier
    await scene.database.pool().query("update instances set seen_at = now() - interval '11 seconds'")
    const rotated = await openService({ signers, ...withKeys(next) })
    const newer = await open({ authorizer: next })
    await pay(newer, 5_000n, account, rotated)
    await pollUntil(
      async () => {
        await rotated.reconcile()
        return (await listClaims(account))[0]?.state === 'confirmed'
      },
      'the open claim to be resolved',
      () => listClaims(account),
    )
    expect(await claimedOf(channel)).toBe(4_000n)
    const sent = await countSent(scene, rotated)
    for (let round = 0; round < 5; round += 1) await run('claimChannels', rotated)
    expect(await claimedOf(channel)).toBe(4_000n)
    expect(await claimedOf(newer)).toBe(4_000n)
    expect(await countSent(scene, rotated)).toBe(sent + 1)
    const { rows } = await scene.database
      .pool()
      .query('select unclaimable from channel_vouchers where channel_id = $1', [channel.id])
    expect(rows).toEqual([{ unclaimable: null }])
    const both = await openService({ signers, ...withKeys(next, authorizer) })
    await run('claimChannels', both)
    expect(await claimedOf(channel)).toBe(49_000n)
  })
})

describe('a process that looks for the keys that kept vouchers name', () => {
  it.each([
    ['a new key alone', withKeys(next)],
    ['no key', { environment: { EVM_CHANNEL_AUTHORIZER_KEY: '' } }],
  ])(
    'says at the start and once an hour that it claims none of these vouchers where it has %s',
    async (_what, options) => {
      const account = newAccount()
      const [owing, withdrawn, paid] = [await open(), await open(), await open()]
      await pay(owing, 5_000n, account)
      await pay(withdrawn, 3_000n, account)
      // Nothing is charged.
      await pay(paid, 1_000n, account)
      await withdraw(withdrawn)
      const proxy = await scene.openProxy()
      const seeing = await openService({ rpcUrls: [proxy.url] })
      // What each channel holds is stored before a claim fails.
      proxy.setFault('eth_estimateGas', { kind: 'refuse' })
      await run('claimChannels', seeing)
      const logger = createMemoryLogger()
      const service = await openService({ ...options, logger })
      const listWarnings = () => logger.lines.filter(({ message }) => message === 'channel.key_missing')
      for (let round = 0; round < 3; round += 1) await run('measureChannels', service)
      expect(listWarnings()).toEqual([
        {
          level: 'warn',
          message: 'channel.key_missing',
          fields: {
            job: 'measureChannels',
            network: scene.chain.network,
            receiverAuthorizer: authorizer.address.toLowerCase(),
            asset: owing.config.token,
            channels: 2,
            amount: '6000',
            withdrawing: '2000',
            hint: expect.stringContaining('EVM_CHANNEL_AUTHORIZER_KEY'),
          },
        },
      ])
      care.clock.shift(hourMs)
      await run('measureChannels', service)
      expect(listWarnings()).toHaveLength(2)
    },
  )

  it('says nothing where it has the key behind another', async () => {
    const [account, channel, logger] = [newAccount(), await open(), createMemoryLogger()]
    await pay(channel, 5_000n, account)
    const both = await openService({ ...withKeys(next, authorizer), logger })
    await run('claimChannels', both)
    await run('measureChannels', both)
    expect(logger.messages()).not.toContain('channel.key_missing')
  })
})
