import { describe, expect, it } from 'vitest'
import { newestTransaction } from '../../../../src/stores/postgres/journal/settlementStates.js'
import { reconcileUntil } from '../../../support/coreClient.js'
import { useScene } from '../../../support/useScene.js'
import { eventually, openScene } from '../scene.js'

/*
 * A process that ends during a settlement, at each possible point. Closing an instance deletes its row, as
 * expiry does for a killed one.
 */

const scene = useScene(openScene)

const impatient = { SETTLE_WAIT_SECONDS: '1' }

const readRow = async (payer: string) => {
  const { rows } = await scene.database
    .pool()
    .query(
      `select state, reason, ${newestTransaction('s')} as transaction from settlements s where payer = $1 order by created_at`,
      [payer],
    )
  return rows
}

describe('a process crash', () => {
  /** Claimed, and waiting for an estimate that never returns. */
  const endAfterClaim = async (idempotencyKey: string | null = null) => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url] })
    const plan = await scene.plan()
    proxy.setFault('eth_estimateGas', { kind: 'hang' })
    const settling =
      idempotencyKey === null ? service.settle(plan.body) : service.settleWithKey(plan.body, idempotencyKey)
    const ended = settling.catch(() => null)
    await eventually(() => (proxy.count('eth_estimateGas') > 0 ? true : null))
    expect(await readRow(plan.payer)).toMatchObject([{ state: 'claimed' }])
    await service.core.close()
    return { ...plan, ended }
  }

  /** Recorded, but received by no node. */
  const endAfterRecord = async (idempotencyKey: string) => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url], environment: impatient })
    const plan = await scene.plan()
    proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    const { result } = await service.settleWithKey(plan.body, idempotencyKey)
    expect(result).toMatchObject({ errorReason: 'settlement_pending' })
    await service.core.close()
    return { ...plan, result, transaction: result.transaction }
  }

  it('after the claim leaves the payment to the next request', async () => {
    const { body, payTo, payer } = await endAfterClaim()
    const next = await scene.open()
    expect(await next.settle(body)).toMatchObject({ success: true })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    expect(await readRow(payer)).toMatchObject([
      { state: 'failed', reason: 'settlement_abandoned', transaction: null },
      { state: 'confirmed' },
    ])
  })

  it('after the claim leaves a row that the reconciler abandons', async () => {
    const { body, payer } = await endAfterClaim()
    const next = await scene.open()
    await next.reconcile()
    expect(await readRow(payer)).toMatchObject([{ state: 'failed', reason: 'settlement_abandoned' }])
    expect(await next.settle(body)).toMatchObject({ success: true })
  })

  it('after the claim leaves an Idempotency-Key that a retry takes over', async () => {
    const { body } = await endAfterClaim('crash-1')
    const next = await scene.open()
    const first = await next.settleWithKey(body, 'crash-1')
    expect(first).toMatchObject({ isReplayed: false, result: { success: true } })
    expect(await next.settleWithKey(body, 'crash-1')).toEqual({ ...first, isReplayed: true })
  })

  it('between record and send leaves a transaction that the next process sends, and the outcome to the retry', async () => {
    const { body, payTo, result, transaction } = await endAfterRecord('crash-2')
    expect(await scene.chain.balanceOf(payTo)).toBe(0n)
    const next = await scene.open()
    await reconcileUntil(next, result, 'confirmed')
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    expect(await next.settleWithKey(body, 'crash-2')).toMatchObject({
      isReplayed: false,
      result: { success: true, transaction },
    })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })

  it('between record and send leaves a payment that a request without the key can finish', async () => {
    const { body, result, transaction } = await endAfterRecord('crash-3')
    const next = await scene.open()
    const settling = next.settle(body)
    await reconcileUntil(next, result, 'confirmed')
    expect(await settling).toMatchObject({ success: true, transaction })
  })
})

describe('a live process', () => {
  it('keeps its claim: the reconciler and other instances do not change it', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url] })
    const other = await scene.open({ environment: impatient })
    const { body, payer } = await scene.plan()
    const release = proxy.hold('eth_estimateGas')
    const settling = service.settle(body)
    await eventually(() => (proxy.count('eth_estimateGas') > 0 ? true : null))
    await other.reconcile()
    expect(await readRow(payer)).toMatchObject([{ state: 'claimed' }])
    expect(await other.settle(body)).toMatchObject({ errorReason: 'settlement_pending', transaction: '' })
    release()
    expect(await settling).toMatchObject({ success: true })
    expect(await readRow(payer)).toMatchObject([{ state: 'confirmed' }])
  })
})
