import { describe, expect, it } from 'vitest'
import { reconcileUntil } from '../../support/coreClient.js'
import { pollUntil } from '../../support/pollUntil.js'
import { clientPaidPayment, sponsoredPayment } from '../../support/ton/payment.js'
import { randomAddress } from '../../support/ton/wallets.js'
import { useScene } from '../../support/useScene.js'
import { openScene } from './scene.js'

const scene = useScene(openScene)

const forms = [
  ['by the wallet of the payer', clientPaidPayment],
  ['relayed by the facilitator', sponsoredPayment],
] as const

describe.each(forms)('a payment %s', (_, sign) => {
  it('earns one success when two instances settle it concurrently', async () => {
    const { chain } = scene
    const instances = [await scene.open(), await scene.open()]
    chain.ledger.setDelays({ inclusionMs: 100, hopMs: 30 })
    for (let round = 0; round < 3; round++) {
      const wallet = await chain.createPayer()
      const payTo = randomAddress()
      const body = await sign({ chain, wallet, payTo })
      const answers = await Promise.all([...instances, ...instances].map(({ settle }) => settle(body)))
      expect(answers.filter(({ success }) => success)).toHaveLength(1)
      const others = answers.flatMap((answer) => (answer.success ? [] : [answer.errorReason]))
      expect(new Set(others)).toEqual(new Set(['duplicate_settlement']))
      await chain.ledger.settle()
      expect(await chain.token.balanceOf(payTo)).toBe(1_000_000n)
    }
  })

  it('is sent by another instance when it was recorded but never sent', async () => {
    const { chain } = scene
    const proxy = await scene.openProxy()
    const failing = await scene.open({ url: proxy.url, environment: { SETTLE_WAIT_SECONDS: '1' } })
    const wallet = await chain.createPayer()
    const payTo = randomAddress()
    const body = await sign({ chain, wallet, payTo })
    // Recorded, but not sent.
    proxy.setFault('sendBoc', { kind: 'hang' })
    const first = await failing.settle(body)
    expect(first).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    const next = await scene.open()
    await reconcileUntil(next, first, 'confirmed')
    expect(await next.settle(body)).toMatchObject({ success: true, transaction: first.transaction })
    expect(await failing.settle(body)).toMatchObject({ errorReason: 'duplicate_settlement' })
    expect(await chain.token.balanceOf(payTo)).toBe(1_000_000n)
  })
})

describe('two payments with the same seqno of one wallet', () => {
  it('earn one success', async () => {
    const { chain } = scene
    const service = await scene.open({ environment: { SETTLE_WAIT_SECONDS: '2' } })
    const wallet = await chain.createPayer()
    const [one, other] = [randomAddress(), randomAddress()]
    chain.ledger.setDelays({ inclusionMs: 100, hopMs: 0 })
    const bodies = await Promise.all(
      [one, other].map((payTo) => sponsoredPayment({ chain, wallet, payTo, seqno: 0 })),
    )
    const succeeded = new Set<number>()
    const settleBoth = async () => {
      const answers = await Promise.all(bodies.map((body) => service.settle(body)))
      for (const [index, { success }] of answers.entries()) if (success) succeeded.add(index)
      // The one that is paid is pending where the chain took longer than its wait, and only rounds resolve it then.
      if (succeeded.size === 0) await service.reconcile()
      return succeeded.size > 0
    }
    await pollUntil(settleBoth, 'one success')
    await chain.ledger.settle()
    await settleBoth()
    expect(succeeded.size).toBe(1)
    const received = await Promise.all([one, other].map(chain.token.balanceOf))
    expect(received.reduce((sum, amount) => sum + amount, 0n)).toBe(1_000_000n)
  })
})
