import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { reconcileUntil } from '../../../support/coreClient.js'
import { signCancellation } from '../../../support/evm/cancelAuthorization.js'
import { callRpc } from '../../../support/evm/jsonRpc.js'
import { createEoa, type EoaWallet } from '../../../support/evm/wallets.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { useScene } from '../../../support/useScene.js'
import { eventually, openScene, type Service, type ServiceOptions } from '../scene.js'

/* The numbers are those of the project's list of attacks on facilitators. */

const scene = useScene(openScene)

const finalityDepth = 6

const open = ({ environment, ...rest }: ServiceOptions = {}): Promise<Service> =>
  scene.open({
    ...rest,
    environment: {
      SETTLE_WAIT_SECONDS: '2',
      [`EVM_FINALITY_DEPTH_${scene.chain.chainId}`]: `${finalityDepth}`,
      ...environment,
    },
  })

const whenInPool = () =>
  eventually(async () => {
    const content = JSON.stringify(await callRpc(scene.chain.url, 'txpool_content'))
    return content.includes('"hash":') ? true : null
  })

const viewOf = (service: Service, settlementId = '') => service.core.useCases.core.getSettlement(settlementId)

/** Settles a payment; something happens between the send and the block, which is at the head when this returns. */
const settleWhile = async (service: Service, body: unknown, meanwhile: () => Promise<unknown>) => {
  const { control } = scene.chain
  await control.mine()
  await control.setAutomine(false)
  const settling = service.settle(body)
  await whenInPool()
  await meanwhile()
  await control.mine()
  return await settling
}

const cancel = async (wallet: EoaWallet, nonce: Hex): Promise<void> => {
  const { token, chainId, url, fundGas } = scene.chain
  const sender = createEoa()
  await fundGas(sender.address)
  const bytes = await sender.account.signTransaction({
    chainId,
    nonce: 0,
    ...(await signCancellation(token, wallet, nonce)),
    gas: 200_000n,
    // A higher tip goes first.
    maxFeePerGas: 60_000_000_000n,
    maxPriorityFeePerGas: 40_000_000_000n,
  })
  await callRpc(url, 'eth_sendRawTransaction', [bytes])
}

describe('A41: a failure that a reorganisation undoes', () => {
  it('is never answered: a reverted transaction that is mined again pays, and its caller gets the success', async () => {
    const service = await open()
    const { chain } = scene
    const { body, payTo } = await scene.plan()
    const answer = await settleWhile(service, body, () => chain.setPaused(true))
    await chain.setPaused(false)
    expect(answer).toMatchObject({
      success: false,
      errorReason: 'settlement_pending',
      status: 'pending',
      transaction: expect.stringMatching(/^0x/),
    })
    await service.reconcile()
    expect(await viewOf(service, answer.settlementId)).toMatchObject({ status: 'pending' })

    await chain.control.reorg(1)
    await chain.setPaused(false)
    await chain.control.mine()
    await chain.control.setAutomine(true)
    await reconcileUntil(service, answer, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true, transaction: answer.transaction })
    expect(await chain.balanceOf(payTo)).toBe(10_000n)
    expect(await scene.countTransfersTo(payTo)).toBe(1)
  })

  it('is answered once its block is final, and no round earlier', async () => {
    const service = await open()
    const { chain } = scene
    const { body, payTo } = await scene.plan()
    const { settlementId } = await settleWhile(service, body, () => chain.setPaused(true))
    await chain.setPaused(false)
    await chain.control.mine(finalityDepth - 1)
    await service.reconcile()
    expect(await viewOf(service, settlementId)).toMatchObject({ status: 'pending' })
    await chain.control.mine()
    expect(await reconcileUntil(service, { settlementId }, 'failed')).toMatchObject({
      errorReason: 'invalid_exact_evm_transaction_failed',
    })
    expect(await chain.balanceOf(payTo)).toBe(0n)
  })

  it('is not answered for a payment whose cancellation is not final', async () => {
    const service = await open()
    const { control } = scene.chain
    const wallet = createEoa()
    const { body, payTo } = await scene.plan({ wallet })
    const { nonce } = body.paymentPayload.payload.authorization
    const answer = await settleWhile(service, body, () => cancel(wallet, nonce))
    expect(answer).toMatchObject({ success: false, errorReason: 'settlement_pending', status: 'pending' })
    await control.mine(finalityDepth - 1)
    await service.reconcile()
    expect(await viewOf(service, answer.settlementId)).toMatchObject({ status: 'pending' })
    await control.mine()
    expect(await reconcileUntil(service, answer, 'failed')).toMatchObject({
      errorReason: 'invalid_exact_evm_nonce_already_used',
    })
    expect(await scene.chain.balanceOf(payTo)).toBe(0n)
  })

  // The last ones: they move the chain's clock.
  it('is not answered for a payment that expired in a block that is not final', async () => {
    const clock = shiftedClock()
    const proxy = await scene.openProxy()
    const service = await open({ clock, rpcUrls: [proxy.url] })
    const { control } = scene.chain
    const { body } = await scene.plan()
    proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    const { settlementId, errorReason } = await service.settle(body)
    expect(errorReason).toBe('settlement_pending')
    await control.increaseTime(3_600)
    clock.shift(3_600_000)
    await control.mine(finalityDepth)
    await service.reconcile()
    expect(await viewOf(service, settlementId)).toMatchObject({ status: 'pending' })
    await control.mine()
    expect(await reconcileUntil(service, { settlementId }, 'failed')).toMatchObject({
      errorReason: 'authorization_expired_unsettled',
    })
  })
})

describe('A41: a node that hides a payment until its authorization has expired', () => {
  it.each([
    ['from the cross-check amount on', '10000'],
    ['below the cross-check amount', '10001'],
  ])('is not believed against another endpoint: %s', async (_what, crossCheckAmount) => {
    const own = await openScene()
    try {
      const { chain } = own
      const [liar, honest] = [await own.openProxy(), await own.openProxy()]
      // The faster one is read from.
      honest.setFault('*', { kind: 'delay', milliseconds: 200 })
      const clock = shiftedClock()
      const service = await own.open({
        clock,
        rpcUrls: [liar.url, honest.url],
        environment: {
          SETTLE_WAIT_SECONDS: '1',
          EVM_CROSS_CHECK_AMOUNT: crossCheckAmount,
          [`EVM_FINALITY_DEPTH_${chain.chainId}`]: `${finalityDepth}`,
        },
      })
      const { body, payTo } = await own.plan()
      await chain.control.setAutomine(false)
      const answer = await service.settle(body)
      expect(answer).toMatchObject({ errorReason: 'settlement_pending' })
      liar.setFault('eth_getTransactionReceipt', { kind: 'tamper', change: () => null })
      liar.setFault('eth_call', { kind: 'tamper', change: () => `0x${'00'.repeat(32)}` })
      liar.clearCalls()
      await chain.control.mine()
      expect(await chain.balanceOf(payTo)).toBe(10_000n)
      await chain.control.increaseTime(3_600)
      clock.shift(3_600_000)
      await chain.control.mine(finalityDepth + 1)
      await service.reconcile()
      expect(liar.count('eth_getTransactionReceipt')).toBeGreaterThan(0)
      // On a busy machine the liar can be late, and the honest one is read from.
      const { status } = await service.core.useCases.core.getSettlement(answer.settlementId ?? '')
      expect(status).not.toBe('failed')
      liar.clearFaults()
      await reconcileUntil(service, answer, 'confirmed')
      expect(await service.settle(body)).toMatchObject({ success: true, transaction: answer.transaction })
    } finally {
      await own.close()
    }
  })
})
