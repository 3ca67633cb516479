import { describe, expect, it } from 'vitest'
import type { SettleResult } from '../../../../src/protocol/results.js'
import { type CoreClient, reconcileUntil } from '../../../support/coreClient.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { decodeTransaction } from '../../../support/tron/transaction.js'
import { useScene } from '../../../support/useScene.js'
import { openScene } from '../scene.js'

const scene = useScene(openScene)

const shortWait = { environment: { SETTLE_WAIT_SECONDS: '3' } }
const balanceOf = (owner: string) => scene.chain.balanceOf(scene.token, owner)
const countSuccesses = (answers: readonly SettleResult[]) => answers.filter(({ success }) => success).length

const find = (service: CoreClient, { settlementId = '' }: SettleResult) =>
  service.core.useCases.core.getSettlement(settlementId)

describe('a settlement', () => {
  it('moves exactly the signed amount and returns the transaction', async () => {
    const service = await scene.open()
    const { body, payer, payTo } = await scene.plan()
    expect(await service.verify(body)).toEqual({ isValid: true, payer: payer.address })
    const result = await service.settle(body)
    expect(result).toMatchObject({
      success: true,
      transaction: expect.stringMatching(/^[0-9a-f]{64}$/),
      network: 'tron:nile',
      payer: payer.address,
      amount: '10000',
      status: 'confirmed',
    })
    expect(await balanceOf(payTo)).toBe(10_000n)
    expect(await balanceOf(payer.address)).toBe(15_000n)
  })

  it('is answered under the network name that the caller used', async () => {
    const service = await scene.open()
    const { body } = await scene.plan()
    const requirements = { ...body.paymentRequirements, network: 'tron:0xcd8690dc' }
    const renamed = {
      paymentPayload: { ...body.paymentPayload, accepted: requirements },
      paymentRequirements: requirements,
    }
    expect(await service.settle(renamed)).toMatchObject({ success: true, network: 'tron:0xcd8690dc' })
  })

  it('succeeds once for ten concurrent requests, and moves the money once', async () => {
    const service = await scene.open()
    const { body, payTo } = await scene.plan()
    const answers = await Promise.all(Array.from({ length: 10 }, () => service.settle(body)))
    expect(countSuccesses(answers)).toBe(1)
    expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(1)
    expect(await balanceOf(payTo)).toBe(10_000n)
  })

  it('succeeds once for concurrent requests to two instances', async () => {
    const [one, other] = [await scene.open(), await scene.open()]
    const { body, payTo } = await scene.plan()
    const answers = await Promise.all([one, other, one, other].map((service) => service.settle(body)))
    expect(countSuccesses(answers)).toBe(1)
    expect(await balanceOf(payTo)).toBe(10_000n)
  })

  it('is a duplicate when repeated, in any letter case of the transaction', async () => {
    const service = await scene.open()
    const { body, payTo } = await scene.plan()
    const first = await service.settle(body)
    const { payload } = body.paymentPayload
    const upperCase = {
      ...body,
      paymentPayload: {
        ...body.paymentPayload,
        payload: { ...payload, signedTransaction: payload.signedTransaction.toUpperCase() },
      },
    }
    for (const again of [body, upperCase]) {
      expect(await service.settle(again)).toMatchObject({
        success: false,
        errorReason: 'duplicate_settlement',
        transaction: first.transaction,
      })
    }
    expect(await balanceOf(payTo)).toBe(10_000n)
  })
})

describe('a transaction that is broadcast externally', () => {
  const sendAsPayer = async (signedTransaction: string) => {
    const { refusal } = scene.chain.ledger.submit(signedTransaction)
    expect(refusal).toBeNull()
  }

  it('is refused when it was included before we verified it: another facilitator may have reported success', async () => {
    const service = await scene.open()
    const { body, payTo } = await scene.plan()
    await sendAsPayer(body.paymentPayload.payload.signedTransaction)
    await pollUntil(async () => (await balanceOf(payTo)) === 10_000n, 'the payer to be included')
    expect(await service.settle(body)).toMatchObject({
      success: false,
      errorReason: 'transaction_already_on_chain',
    })
  })

  it('counts once when it is included while our settlement is open', async () => {
    const service = await scene.open()
    const { body, payTo } = await scene.plan()
    scene.chain.pause()
    await sendAsPayer(body.paymentPayload.payload.signedTransaction)
    const countBroadcasts = () => scene.chain.requests.filter((path) => path.endsWith('/broadcasthex')).length
    const before = countBroadcasts()
    const settling = Promise.all([service.settle(body), service.settle(body)])
    await pollUntil(() => countBroadcasts() > before, 'our own broadcast')
    scene.chain.resume()
    expect(countSuccesses(await settling)).toBe(1)
    expect(await balanceOf(payTo)).toBe(10_000n)
  })
})

describe('a transaction with an unknown broadcast result', () => {
  it('is pending after SERVER_BUSY, and confirmed once it is included', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ url: proxy.url, ...shortWait })
    const { body, payTo } = await scene.plan()
    proxy.setFault('/wallet/broadcasthex', {
      kind: 'tamper',
      change: () => ({ code: 'SERVER_BUSY', message: '' }),
    })
    scene.chain.pause()
    const result = await service.settle(body)
    expect(result).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    proxy.clearFaults()
    scene.chain.resume()
    await reconcileUntil(service, result, 'confirmed')
    expect(await balanceOf(payTo)).toBe(10_000n)
  })
})

describe('a transaction that fails in its block', () => {
  it('is failed when the block is solid, and not before', async () => {
    const service = await scene.open(shortWait)
    const dishonestToken = await scene.chain.deploy('LyingTrc20')
    const open = await scene.open({ environment: { ...shortWait.environment, TRON_TOKENS_nile: '*' } })
    const { body, payTo } = await scene.plan({ token: dishonestToken })
    scene.chain.pause()
    const settling = open.settle(body)
    await pollUntil(() => scene.chain.ledger.countWaiting() > 0, 'the broadcast')
    await scene.chain.send(dishonestToken, 'setLie(uint8)', [4n])
    await scene.chain.mine(1)
    const result = await settling
    expect(result).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    await service.reconcile()
    expect(await find(service, result)).toMatchObject({ status: 'pending' })
    await scene.chain.mine(20)
    expect(await reconcileUntil(service, result, 'failed')).toMatchObject({
      errorReason: 'transaction_failed',
    })
    expect(await scene.chain.balanceOf(dishonestToken, payTo)).toBe(0n)
  })

  it('is failed with OUT_OF_ENERGY when the payer uses the energy elsewhere', async () => {
    const service = await scene.open()
    const { body, payer, payTo } = await scene.plan()
    scene.chain.pause()
    const settling = service.settle(body)
    await pollUntil(() => scene.chain.ledger.countWaiting() > 0, 'the broadcast')
    scene.chain.fund(payer.address, -99_999_000)
    await scene.chain.mine(21)
    const result = await settling
    expect(result).toMatchObject({ success: false, errorReason: 'transaction_failed' })
    const { id } = decodeTransaction(body.paymentPayload.payload.signedTransaction)
    expect(scene.chain.ledger.findExecuted(id)?.contractRet).toBe('OUT_OF_ENERGY')
    expect(await balanceOf(payTo)).toBe(0n)
  })

  it.each([1n, 2n, 3n])('does not succeed with a dishonest token (%s)', async (lie) => {
    const dishonestToken = await scene.chain.deploy('LyingTrc20')
    const service = await scene.open({ environment: { TRON_TOKENS_nile: '*' } })
    const { body, payTo } = await scene.plan({ token: dishonestToken })
    scene.chain.pause()
    const settling = service.settle(body)
    await pollUntil(() => scene.chain.ledger.countWaiting() > 0, 'the broadcast')
    await scene.chain.send(dishonestToken, 'setLie(uint8)', [lie])
    await scene.chain.mine(21)
    expect(await settling).toMatchObject({
      success: false,
      errorReason: 'transfer_event_mismatch',
      retryable: false,
    })
    expect(await scene.chain.balanceOf(dishonestToken, payTo)).toBeLessThan(10_000n)
  })
})
