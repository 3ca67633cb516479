import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SettleResult } from '../../../src/protocol/results.js'
import { type CoreClient, reconcileUntil } from '../../support/coreClient.js'
import { expiredAfterMs } from '../../support/tron/payment.js'
import { openScene, type Scene } from './scene.js'

let scene: Scene

// A new chain per test, because its clock is moved.
beforeEach(async () => {
  scene = await openScene()
})
afterEach(() => scene.close())

const shortWait = { environment: { SETTLE_WAIT_SECONDS: '3' } }
const balanceOf = (owner: string) => scene.chain.balanceOf(scene.token, owner)

const find = (service: CoreClient, { settlementId = '' }: SettleResult) =>
  service.core.useCases.core.getSettlement(settlementId)

describe('an expired transaction', () => {
  it('is failed only when a solid block proves the expiration', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ url: proxy.url, ...shortWait })
    const { body, payTo } = await scene.plan()
    proxy.setFault('/wallet/broadcasthex', { kind: 'hang' })
    const result = await service.settle(body)
    expect(result).toMatchObject({ errorReason: 'settlement_pending' })
    scene.chain.pause()
    scene.chain.warp(expiredAfterMs)
    // The head is past the expiration, the solid block is not: after a reorg the transaction could still be
    // included.
    await scene.chain.mine(5)
    proxy.setFault('/wallet/broadcasthex', { kind: 'error', code: 0, message: 'no' })
    await service.reconcile()
    expect(await find(service, result)).toMatchObject({ status: 'pending' })
    await scene.chain.mine(20)
    expect(await reconcileUntil(service, result, 'failed')).toMatchObject({
      errorReason: 'authorization_expired_unsettled',
    })
    expect(await balanceOf(payTo)).toBe(0n)
  })

  it('is not failed while one endpoint still knows it', async () => {
    const [first, second] = [await scene.openProxy(), await scene.openProxy()]
    const service = await scene.open({ url: `${first.url},${second.url}`, ...shortWait })
    const { body, payTo } = await scene.plan()
    for (const proxy of [first, second]) {
      for (const view of ['wallet', 'walletsolidity']) {
        proxy.setFault(`/${view}/gettransactioninfobyid`, { kind: 'tamper', change: () => ({}) })
      }
    }
    const result = await service.settle(body)
    expect(result).toMatchObject({ errorReason: 'settlement_pending' })
    second.clearFaults()
    scene.chain.warp(expiredAfterMs)
    await scene.chain.mine(25)
    await service.reconcile()
    // Which endpoint is asked first depends on their latencies.
    expect(await find(service, result)).not.toMatchObject({ status: 'failed' })
    expect(await balanceOf(payTo)).toBe(10_000n)
    first.clearFaults()
    await reconcileUntil(service, result, 'confirmed')
  })

  it('above the cross-check amount is not failed while one of two endpoints is down', async () => {
    const [liar, honest] = [await scene.openProxy(), await scene.openProxy()]
    const service = await scene.open({
      url: `${liar.url},${honest.url}`,
      environment: { ...shortWait.environment, TRON_CROSS_CHECK_AMOUNT: '10000' },
    })
    const { body } = await scene.plan()
    for (const view of ['wallet', 'walletsolidity']) {
      liar.setFault(`/${view}/gettransactioninfobyid`, { kind: 'tamper', change: () => ({}) })
    }
    const result = await service.settle(body)
    expect(result).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    honest.setFault('*', { kind: 'refuse' })
    scene.chain.warp(expiredAfterMs)
    await scene.chain.mine(25)
    for (let round = 0; round < 3; round++) {
      await service.reconcile()
      expect(await find(service, result)).toMatchObject({ status: 'pending' })
    }
    liar.clearFaults()
    honest.clearFaults()
    await reconcileUntil(service, result, 'confirmed')
  })
})
