import { decodeFunctionData, type Hex, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { newestTransaction } from '../../../../src/stores/postgres/journal/settlementStates.js'
import { batchSettlementAbi, readChannel, readReceiver } from '../../../support/evm/channels.js'
import { callContract } from '../../../support/evm/contractCalls.js'
import {
  createEoa,
  createMoodyWallet,
  createSoladyWallet,
  deployWallet,
  moods,
} from '../../../support/evm/wallets.js'
import { eventually, quickFinality, refuseSends } from '../scene.js'
import { countSent } from '../strangers.js'
import { claimedOf, newAccount, useCare, withdraw } from './careScene.js'
import {
  type Channel,
  type ChannelPlan,
  callSettlement,
  claimBody,
  depositBody,
  depositOnChain,
  planChannel,
  prefixed,
  refundOrder,
  rowOf,
  voucherBody,
  withRequirements,
} from './channelScene.js'

/* What payers and rivals try where this facilitator signs for a receiver, and claims without a request. */

const care = useCare()
const { scene, authorizer, open, pay, run } = care

const unsigned = { claimAuthorizerSignature: undefined, refundAuthorizerSignature: undefined }

const moodyAbi = parseAbi(['function setMood(uint8 next)'])

const setMood = async ({ wallet: { address } }: Channel, mood: (typeof moods)[number]): Promise<void> => {
  const args = [moods.indexOf(mood)]
  const call = { from: address, to: address, abi: moodyAbi, functionName: 'setMood', args } as const
  expect(await callContract(scene.chain, call)).toMatchObject({ error: null })
}

/** Of a contract wallet that changes how it checks signatures once it has deposited. */
const openWallet = async (
  mood: (typeof moods)[number],
  changes: ChannelPlan = {},
  amount?: bigint,
): Promise<Channel> => {
  const wallet = await deployWallet(scene.chain, await createMoodyWallet(scene.chain, 'acceptsAll'))
  const channel = await open({ wallet, voucherKey: null, ...changes }, amount)
  await setMood(channel, mood)
  return channel
}

/** What the calldata of a refund shows to everyone who sees the transaction. */
const readSignedRefund = (data: Hex): readonly unknown[] => {
  const outer = decodeFunctionData({ abi: batchSettlementAbi, data })
  const calls = outer.functionName === 'multicall' ? (outer.args[0] as readonly Hex[]) : [data]
  const last = calls.at(-1) ?? data
  return decodeFunctionData({ abi: batchSettlementAbi, data: last }).args ?? []
}

describe('a refund that is signed here', () => {
  it('returns no more where its payer submits it without the claim that precedes it', async () => {
    const account = newAccount()
    const proxy = await scene.openProxy()
    await care.replaceService({ rpcUrls: [proxy.url] })
    const channel = await open()
    await pay(channel, 5_000n, account)
    const before = await scene.chain.control.snapshot()
    const answer = await care.service.settle(
      await refundOrder(channel, { amount: 100_000n }, unsigned),
      account,
    )
    expect(answer).toMatchObject({ success: true, amount: '96000' })
    const { transaction } = answer as { readonly transaction: Hex }
    const { input } = await scene.chain.client.getTransaction({ hash: transaction })
    refuseSends(proxy)
    await scene.chain.control.revert(before)
    await callSettlement(channel, channel.config.payer, 'refundWithSignature', readSignedRefund(input))
    expect((await readChannel(scene.chain, channel.config)).balance).toBe(4_000n)
  })

  it('takes nothing that a voucher was accepted for after a reorg, which made two of them valid again', async () => {
    const account = newAccount()
    const proxy = await scene.openProxy()
    await care.replaceService({ rpcUrls: [proxy.url] })
    const channel = await open()
    const verify = async (ceiling: bigint) =>
      await care.service.verify(await voucherBody(channel, ceiling), account)
    expect(await verify(1_000n)).toMatchObject({ isValid: true })
    const before = await scene.chain.control.snapshot()
    const submissions: (() => Promise<void>)[] = []
    for (const [nonce, amount] of [30_000n, 1_000n].entries()) {
      const order = await refundOrder(channel, { amount, nonce: BigInt(nonce) }, unsigned)
      const answer = await care.service.settle(order, account)
      expect(answer).toMatchObject({ success: true, amount: `${amount}` })
      const { transaction } = answer as { readonly transaction: Hex }
      const { input } = await scene.chain.client.getTransaction({ hash: transaction })
      submissions.push(() =>
        callSettlement(channel, channel.config.payer, 'refundWithSignature', readSignedRefund(input)),
      )
    }
    refuseSends(proxy)
    await scene.chain.control.revert(before)
    const exceeded = { isValid: false, invalidReason: prefixed('cumulative_exceeds_balance') }
    expect(await verify(99_000n)).toMatchObject(exceeded)
    const deposit = { amount: 2_000n, ceiling: 100_000n, method: 'permit2' } as const
    expect(await care.service.verify(await depositBody(channel, deposit), account)).toMatchObject(exceeded)
    for (const submit of submissions) await submit()
    expect(await verify(69_001n)).toMatchObject(exceeded)
    expect(await verify(69_000n)).toMatchObject({ isValid: true })
  })
})

describe('what vouchers show to be charged', () => {
  it('is not raised by a deposit that is settled for less than its client was asked for', async () => {
    const account = newAccount()
    const channel = planChannel(scene.chain, { authorizer, price: 10_000n })
    const deposit = await depositBody(channel, { amount: 100_000n })
    expect(await care.service.verify(deposit, account)).toMatchObject({ isValid: true })
    // As the published server does where the resource overrides the amount.
    const charged = withRequirements(deposit, { amount: '300' })
    expect(await care.service.settle(charged, account)).toMatchObject({ success: true })
    await withdraw(channel, 50_000n)
    for (let round = 0; round < 2; round++) await run('claimChannels')
    expect(await claimedOf(channel)).toBeLessThanOrEqual(300n)
  })
})

describe('a deposit that the wallet of its payer did not sign', () => {
  it('binds no channel of the payer', async () => {
    const account = newAccount()
    const wallet = await deployWallet(scene.chain, await createSoladyWallet(scene.chain))
    const { signTypedData } = createEoa()
    const channel = planChannel(scene.chain, { authorizer, wallet: { ...wallet, signTypedData } })
    expect(await care.service.verify(await depositBody(channel), account)).toMatchObject({ isValid: false })
    const { rowCount } = await scene.database
      .pool()
      .query('select from channel_custody where account = $1', [account])
    expect(rowCount).toBe(0)
  })
})

describe('a claim without a request', () => {
  it.each(['burnsGas', 'acceptsInSimulation', 'returnsMuch'] as const)(
    'takes the vouchers of others beside a wallet that %s',
    async (mood) => {
      const account = newAccount()
      const payTo = createEoa().address
      const good = await open({ payTo })
      const bad = await openWallet(mood, { payTo })
      await pay(good, 5_000n, account)
      await pay(bad, 9_000n, account)
      await run('claimChannels')
      expect(await claimedOf(good)).toBe(4_000n)
    },
  )

  it('pays no gas again for a wallet that refuses its voucher once the claim is sent', async () => {
    const account = newAccount()
    const proxy = await scene.openProxy()
    await care.replaceService({ rpcUrls: [proxy.url], environment: quickFinality(scene) })
    const bad = await openWallet('acceptsAll')
    for (const ceiling of [9_000n, 10_000n, 11_000n]) {
      await pay(bad, ceiling, account)
      const before = proxy.count('eth_sendRawTransaction')
      const release = proxy.hold('eth_sendRawTransaction')
      let isOver = false
      const round = run('claimChannels').finally(() => {
        isOver = true
      })
      await eventually(() => (isOver || proxy.count('eth_sendRawTransaction') > before ? true : null))
      await setMood(bad, 'refusesAll')
      release()
      await round
      await setMood(bad, 'acceptsAll')
      await eventually(async () => {
        await care.service.reconcile()
        const { rowCount } = await scene.database
          .pool()
          .query(`select from settlements where caller = $1 and state in ('claimed', 'pending')`, [account])
        return rowCount === 0 ? true : null
      })
    }
    expect(await countSent(scene, care.service)).toBe(1)
    const { rows } = await scene.database
      .pool()
      .query(`select type from webhook_deliveries where account_id = $1 and type like 'channel.%'`, [account])
    expect(rows).toContainEqual({ type: 'channel.unclaimable' })
  })

  it('against a withdrawal takes no dust along', async () => {
    const account = newAccount()
    const payTo = createEoa().address
    const channel = await open({ payTo })
    const dust = [await open({ payTo }), await open({ payTo }), await open({ payTo })]
    await pay(channel, 3_000n, account)
    await withdraw(channel, 100_000n)
    for (const each of dust) {
      await pay(each, 1_001n, account)
      await withdraw(each, 1_000n)
    }
    await run('claimChannels')
    expect(await claimedOf(channel)).toBe(2_000n)
    for (const each of dust) expect(await claimedOf(each)).toBe(0n)
  })

  it('comes before a withdrawal also where a reorg has taken the deposit back for a while', async () => {
    const account = newAccount()
    const empty = await scene.chain.control.snapshot()
    const channel = planChannel(scene.chain, { authorizer })
    await depositOnChain(channel, 100_000n)
    await pay(channel, 50_000n, account)
    await scene.chain.control.revert(empty)
    await run('claimChannels')
    await depositOnChain(channel, 100_000n)
    await withdraw(channel, 100_000n)
    care.clock.shift(450_000)
    await run('claimChannels')
    expect(await claimedOf(channel)).toBe(49_000n)
  })

  it('against a withdrawal waits for none that a reorg has made impossible, with the deposit of another row', async () => {
    const account = newAccount()
    const { control } = scene.chain
    await care.replaceService({ environment: { [`EVM_FINALITY_DEPTH_${scene.chain.chainId}`]: '20' } })
    const payTo = createEoa().address
    const kept = await open({ payTo })
    const before = await control.snapshot()
    const gone = await open({ payTo })
    for (const channel of [kept, gone]) await pay(channel, 4_000n, account)
    await run('claimChannels')
    for (const channel of [kept, gone]) expect(await claimedOf(channel)).toBe(3_000n)
    await control.revert(before)
    await control.mine(3)
    const { core } = care.service
    await core.detectReorgs()
    await core.detectReorgs()
    const findState = async () => {
      const { rows } = await scene.database
        .pool()
        .query('select state from settlements where caller = $1', [account])
      return rows
    }
    expect(await findState()).toEqual([{ state: 'pending' }])
    await care.service.reconcile()
    await care.service.reconcile()
    expect(await findState()).toEqual([{ state: 'pending' }])
    await withdraw(kept, 90_000n)
    care.clock.shift(450_000)
    await run('claimChannels')
    expect(await claimedOf(kept)).toBe(3_000n)
  })

  it('of many rows is sent again after a reorg also where it had shared its transaction', async () => {
    const [account, neighbour] = [newAccount(), newAccount()]
    const { control } = scene.chain
    const environment = {
      [`EVM_FINALITY_DEPTH_${scene.chain.chainId}`]: '20',
    }
    await care.replaceService({ environment })
    const payTo = createEoa().address
    const channels = [await open()]
    for (let count = 0; count < 55; count += 1) channels.push(await open({ payTo }))
    const before = await control.snapshot()
    const late = await open({ payTo })
    channels.push(late)
    for (const [index, channel] of channels.entries()) {
      await pay(channel, 4_000n, index === 0 ? neighbour : account)
    }
    await run('claimChannels')
    expect(await countSent(scene, care.service)).toBe(1)
    await control.revert(before)
    await control.mine(3)
    const { core } = care.service
    await core.detectReorgs()
    await core.detectReorgs()
    await care.service.reconcile()
    await care.service.reconcile()
    expect(await claimedOf(late)).toBe(0n)
    await depositOnChain(late, 100_000n)
    await eventually(async () => {
      await care.service.reconcile()
      const claimed = await Promise.all(channels.map(claimedOf))
      return claimed.every((total) => total === 3_000n) || null
    })
  })

  it('against a withdrawal is tried again for a voucher that was set aside', async () => {
    const account = newAccount()
    const channel = await open()
    await pay(channel, 5_000n, account)
    // As if a node had been behind for three rounds.
    await scene.database.pool().query('update channel_vouchers set refusals = 3, unclaimable = ceiling')
    await run('claimChannels')
    expect(await claimedOf(channel)).toBe(0n)
    await withdraw(channel, 100_000n)
    care.clock.shift(301_000)
    await run('claimChannels')
    expect(await claimedOf(channel)).toBe(4_000n)
  })

  it('leaves the same claim of the account a success', async () => {
    const account = newAccount()
    const channel = await open()
    await pay(channel, 5_000n, account)
    await run('claimChannels')
    expect(await claimedOf(channel)).toBe(4_000n)
    const own = await claimBody(channel, [await rowOf(channel, 5_000n, 4_000n)], unsigned)
    expect(await care.service.settle(own, account)).toMatchObject({ success: true })
  })
})

describe('a payout without a request', () => {
  it('is made also where a node that is behind was asked first', async () => {
    const account = newAccount()
    const channel = await open()
    await pay(channel, 8_000n, account)
    const before = await scene.chain.control.snapshot()
    await run('claimChannels')
    await run('claimChannels')
    // As a node that has not seen the block of the claim answers.
    const after = await claimedOf(channel)
    expect(after).toBe(7_000n)
    await scene.chain.control.revert(before)
    await run('sweepReceivers')
    await callSettlement(channel, channel.config.receiver, 'claim', [[await rowOf(channel, 8_000n, 7_000n)]])
    await run('sweepReceivers')
    const { receiver, token } = channel.config
    expect(await readReceiver(scene.chain, receiver, token)).toMatchObject({ totalSettled: 7_000n })
  })

  it('belongs to the account that was credited last, not to a rival that was before', async () => {
    const [rival, merchant] = [newAccount(), newAccount()]
    const payTo = createEoa().address
    const [foreign, own] = [await open({ payTo }), await open({ payTo })]
    for (const [channel, account] of [
      [foreign, rival],
      [own, merchant],
    ] as const) {
      await pay(channel, 4_000n, account)
      await run('claimChannels')
      await run('claimChannels')
    }
    await run('sweepReceivers')
    expect(await scene.chain.balanceOf(payTo)).toBe(6_000n)
    const { rows } = await scene.database
      .pool()
      .query(`select caller from settlements where details ->> 'type' = 'settle' and pay_to ilike $1`, [
        payTo,
      ])
    expect(rows).toEqual([{ caller: merchant }])
  })

  it('is made for an account where a rival that was credited last cannot pay for it', async () => {
    const environment = { RATE_LIMITS: 'on', SETTLES_PER_RECIPIENT_PER_HOUR: '3' }
    await care.replaceService({ environment })
    const [rival, merchant] = [newAccount(), newAccount()]
    const payTo = createEoa().address
    const [foreign, own] = [await open({ payTo }), await open({ payTo })]
    const payAndClaim = async (channel: Channel, ceiling: bigint, account: string) => {
      await pay(channel, ceiling, account)
      await run('claimChannels')
      await run('claimChannels')
    }
    await payAndClaim(foreign, 4_000n, rival)
    await payAndClaim(foreign, 7_000n, rival)
    await payAndClaim(own, 8_000n, merchant)
    await payAndClaim(foreign, 10_000n, rival)
    await run('sweepReceivers')
    expect(await scene.chain.balanceOf(payTo)).toBe(0n)
    await run('sweepReceivers')
    expect(await scene.chain.balanceOf(payTo)).toBe(16_000n)
    const listCallers = async () => {
      const { rows } = await scene.database
        .pool()
        .query(`select caller from settlements where details ->> 'type' = 'settle' and pay_to ilike $1`, [
          payTo,
        ])
      return rows.map(({ caller }) => caller)
    }
    expect(await listCallers()).toEqual([merchant])
    // Nor does the account pay for what only the rival is credited afterwards.
    await callSettlement(foreign, payTo, 'claim', [[await rowOf(foreign, 40_000n, 40_000n)]])
    await pay(foreign, 41_000n, rival)
    for (let round = 0; round < 4; round += 1) {
      await run('claimChannels')
      await run('sweepReceivers')
    }
    expect(await claimedOf(foreign)).toBe(40_000n)
    expect(await scene.chain.balanceOf(payTo)).toBe(16_000n)
    expect(await listCallers()).toEqual([merchant])
  })

  it('is made a second time for what was claimed since', async () => {
    const account = newAccount()
    const channel = await open()
    const { receiver, token } = channel.config
    for (const ceiling of [8_000n, 20_000n]) {
      await pay(channel, ceiling, account)
      await run('claimChannels')
      await run('claimChannels')
      await run('sweepReceivers')
      await run('sweepReceivers')
      expect(await readReceiver(scene.chain, receiver, token)).toMatchObject({
        totalSettled: ceiling - 1_000n,
      })
    }
  })
})

describe('a signed refund that was not made', () => {
  /** Its payer has the claim beside it revert, so that the signature is public and its nonce unused. */
  const failRefund = async (account: string) => {
    const proxy = await scene.openProxy()
    await care.replaceService({ rpcUrls: [proxy.url], environment: quickFinality(scene) })
    const channel = await openWallet('acceptsAll', {}, 10_000n)
    await pay(channel, 5_000n, account)
    const order = await refundOrder(channel, { charged: 5_000n, amount: 5_000n }, unsigned)
    const release = proxy.hold('eth_sendRawTransaction')
    const settled = care.service.settle(order, account)
    await eventually(() => (proxy.count('eth_sendRawTransaction') > 0 ? true : null))
    await setMood(channel, 'refusesAll')
    release()
    expect(await settled).toMatchObject({ success: false })
    await setMood(channel, 'acceptsAll')
    const refund = await eventually(async () => {
      await care.service.reconcile()
      const { rows } = await scene.database
        .pool()
        .query(
          `select state, ${newestTransaction('s')} as transaction from settlements s where caller = $1`,
          [account],
        )
      return rows[0]?.state === 'failed' ? rows[0] : null
    })
    const { input } = await scene.chain.client.getTransaction({ hash: refund.transaction })
    const submit = () =>
      callSettlement(channel, channel.config.payer, 'refundWithSignature', readSignedRefund(input))
    return { channel, order, submit }
  }

  const claimAll = async (channel: Channel, total: bigint, account: string) =>
    await care.service.settle(await claimBody(channel, [await rowOf(channel, total)], unsigned), account)

  it('takes nothing that a voucher after it was accepted for', async () => {
    const account = newAccount()
    const { channel, submit } = await failRefund(account)
    let accepted = 5_000n
    for (const ceiling of [6_000n, 8_000n, 10_000n]) {
      const answer = await care.service.verify(await voucherBody(channel, ceiling), account)
      if (answer.isValid) accepted = ceiling
    }
    await submit()
    expect(await claimAll(channel, accepted, account)).toMatchObject({ success: true })
    expect(await claimedOf(channel)).toBe(accepted)
  })

  it('backs no voucher of a later deposit either, and all of them once it is made', async () => {
    const account = newAccount()
    const { channel, order } = await failRefund(account)
    const verify = async (ceiling: bigint) =>
      await care.service.verify(await voucherBody(channel, ceiling), account)
    const exceeded = { isValid: false, invalidReason: prefixed('cumulative_exceeds_balance') }
    const deposit = (ceiling: bigint) => depositBody(channel, { amount: 2_000n, ceiling, method: 'permit2' })
    expect(await care.service.verify(await deposit(7_001n), account)).toMatchObject(exceeded)
    expect(await care.service.settle(await deposit(7_000n), account)).toMatchObject({ success: true })
    expect(await verify(7_001n)).toMatchObject(exceeded)
    expect(await care.service.settle(order, account)).toMatchObject({ success: true })
    expect(await verify(7_000n)).toMatchObject({ isValid: true })
    await depositOnChain(channel, 3_000n)
    expect(await verify(10_000n)).toMatchObject({ isValid: true })
  })
})

// The last one: the chain's time has moved on afterwards.
describe('a refund beside a withdrawal', () => {
  it('is not left valid for a later deposit by a withdrawal that makes its claim revert', async () => {
    const account = newAccount()
    const proxy = await scene.openProxy()
    await care.replaceService({ rpcUrls: [proxy.url] })
    const channel = await open({}, 10_000n)
    const { config } = channel
    await pay(channel, 5_000n, account)
    await callSettlement(channel, config.payer, 'initiateWithdraw', [config, 9_500n])
    await scene.chain.control.increaseTime(config.withdrawDelay + 1)
    await scene.chain.control.mine()
    care.clock.shift((config.withdrawDelay + 1) * 1_000)
    const before = proxy.count('eth_sendRawTransaction')
    const order = await refundOrder(channel, { charged: 5_000n, amount: 5_000n }, unsigned)
    expect(await care.service.settle(order, account)).toMatchObject({
      success: false,
      errorReason: prefixed('refund_simulation_failed'),
    })
    expect(proxy.count('eth_sendRawTransaction')).toBe(before)
    const claim = await claimBody(channel, [await rowOf(channel, 5_000n)], unsigned)
    expect(await care.service.settle(claim, account)).toMatchObject({ success: true })
    expect(await care.service.settle(order, account)).toMatchObject({ success: true, amount: '5000' })
  })
})
