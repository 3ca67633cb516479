import { encodeFunctionData, getAddress, type Hex, multicall3Abi } from 'viem'
import { beforeEach, describe, expect, it } from 'vitest'
import { asHex } from '../../../../src/chains/evm/abi/words.js'
import { findMissingRows } from '../../../../src/stores/postgres/reconciliation/missingRows.js'
import { reconcileUntil, reconcileUntilDecided } from '../../../support/coreClient.js'
import { randomAddress } from '../../../support/evm/authorization.js'
import { signCancellation } from '../../../support/evm/cancelAuthorization.js'
import {
  batchSettlementAbi,
  batchSettlementAddress,
  encodeErc3009Deposit,
  erc3009DepositCollectorAddress,
  erc3009DepositNonce,
  readChannel,
  readReceiver,
} from '../../../support/evm/channels.js'
import { multicall3Address } from '../../../support/evm/localChain.js'
import { deployTestToken } from '../../../support/evm/testTokens.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { useScene } from '../../../support/useScene.js'
import {
  openScene,
  openSlow,
  quickFinality,
  readOneBlockLater,
  readRecordedBytes,
  refuseSends,
  type Service,
} from '../scene.js'
import { cancelAuthorization, countSent, sendAsStranger } from '../strangers.js'
import {
  type Channel,
  type ChannelBody,
  type ChannelPlan,
  callSettlement,
  claimBody,
  depositBody,
  depositOnChain,
  openChannelOnChain,
  planChannel,
  prefixed,
  refundOrder,
  rowOf,
  sweepBody,
  voucherBody,
  withExtra,
  withPayload,
  withRequirements,
} from './channelScene.js'

/* What payers, receivers and strangers do to a channel while this service works on it, and what that must not change. */

const scene = useScene(() => openScene({ hasBatchSettlement: true }))
let service: Service

beforeEach(async () => {
  service = await scene.open()
})

const plan = (changes: ChannelPlan = {}): Channel => planChannel(scene.chain, changes)

const openChannel = (changes: ChannelPlan = {}, amount?: bigint): Promise<Channel> =>
  openChannelOnChain(scene.chain, changes, amount)

const readAuthorization = ({ paymentPayload }: ChannelBody) =>
  Object(paymentPayload.payload.deposit).authorization.erc3009Authorization

/** Anyone may submit what the payer signed. */
const submit = (channel: Channel, body: ChannelBody): Promise<void> => {
  const data = encodeErc3009Deposit(readAuthorization(body))
  const args = [channel.config, 10_000n, erc3009DepositCollectorAddress, data]
  return callSettlement(channel, randomAddress(), 'deposit', args)
}

/** Test chains have the state of the last 64 blocks, as most nodes have that of 128. */
const outliveStates = (): Promise<void> => scene.chain.control.mine(70)

const readNewestTransaction = async (): Promise<Hex> => {
  const { transactions } = await scene.chain.client.getBlock()
  return transactions.at(-1) ?? '0x'
}

const reconcileOne = async ({ core }: Service, settlementId: string) => {
  const period = { from: new Date(0), to: new Date(Date.now() + 60_000), limit: 200 }
  const { settlements } = await core.useCases.reconciliation.reconcilePeriod(period)
  return settlements.find(({ id }) => id === settlementId)
}

describe('a deposit', () => {
  it('that a stranger submits first is a success, by the transaction of the stranger', async () => {
    const slow = await openSlow(scene)
    const channel = plan()
    const body = await depositBody(channel)
    const answer = await slow.settleAfter(body, () => submit(channel, body))
    const settled = answer.success === true ? answer : await readOneBlockLater(scene, slow.service, answer)
    expect(settled).toMatchObject(answer.success === true ? { amount: '10000' } : { status: 'confirmed' })
    const { from } = await scene.chain.client.getTransaction({ hash: `0x${settled.transaction.slice(2)}` })
    expect(from).not.toBe(getAddress(slow.service.signers[0]?.address ?? ''))
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({ balance: 10_000n })
  })

  it('that the payer cancels meanwhile fails, and says that it was not made', async () => {
    const slow = await openSlow(scene)
    const wallet = createEoa()
    const channel = plan({ wallet })
    const body = await depositBody(channel)
    const nonce = erc3009DepositNonce(channel.id, readAuthorization(body).salt)
    const answer = await slow.settleAfter(body, () => cancelAuthorization(scene, wallet, nonce))
    expect(await readOneBlockLater(scene, slow.service, answer)).toMatchObject({
      status: 'failed',
      errorReason: prefixed('deposit_already_used'),
    })
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({ balance: 0n })
  })

  it('that the payer cancels beside another of the same amount is not paid by that one', async () => {
    const slow = await openSlow(scene, quickFinality(scene))
    const wallet = createEoa()
    const channel = plan({ wallet })
    const [body, other] = [await depositBody(channel), await depositBody(channel)]
    const nonce = erc3009DepositNonce(channel.id, readAuthorization(body).salt)
    const cancellation = await signCancellation(scene.chain.token, wallet, nonce)
    const deposit = encodeFunctionData({
      abi: batchSettlementAbi,
      functionName: 'deposit',
      args: [
        channel.config,
        10_000n,
        erc3009DepositCollectorAddress,
        encodeErc3009Deposit(readAuthorization(other)),
      ],
    })
    const calls = [
      { target: cancellation.to, allowFailure: false, callData: cancellation.data },
      { target: batchSettlementAddress, allowFailure: false, callData: deposit },
    ] as const
    const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] })
    const answer = await slow.settleAfter(body, () => sendAsStranger(scene, { to: multicall3Address, data }))
    expect(await readOneBlockLater(scene, slow.service, answer)).toMatchObject({
      status: 'failed',
      errorReason: prefixed('deposit_already_used'),
    })
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({ balance: 10_000n })
  })

  it('in a token that takes a fee is refused before anything is sent', async () => {
    const token = await deployTestToken(scene.chain, 'FeeOnTransferToken')
    const usdc = scene.chain.token.verifyingContract
    service = await scene.open({
      environment: { [`EVM_TOKENS_${scene.chain.chainId}`]: `${usdc},${token.address}` },
    })
    const chain = { ...scene.chain, token: token.token, mint: async () => undefined }
    const channel = planChannel(chain, { token: token.address })
    await token.mint(channel.config.payer, 20_000n)
    const body = await depositBody(channel)
    const before = await countSent(scene, service)
    expect(await service.verify(body)).toMatchObject({ isValid: false })
    expect(await service.settle(body)).toMatchObject({
      success: false,
      errorReason: prefixed('deposit_simulation_failed'),
    })
    expect(await countSent(scene, service)).toBe(before)
  })

  it('that a reorg takes back is sent again, and answered once', async () => {
    const proxy = await scene.openProxy()
    service = await scene.open({
      rpcUrls: [proxy.url],
      environment: { [`EVM_FINALITY_DEPTH_${scene.chain.chainId}`]: '20' },
    })
    const channel = plan()
    const body = await depositBody(channel)
    const { settlementId = '' } = await service.settle(body)
    refuseSends(proxy)
    await scene.chain.control.reorg(1)
    await scene.chain.control.mine()
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({ balance: 0n })
    const { core } = service
    await core.detectReorgs()
    await core.detectReorgs()
    expect(await core.useCases.core.getSettlement(settlementId)).toMatchObject({ status: 'pending' })
    proxy.clearFaults()
    await reconcileUntil(service, { settlementId }, 'confirmed')
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({ balance: 10_000n })
    expect(await service.settle(body)).toMatchObject({ errorReason: 'duplicate_settlement' })
  })
})

describe('a state that the request states', () => {
  it('is not what is answered: the chain is asked', async () => {
    const channel = await openChannel()
    const forged = { channelId: channel.id, balance: '999999999', totalClaimed: '0', refundNonce: '9' }
    const body = withPayload(withExtra(await voucherBody(channel, 1_000n), { channelState: forged }), {
      extra: forged,
      balance: '999999999',
    })
    expect(await service.verify(body)).toMatchObject({
      isValid: true,
      extra: { balance: '10000', refundNonce: '0' },
    })
    expect(
      await service.verify(withExtra(await voucherBody(channel, 10_001n), { channelState: forged })),
    ).toMatchObject({
      invalidReason: prefixed('cumulative_exceeds_balance'),
    })
  })
})

describe('a claim', () => {
  it('that the receiver makes itself meanwhile is a success, although nothing is left to do', async () => {
    const slow = await openSlow(scene)
    const channel = await openChannel()
    const row = await rowOf(channel, 1_000n)
    const answer = await slow.settleAfter(await claimBody(channel, [row]), () =>
      callSettlement(channel, channel.config.receiver, 'claim', [[row]]),
    )
    const settled =
      answer.success === true ? { status: 'confirmed' } : await readOneBlockLater(scene, slow.service, answer)
    expect(settled).toMatchObject({ status: 'confirmed' })
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({ totalClaimed: 1_000n })
  })

  it('of rows that others claim one by one is shown by the last of their events, without the state of its block', async () => {
    const slow = await openSlow(scene)
    const first = await openChannel()
    const { authorizer, config } = first
    const second = await openChannel({ authorizer, payTo: config.receiver })
    const rows = [await rowOf(first, 1_000n), await rowOf(second, 2_000n)]
    const claims: Hex[] = []
    const answer = await slow.settleAfter(await claimBody(first, rows), async () => {
      for (const row of rows) {
        await callSettlement(first, config.receiver, 'claim', [[row]])
        claims.push(await readNewestTransaction())
      }
      await outliveStates()
    })
    const settled = answer.success === true ? answer : await readOneBlockLater(scene, slow.service, answer)
    expect(settled.transaction).toBe(claims[1])
  })

  it('that failed is no difference once another one of the same was made, however long ago', async () => {
    const slow = await openSlow(scene)
    const { service: other } = slow
    const channel = plan()
    const body = await depositBody(channel)
    await submit(channel, body)
    const claim = await claimBody(channel, [await rowOf(channel, 1_000n)])
    const answer = await slow.settleAfter(claim, () => scene.chain.control.reorg(1))
    const failed = await readOneBlockLater(scene, other, answer)
    expect(failed).toMatchObject({ status: 'failed' })
    await submit(channel, body)
    expect(await other.settle(claim)).toMatchObject({ success: true })
    await outliveStates()
    expect(await reconcileOne(other, failed.id)).toMatchObject({ chain: 'agrees', differences: [] })
  })

  it('that was answered, and that a reorg took back for longer than it is sent again, can be asked for again', async () => {
    const clock = shiftedClock()
    const environment = { [`EVM_FINALITY_DEPTH_${scene.chain.chainId}`]: '20' }
    service = await scene.open({ clock, environment })
    const channel = plan()
    const body = await depositBody(channel)
    await submit(channel, body)
    await scene.chain.control.mine()
    const claim = await claimBody(channel, [await rowOf(channel, 1_000n)])
    const settled = await service.settle(claim)
    expect(settled).toMatchObject({ success: true })
    // The deposit is undone with it.
    await scene.chain.control.reorg(3)
    await scene.chain.control.mine()
    for (let round = 0; round < 2; round++) await service.core.detectReorgs()
    clock.shift(25 * 3_600_000)
    await service.reconcile()
    await scene.chain.control.mine(22)
    await reconcileUntil(service, settled, 'failed')
    expect(await service.settle(claim)).toMatchObject({ errorReason: prefixed('claim_simulation_failed') })
    await submit(channel, body)
    expect(await service.settle(claim)).toMatchObject({ success: true })
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({ totalClaimed: 1_000n })
    const period = { from: new Date(0), to: new Date(Date.now() + 60_000) }
    const { differences } = await findMissingRows(scene.database.pool(), period)
    expect(differences.filter(({ kind }) => kind === 'authorization_differs')).toEqual([])
  })

  it('of one row for another network is refused, and not sent without it', async () => {
    const channel = await openChannel()
    const foreign = planChannel(
      { ...scene.chain, chainId: scene.chain.chainId + 1 },
      { authorizer: channel.authorizer, payTo: channel.config.receiver },
    )
    const rows = [await rowOf(channel, 1_000n), await rowOf(foreign, 1_000n)]
    const answer = await service.settle(await claimBody(channel, rows))
    expect(answer).toMatchObject({ success: false, errorReason: prefixed('claim_simulation_failed') })
    expect(answer.errorMessage).toMatch(/claims\.1 /)
    expect(await readChannel(scene.chain, channel.config)).toMatchObject({ totalClaimed: 0n })
  })
})

describe('a sweep', () => {
  it('that a stranger makes first is a success, with what the stranger paid', async () => {
    const slow = await openSlow(scene)
    const channel = await openChannel()
    const { receiver, token } = channel.config
    await callSettlement(channel, receiver, 'claim', [[await rowOf(channel, 2_000n)]])
    const answer = await slow.settleAfter(sweepBody(channel), async () => {
      await callSettlement(channel, receiver, 'claim', [[await rowOf(channel, 3_000n)]])
      await callSettlement(channel, randomAddress(), 'settle', [receiver, token])
    })
    const settled = answer.success === true ? answer : await readOneBlockLater(scene, slow.service, answer)
    expect(settled).toMatchObject({ amount: '3000' })
    expect(await scene.chain.balanceOf(receiver)).toBe(3_000n)
  })

  it('that a stranger makes first is shown by its event, without the state of its block', async () => {
    const slow = await openSlow(scene)
    const channel = await openChannel()
    const { receiver, token } = channel.config
    const claimAndSweep = async (total: bigint) => {
      await callSettlement(channel, receiver, 'claim', [[await rowOf(channel, total)]])
      await callSettlement(channel, randomAddress(), 'settle', [receiver, token])
      return await readNewestTransaction()
    }
    await claimAndSweep(1_000n)
    await callSettlement(channel, receiver, 'claim', [[await rowOf(channel, 2_000n)]])
    const sweeps: Hex[] = []
    const answer = await slow.settleAfter(sweepBody(channel), async () => {
      for (const total of [3_000n, 4_000n]) sweeps.push(await claimAndSweep(total))
      await outliveStates()
    })
    const settled = answer.success === true ? answer : await readOneBlockLater(scene, slow.service, answer)
    expect(settled).toMatchObject({ amount: '2000', transaction: sweeps[0] })
  })
})

describe('a sweep that was answered', () => {
  it('is asked for again once a reorg of its claim left it nothing to pay', async () => {
    service = await scene.open({ environment: { [`EVM_FINALITY_DEPTH_${scene.chain.chainId}`]: '20' } })
    const channel = await openChannel()
    const { receiver } = channel.config
    const row = await rowOf(channel, 2_000n)
    await scene.chain.control.mine()
    await callSettlement(channel, receiver, 'claim', [[row]])
    const swept = await service.settle(sweepBody(channel))
    expect(swept).toMatchObject({ success: true, amount: '2000' })
    await scene.chain.control.reorg(2)
    await scene.chain.control.mine()
    const { core } = service
    await core.detectReorgs()
    await core.detectReorgs()
    await service.reconcile()
    await scene.chain.control.mine(22)
    await reconcileUntil(service, swept, 'failed')
    expect(await scene.chain.balanceOf(receiver)).toBe(0n)
    await callSettlement(channel, receiver, 'claim', [[row]])
    expect(await service.settle(sweepBody(channel))).toMatchObject({ success: true, amount: '2000' })
    expect(await scene.chain.balanceOf(receiver)).toBe(2_000n)
  })
})

describe('two sweeps whose order a reorg exchanges', () => {
  /** What is done again on the chain from before both of them, and what each of them counts then. */
  const orders = [
    { order: ['later', 'earlier'], amounts: ['1000', null], owed: 500n },
    { order: ['later', 'claim', 'earlier'], amounts: ['1000', '500'], owed: 0n },
    { order: ['claim', 'later', 'earlier'], amounts: ['1500', '0'], owed: 0n },
    { order: ['claim', 'earlier', 'later'], amounts: ['1500', '0'], owed: 0n },
  ] as const

  it.each(orders)('count once what $order pays, and leave what is owed to the next one', async (planned) => {
    const environment = { [`EVM_FINALITY_DEPTH_${scene.chain.chainId}`]: '20' }
    const proxy = await scene.openProxy()
    const options = { environment, rpcUrls: [proxy.url] }
    const [earlier, later] = [await scene.open(options), await scene.open(options)]
    const { control } = scene.chain
    const channel = await openChannel()
    const { receiver, token } = channel.config
    const [first, second] = [await rowOf(channel, 1_000n), await rowOf(channel, 1_500n)]
    const claim = (row: typeof first) => callSettlement(channel, receiver, 'claim', [[row]])
    await claim(first)
    await control.mine()
    const before = await control.snapshot()
    const sweeps = [await earlier.settle(sweepBody(channel))]
    await claim(second)
    sweeps.push(await later.settle(sweepBody(channel)))
    expect(sweeps).toMatchObject([{ amount: '1000' }, { amount: '500' }])
    const bytes = await Promise.all(sweeps.map(({ transaction }) => readRecordedBytes(scene, transaction)))
    refuseSends(proxy)
    await control.revert(before)
    for (const step of planned.order) {
      if (step === 'claim') await claim(second)
      else
        await scene.chain.client.request({
          method: 'eth_sendRawTransaction',
          params: [bytes[step === 'earlier' ? 0 : 1] ?? '0x'],
        })
      await control.waitForAutomine()
    }
    await control.mine(22)
    proxy.clearFaults()
    for (let round = 0; round < 2; round++) await earlier.core.detectReorgs()
    for (const sweep of sweeps) await reconcileUntilDecided(earlier, sweep)
    const { getSettlement } = later.core.useCases.core
    const ended = await Promise.all(sweeps.map(({ settlementId = '' }) => getSettlement(settlementId)))
    expect(ended.map(({ status, amount }) => (status === 'confirmed' ? amount : null))).toEqual(
      planned.amounts,
    )
    if (planned.owed > 0n) {
      await claim(second)
      expect(await later.settle(sweepBody(channel))).toMatchObject({
        success: true,
        amount: `${planned.owed}`,
      })
    }
    expect(await scene.chain.balanceOf(receiver)).toBe(1_500n)
    const { rows } = await scene.database.pool().query(
      `select sum(settled_amount)::text as paid from settlements
       where state = 'confirmed' and details ->> 'type' = 'settle' and lower(pay_to) = lower($1)`,
      [receiver],
    )
    expect(rows).toEqual([{ paid: '1500' }])
    expect(await readReceiver(scene.chain, receiver, token)).toMatchObject({ totalSettled: 1_500n })
    expect(await earlier.settle(sweepBody(channel))).toMatchObject({
      errorReason: prefixed('nothing_to_settle'),
    })
  })

  it('count what the later one pays, also where the earlier one has failed before', async () => {
    const environment = { [`EVM_FINALITY_DEPTH_${scene.chain.chainId}`]: '20' }
    const proxy = await scene.openProxy()
    const options = { environment, rpcUrls: [proxy.url] }
    const [earlier, later] = [await scene.open(options), await scene.open(options)]
    const { control, client } = scene.chain
    const channel = await openChannel()
    const [first, second] = [await rowOf(channel, 1_000n), await rowOf(channel, 1_500n)]
    const claim = (row: typeof first) => callSettlement(channel, channel.config.receiver, 'claim', [[row]])
    const before = await control.snapshot()
    await claim(first)
    const sweeps = [await earlier.settle(sweepBody(channel))]
    await claim(second)
    sweeps.push(await later.settle(sweepBody(channel)))
    expect(sweeps).toMatchObject([{ amount: '1000' }, { amount: '500' }])
    const bytes = await Promise.all(sweeps.map(({ transaction }) => readRecordedBytes(scene, transaction)))
    const send = async (index: number) => {
      const sending = client.request({ method: 'eth_sendRawTransaction', params: [bytes[index] ?? '0x'] })
      await sending.catch(async (error: unknown) => {
        // The service has sent it again.
        const hash = asHex(sweeps[index]?.transaction ?? '')
        const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
        if (receipt === null) throw error
      })
      await control.waitForAutomine()
    }
    // The later one is not sent again meanwhile.
    refuseSends(proxy)
    await control.revert(before)
    await send(0)
    await control.mine(22)
    for (let round = 0; round < 2; round++) await earlier.core.detectReorgs()
    const read = async (index: number) =>
      await later.core.useCases.core.getSettlement(sweeps[index]?.settlementId ?? '')
    await reconcileUntil(earlier, sweeps[0] ?? {}, 'failed')
    expect(await read(1)).toMatchObject({ status: 'pending' })
    proxy.clearFaults()
    await claim(second)
    await send(1)
    await reconcileUntil(earlier, sweeps[1] ?? {}, 'confirmed')
    expect(await scene.chain.balanceOf(channel.config.receiver)).toBe(1_500n)
    expect(await read(1)).toMatchObject({ amount: '1500' })
    expect(await reconcileOne(later, sweeps[1]?.settlementId ?? '')).toMatchObject({
      chain: 'agrees',
      differences: [],
    })
  })
})

describe('a refund', () => {
  it('that is replayed is answered as before, and returns nothing more', async () => {
    const channel = await openChannel()
    const body = await refundOrder(channel, { amount: 1_000n })
    const first = await service.settle(body)
    expect(first).toMatchObject({ success: true, amount: '1000' })
    const before = await countSent(scene, service)
    const again = await service.settle(body, 'eve')
    expect(again).toMatchObject({ success: true, transaction: first.transaction })
    expect(await countSent(scene, service)).toBe(before)
    expect(await scene.chain.balanceOf(channel.config.payer)).toBe(1_000n)
  })

  it('that another facilitator made before is refused by its nonce', async () => {
    const channel = await openChannel()
    const { config } = channel
    await callSettlement(channel, config.receiver, 'refund', [config, 1_000n])
    expect(await service.settle(await refundOrder(channel, { amount: 1_000n }))).toMatchObject({
      success: false,
      errorReason: prefixed('refund_nonce_mismatch'),
    })
  })

  it('whose nonce the receiver uses meanwhile fails when that is proven', async () => {
    const slow = await openSlow(scene, quickFinality(scene))
    const channel = await openChannel()
    const { config } = channel
    const answer = await slow.settleAfter(await refundOrder(channel, { amount: 1_000n }), () =>
      callSettlement(channel, config.receiver, 'refund', [config, 2_000n]),
    )
    expect(await readOneBlockLater(scene, slow.service, answer)).toMatchObject({
      status: 'failed',
      errorReason: prefixed('refund_transaction_failed'),
    })
    expect(await scene.chain.balanceOf(config.payer)).toBe(2_000n)
  })

  it('of which a withdrawal left less returns what is there, which the event says', async () => {
    const channel = await openChannel()
    const { config } = channel
    await callSettlement(channel, config.receiver, 'refund', [config, 9_000n])
    const settled = await service.settle(await refundOrder(channel, { amount: 10_000n, nonce: 1n }))
    expect(settled).toMatchObject({
      success: true,
      amount: '1000',
      extra: { channelState: { balance: '0' } },
    })
  })
})

describe('a claim on a chain whose time has passed', () => {
  const late = useScene(() => openScene({ hasBatchSettlement: true }))

  it('that a withdrawal comes before fails only when it is proven, and can be asked for again', async () => {
    const slow = await openSlow(late)
    const channel = planChannel(late.chain)
    await depositOnChain(channel, 10_000n)
    const { config } = channel
    await callSettlement(channel, config.payer, 'initiateWithdraw', [config, 9_500n])
    await late.chain.control.increaseTime(config.withdrawDelay + 1)
    await late.chain.control.mine()
    const body = await claimBody(channel, [await rowOf(channel, 1_000n)])
    const answer = await slow.settleAfter(body, () =>
      callSettlement(channel, config.payer, 'finalizeWithdraw', [config]),
    )
    expect(await readOneBlockLater(late, slow.service, answer)).toMatchObject({
      status: 'failed',
      errorReason: prefixed('claim_transaction_failed'),
    })
    const again = await slow.service.settle(body)
    expect(again).toMatchObject({ success: false, errorReason: prefixed('claim_simulation_failed') })
    expect(again.errorMessage).toMatch(/claims 1000 of a balance of 500/)
  })
})

describe('a client', () => {
  it('cannot pay a shop by a claim or a sweep, which anyone can ask for again', async () => {
    const channel = await openChannel()
    const claim = await claimBody(channel, [await rowOf(channel, 2_000n)])
    expect(await service.settle(claim)).toMatchObject({ success: true })
    const price = { amount: channel.requirements.amount, maxTimeoutSeconds: 300 }
    expect(await service.settle(withRequirements(claim, price))).toMatchObject({
      success: false,
      errorReason: prefixed('claim_payload'),
    })
    expect(await service.settle(withRequirements(sweepBody(channel), price))).toMatchObject({
      success: false,
      errorReason: prefixed('settle_payload'),
    })
  })
})
