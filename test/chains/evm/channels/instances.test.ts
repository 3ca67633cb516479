import { describe, expect, it } from 'vitest'
import { reconcileUntil } from '../../../support/coreClient.js'
import { readChannel } from '../../../support/evm/channels.js'
import { useScene } from '../../../support/useScene.js'
import { openScene } from '../scene.js'
import { countSent } from '../strangers.js'
import {
  type Channel,
  type ChannelBody,
  callSettlement,
  claimBody,
  depositBody,
  openChannelOnChain,
  refundOrder,
  rowOf,
  sweepBody,
} from './channelScene.js'

/* Several instances on one database, and one that dies before it sends. */

const scene = useScene(() => openScene({ hasBatchSettlement: true }))

const makers: Readonly<Record<string, (channel: Channel) => Promise<ChannelBody>>> = {
  deposit: (channel) => depositBody(channel, { ceiling: 3_000n }),
  'deposit by Permit2': (channel) => depositBody(channel, { method: 'permit2', ceiling: 3_000n }),
  claim: async (channel) => claimBody(channel, [await rowOf(channel, 3_000n)]),
  sweep: async (channel) => sweepBody(channel),
  refund: (channel) => refundOrder(channel, { charged: 2_000n, amount: 1_000n }),
}

/** One of which 1,000 are claimed. */
const openChannel = async (): Promise<Channel> => {
  const channel = await openChannelOnChain(scene.chain)
  await callSettlement(channel, channel.config.receiver, 'claim', [[await rowOf(channel, 1_000n)]])
  return channel
}

const readState = async (channel: Channel) => ({
  ...(await readChannel(scene.chain, channel.config)),
  receiver: await scene.chain.balanceOf(channel.config.receiver),
  payer: await scene.chain.balanceOf(channel.config.payer),
})

const after = {
  deposit: { balance: 20_000n, totalClaimed: 1_000n, receiver: 0n, payer: 0n },
  'deposit by Permit2': { balance: 20_000n, totalClaimed: 1_000n, receiver: 0n, payer: 0n },
  claim: { balance: 10_000n, totalClaimed: 3_000n, receiver: 0n, payer: 0n },
  sweep: { balance: 10_000n, totalClaimed: 1_000n, receiver: 1_000n, payer: 0n },
  refund: { balance: 9_000n, totalClaimed: 2_000n, receiver: 0n, payer: 1_000n },
}

describe.each(Object.entries(makers))('a %s', (kind, make) => {
  const expected = Object(Reflect.get(after, kind))

  it('that two instances are asked for at once is made once', async () => {
    const [first, second] = [await scene.open(), await scene.open()]
    const channel = await openChannel()
    const body = await make(channel)
    const answers = await Promise.all([first.settle(body, 'ada'), second.settle(body, 'bob')])
    const successes = answers.filter(({ success }) => success)
    if (kind.startsWith('deposit')) {
      expect(successes).toHaveLength(1)
      expect(answers.find(({ success }) => !success)).toMatchObject({ errorReason: 'duplicate_settlement' })
    } else {
      expect(successes).toHaveLength(2)
      expect(answers[0]?.transaction).toBe(answers[1]?.transaction)
    }
    expect((await countSent(scene, first)) + (await countSent(scene, second))).toBe(1)
    expect(await readState(channel)).toMatchObject(expected)

    const [{ settlementId = '' } = {}] = successes
    const maximum = kind.startsWith('deposit') ? '10000' : undefined
    const view = await first.core.useCases.core.getSettlement(settlementId)
    expect(view.maxAmount).toBe(maximum)
    const { rows } = await scene.database
      .pool()
      .query('select data from webhook_deliveries where settlement_id = $1', [settlementId])
    expect(rows.map(({ data }) => data.maxAmount)).toEqual([maximum])
  })

  it('that an instance recorded and never sent is sent by another, from the row alone', async () => {
    const proxy = await scene.openProxy()
    const dying = await scene.open({ rpcUrls: [proxy.url], environment: { SETTLE_WAIT_SECONDS: '2' } })
    const channel = await openChannel()
    const body = await make(channel)
    const before = await readState(channel)
    proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    const { settlementId = '', errorReason } = await dying.settle(body)
    expect(errorReason).toBe('settlement_pending')
    expect(await readState(channel)).toEqual(before)
    const other = await scene.open()
    await reconcileUntil(other, { settlementId }, 'confirmed')
    expect(await readState(channel)).toMatchObject(expected)
    const { rows } = await scene.database
      .pool()
      .query('select authorized_amount, amount, settled_amount from settlements where id = $1', [
        settlementId,
      ])
    const [row] = rows
    // Money counts when it reaches the receiver.
    expect(BigInt(row.settled_amount ?? row.amount)).toBe(kind === 'sweep' ? 1_000n : 0n)
  })
})
