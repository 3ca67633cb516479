import { encodeFunctionData, type Hex, zeroAddress } from 'viem'
import { beforeEach, describe, expect, it } from 'vitest'
import { encodeClaim } from '../../../../src/chains/evm/channels/contract.js'
import { reconcileUntil } from '../../../support/coreClient.js'
import { randomHex } from '../../../support/evm/authorization.js'
import { batchSettlementAbi, readChannel, readReceiver } from '../../../support/evm/channels.js'
import { useScene } from '../../../support/useScene.js'
import { eventually, openScene, openSlow, readOneBlockLater, refuseSends, type Service } from '../scene.js'
import { countSent } from '../strangers.js'
import {
  type Channel,
  type ChannelBody,
  type ChannelPlan,
  callSettlement,
  claimBody,
  depositOnChain,
  openChannelOnChain,
  planChannel,
  refundOrder,
  rowOf,
  sweepBody,
} from './channelScene.js'

/* What a request of a receiver may cost: no gas where it changes nothing, and nothing that another receiver needs. */

const scene = useScene(() => openScene({ hasBatchSettlement: true }))
let service: Service

beforeEach(async () => {
  service = await scene.open()
})

const openChannel = (changes: ChannelPlan = {}, amount?: bigint): Promise<Channel> =>
  openChannelOnChain(scene.chain, changes, amount)

/** As the receiver itself makes it. */
const claimOnChain = async (channel: Channel, total: bigint): Promise<void> =>
  callSettlement(channel, channel.config.receiver, 'claim', [[await rowOf(channel, total)]])

const reached = { success: true, transaction: '', amount: '' }

describe('a claim that raises no total', () => {
  it('is a success without a transaction, for whatever totals it is asked', async () => {
    const channel = await openChannel()
    await claimOnChain(channel, 3_000n)
    const before = await countSent(scene, service)
    for (const total of [3_000n, 2_000n, 0n]) {
      const answer = await service.settle(await claimBody(channel, [await rowOf(channel, 3_000n, total)]))
      expect(answer).toMatchObject({ ...reached, payer: channel.config.receiver })
      expect(answer).not.toHaveProperty('settlementId')
    }
    expect(await countSent(scene, service)).toBe(before)
  })

  it('is the same for channels that were never opened, whose signatures are not read', async () => {
    const [first, second] = [planChannel(scene.chain), planChannel(scene.chain)]
    const { authorizer } = first
    const other = planChannel(scene.chain, { authorizer, payTo: first.config.receiver })
    const rows = [
      await rowOf(first, 500n, 0n),
      { ...(await rowOf(other, 500n, 0n)), signature: randomHex(65) },
    ]
    const before = await countSent(scene, service)
    expect(await service.settle(await claimBody(first, rows))).toMatchObject(reached)
    expect(await countSent(scene, service)).toBe(before)
    // The receiver's authorizer still has to ask for it.
    const unsigned = await claimBody({ ...first, authorizer: second.authorizer }, rows)
    expect(await service.settle(unsigned)).toMatchObject({
      errorReason: 'invalid_batch_settlement_evm_claim_authorizer_signature',
    })
  })

  it('is a success once the claim has the confirmations of an own one', async () => {
    service = await scene.open({ environment: { [`EVM_CONFIRMATIONS_${scene.chain.chainId}`]: '2' } })
    const channel = await openChannel()
    await claimOnChain(channel, 3_000n)
    const body = await claimBody(channel, [await rowOf(channel, 2_000n)])
    expect(await service.settle(body)).toMatchObject({
      success: false,
      errorReason: 'invalid_batch_settlement_evm_claim_simulation_failed',
      errorMessage: expect.stringContaining('too few confirmations'),
    })
    await scene.chain.control.mine()
    expect(await service.settle(body)).toMatchObject(reached)
  })

  it('does not occupy an Idempotency-Key of anonymous callers', async () => {
    const channel = await openChannel()
    await claimOnChain(channel, 3_000n)
    const free = await claimBody(channel, [await rowOf(channel, 2_000n)])
    expect(await service.settleWithKey(free, 'guessed')).toMatchObject({ result: reached })
    const paying = await claimBody(channel, [await rowOf(channel, 4_000n)])
    const { result } = await service.settleWithKey(paying, 'guessed')
    expect(result).toMatchObject({ success: true, transaction: expect.stringMatching(/^0x/) })
  })
})

describe('a claim beside rows that are reached', () => {
  const hasClaimed = async (transaction: string, { id }: Channel): Promise<boolean> => {
    const { logs } = await scene.chain.client.getTransactionReceipt({ hash: `0x${transaction.slice(2)}` })
    return logs.some(({ topics }) => topics[1] === id)
  }

  const openTwo = async () => {
    const first = await openChannel()
    const second = await openChannel({ authorizer: first.authorizer, payTo: first.config.receiver })
    return { first, second }
  }

  it('is answered the transaction that raised the others', async () => {
    const { first, second } = await openTwo()
    await service.settle(await claimBody(first, [await rowOf(first, 1_000n)]))
    const rows = [await rowOf(first, 1_000n), await rowOf(second, 1_000n)]
    const answer = await service.settle(await claimBody(first, rows))
    expect(answer).toMatchObject({ success: true })
    expect(await hasClaimed(answer.transaction, second)).toBe(true)
  })

  it('is answered the transaction after which all are reached, where others make several', async () => {
    const slow = await openSlow(scene)
    const { first, second } = await openTwo()
    const rows = [await rowOf(first, 1_000n), await rowOf(second, 1_000n)]
    const answer = await slow.settleAfter(await claimBody(first, rows), async () => {
      await claimOnChain(first, 1_000n)
      await claimOnChain(second, 1_000n)
    })
    const settled = answer.success === true ? answer : await readOneBlockLater(scene, slow.service, answer)
    expect(await hasClaimed(settled.transaction, second)).toBe(true)
  })
})

describe('the minimum of a payment', () => {
  it('counts a channel once, however many rows of it a claim has', async () => {
    service = await scene.open({ environment: { [`EVM_MIN_PAYMENT_${scene.chain.chainId}`]: '1000' } })
    const channel = await openChannel()
    const rows = await Promise.all([300n, 400n, 500n].map((total) => rowOf(channel, total)))
    const before = await countSent(scene, service)
    expect(await service.settle(await claimBody(channel, rows))).toMatchObject({
      errorReason: 'payment_below_minimum',
    })
    await claimOnChain(channel, 999n)
    for (const body of [sweepBody(channel), await refundOrder(channel, { amount: 999n })]) {
      expect(await service.settle(body)).toMatchObject({ errorReason: 'payment_below_minimum' })
    }
    expect(await countSent(scene, service)).toBe(before)
  })
})

describe('strangers who sweep for a receiver', () => {
  it('take none of the places of its own claims', async () => {
    const { proxy, service: limited } = await openSlow(scene, { SETTLES_AT_ONCE_PER_PAYER: '1' })
    const channel = await openChannel()
    await claimOnChain(channel, 1_000n)
    const release = proxy.hold('eth_sendRawTransaction')
    const sweeping = limited.settle(sweepBody(channel), 'eve')
    await eventually(() => (proxy.count('eth_sendRawTransaction') > 0 ? true : null))
    const body = await claimBody(channel, [await rowOf(channel, 2_000n)])
    const claiming = limited.settle(body, 'ada')
    await eventually(() => (proxy.count('eth_sendRawTransaction') > 1 ? true : null)).finally(release)
    expect((await claiming).success || (await claiming).errorReason === 'settlement_pending').toBe(true)
    await sweeping
  })
})

describe('a reorg', () => {
  const makers: Readonly<Record<string, (channel: Channel) => Promise<ChannelBody>>> = {
    claim: async (channel) => claimBody(channel, [await rowOf(channel, 3_000n)]),
    sweep: async (channel) => sweepBody(channel),
    refund: (channel) => refundOrder(channel, { charged: 2_000n, amount: 1_000n }),
  }

  it.each(Object.entries(makers))('that takes back a %s has it sent again, once', async (kind, make) => {
    const proxy = await scene.openProxy()
    service = await scene.open({
      rpcUrls: [proxy.url],
      environment: { [`EVM_FINALITY_DEPTH_${scene.chain.chainId}`]: '20' },
    })
    const channel = await openChannel()
    await claimOnChain(channel, 1_000n)
    const { receiver, token, payer } = channel.config
    const { settlementId = '' } = await service.settle(await make(channel))
    const readAll = async () => ({
      ...(await readChannel(scene.chain, channel.config)),
      ...(await readReceiver(scene.chain, receiver, token)),
      receiver: await scene.chain.balanceOf(receiver),
      payer: await scene.chain.balanceOf(payer),
    })
    const after = await readAll()
    refuseSends(proxy)
    await scene.chain.control.reorg(1)
    await scene.chain.control.mine()
    expect(await readAll(), kind).not.toEqual(after)
    proxy.clearFaults()
    const { core } = service
    await core.detectReorgs()
    await core.detectReorgs()
    await reconcileUntil(service, { settlementId }, 'confirmed')
    expect(await readAll()).toEqual(after)
  })
})

describe('a large claim whose nonce another program uses after a reorg', () => {
  it('is sent again, with more gas than signers keep a balance for', async () => {
    const { chain } = scene
    service = await scene.open({ environment: { [`EVM_FINALITY_DEPTH_${chain.chainId}`]: '20' } })
    const first = planChannel(chain)
    const shared = { authorizer: first.authorizer, payTo: first.config.receiver }
    const channels = [first, ...Array.from({ length: 69 }, () => planChannel(chain, shared))]
    for (const channel of channels) await depositOnChain(channel, 1_000n)
    const rows = await Promise.all(channels.map((channel) => rowOf(channel, 900n)))
    const { transaction, settlementId = '' } = await service.settle(await claimBody(first, rows))
    const hash: Hex = `0x${transaction.slice(2)}`
    expect((await chain.client.getTransactionReceipt({ hash })).gasUsed).toBeGreaterThan(1_000_000n)

    const [signer] = service.signers
    if (signer === undefined) throw new Error('There is no signer')
    const { nonce } = await chain.client.getTransaction({ hash })
    const { maxFeePerGas, maxPriorityFeePerGas } = await chain.client.estimateFeesPerGas()
    const other = await signer.account.signTransaction({
      chainId: chain.chainId,
      nonce,
      to: signer.address,
      gas: 21_000n,
      maxFeePerGas: 4n * maxFeePerGas,
      maxPriorityFeePerGas: 4n * maxPriorityFeePerGas,
    })
    await chain.control.setAutomine(false)
    await chain.control.reorg(1)
    await chain.client.sendRawTransaction({ serializedTransaction: other })
    await chain.control.setAutomine(true)
    await chain.control.mine()
    const { core } = service
    await core.detectReorgs()
    await core.detectReorgs()
    const reconcile = async () => {
      await chain.control.mine()
      await service.reconcile()
    }
    const settled = await reconcileUntil({ core, reconcile }, { settlementId }, 'confirmed')
    expect(settled.transaction).not.toBe(transaction)
    const { receiver, token } = first.config
    expect(await readReceiver(chain, receiver, token)).toMatchObject({ totalClaimed: 70n * 900n })
  })
})

describe('the calldata of a claim', () => {
  it('is what the general encoder makes, for signatures of every length', async () => {
    const rows = await Promise.all(
      [0, 65, 64, 700].map(async (bytes) => {
        const row = await rowOf(
          planChannel(scene.chain, { config: { payerAuthorizer: zeroAddress } }),
          7n,
          5n,
        )
        return { ...row, signature: bytes === 0 ? ('0x' as const) : randomHex(bytes) }
      }),
    )
    const toClaim = ({ voucher, ...row }: (typeof rows)[number]) => ({
      ...row,
      config: voucher.channel,
      maxClaimable: voucher.maxClaimableAmount,
    })
    const signature = randomHex(65)
    expect(encodeClaim(rows.map(toClaim), signature)).toBe(
      encodeFunctionData({
        abi: batchSettlementAbi,
        functionName: 'claimWithSignature',
        args: [rows, signature],
      }),
    )
  })
})
