import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryLogger } from '../../../support/memoryLogger.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { clientPaidPayment, sponsoredPayment } from '../../../support/ton/payment.js'
import { findRelayWallets } from '../../../support/ton/relayWallets.js'
import { randomAddress } from '../../../support/ton/wallets.js'
import { openScene, type Scene } from '../scene.js'

let scene: Scene

beforeAll(async () => {
  scene = await openScene()
})
afterEach(() => scene.reset())
afterAll(() => scene.close())

/** One payer and one recipient each. */
const planPayments = (count: number) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const { chain } = scene
      const wallet = await chain.createPayer({ nanoTon: 0n })
      const payTo = randomAddress()
      return { payTo, body: await sponsoredPayment({ chain, wallet, payTo, maxTimeoutSeconds: 120 }) }
    }),
  )

describe('concurrent relayed payments', () => {
  it('share few messages, and all arrive', async () => {
    const { chain } = scene
    const proxy = await scene.openProxy()
    // All payments are verified at once, by a single virtual machine.
    const service = await scene.open({ url: proxy.url, environment: { TON_RPC_TIMEOUT_MS: '20000' } })
    const plans = await planPayments(20)
    chain.ledger.setDelays({ inclusionMs: 300, hopMs: 0 })
    const answers = await Promise.all(plans.map(({ body }) => service.settle(body)))
    expect(answers.filter(({ success }) => !success)).toEqual([])
    const messages = new Set(answers.map(({ transaction }) => transaction))
    expect(messages.size).toBeLessThanOrEqual(6)
    const sent = proxy.calls
      .filter(({ method }) => method === 'sendBoc')
      .map(({ params }) => JSON.stringify(params))
    expect(new Set(sent).size).toBe(messages.size)
    const received = await Promise.all(plans.map(({ payTo }) => chain.token.balanceOf(payTo)))
    expect(new Set(received)).toEqual(new Set([1_000_000n]))
  })

  it('are distributed among several relay wallets', async () => {
    const { chain } = scene
    const service = await scene.open({ environment: { TON_RELAY_WALLETS: '3' } })
    const before = await Promise.all(scene.relays.map(chain.balanceOf))
    chain.ledger.setDelays({ inclusionMs: 300, hopMs: 0 })
    const settled = []
    for (const { body } of await planPayments(6)) {
      settled.push(service.settle(body))
      await pollUntil(async () => (await countRecorded()) >= settled.length, 'the next one to be recorded')
    }
    const answers = await Promise.all(settled)
    expect(answers.filter(({ success }) => !success)).toEqual([])
    const after = await Promise.all(scene.relays.map(chain.balanceOf))
    expect(after.map((balance, at) => balance < (before[at] ?? 0n))).toEqual([true, true, true, false])
  })

  it('are not affected by one that its jetton wallet rejects', async () => {
    const { chain } = scene
    const service = await scene.open({ environment: { TON_MIN_RELAY_NANOTON: '20000000' } })
    const wallet = await chain.createPayer({ nanoTon: 0n })
    const bad = await sponsoredPayment({ chain, wallet, payTo: randomAddress(), nanoTon: 21_000_000n })
    const plans = await planPayments(5)
    chain.ledger.setDelays({ inclusionMs: 100, hopMs: 0 })
    const answers = await Promise.all(
      [bad, ...plans.map(({ body }) => body)].map((body) => service.settle(body)),
    )
    expect(answers.map(({ success }) => success)).toEqual([false, true, true, true, true, true])
    expect(answers[0]).toMatchObject({ errorReason: 'transaction_failed' })
  })
})

describe('a relay wallet', () => {
  it('resends a message that the nodes lost', async () => {
    const { chain } = scene
    const service = await scene.open({ environment: { SETTLE_WAIT_SECONDS: '15' } })
    const [plan] = await planPayments(1)
    chain.ledger.setDropping(true)
    const settling = service.settle(plan?.body)
    await pollUntil(async () => (await countPending()) === 1, 'the message to be recorded')
    chain.ledger.setDropping(false)
    expect(await settling).toMatchObject({ success: true })
  })

  it('continues after a message that expired before it was included', async () => {
    const { chain } = scene
    const logger = createMemoryLogger()
    const service = await scene.open({ logger, environment: { SETTLE_WAIT_SECONDS: '1' } })
    const [lost] = await planPayments(1)
    chain.ledger.setDropping(true)
    expect(await service.settle(lost?.body)).toMatchObject({ errorReason: 'settlement_pending' })
    chain.ledger.warp(300)
    chain.ledger.setDropping(false)
    await pollUntil(async () => {
      await service.reconcile()
      return (await countPending()) === 0
    }, 'the lost payment to be failed')
    // Blocked until the lost message's seqno is used.
    const next = await scene.open({ environment: { SETTLE_WAIT_SECONDS: '15' } })
    const [plan] = await planPayments(1)
    expect(await next.settle(plan?.body)).toMatchObject({ success: true })
    expect(logger.messages()).toContain('relay.message_replaced')
    expect(await chain.token.balanceOf(lost?.payTo ?? randomAddress())).toBe(0n)
  })

  it('is announced as response destination when it has the lowest balance', async () => {
    const { chain } = scene
    const [, , third] = scene.relays
    await chain.drain(third ?? randomAddress(), 50_000_000_000n)
    const service = await scene.open({ environment: { TON_RELAY_WALLETS: '3' } })
    const { kinds } = service.core.useCases.core.listSupported()
    expect(kinds[0]?.extra).toEqual({ areFeesSponsored: true, responseDestination: third?.toRawString() })
  })

  it('continues with the next seqno after it was used externally', async () => {
    const { chain } = scene
    const service = await scene.open()
    const [first, second] = await planPayments(2)
    expect(await service.settle(first?.body)).toMatchObject({ success: true })
    await chain.skipSeqno(scene.relays[0] ?? randomAddress())
    expect(await service.settle(second?.body)).toMatchObject({ success: true })
  })

  it('without TON takes the network out of /supported, while client-paid payments still settle', async () => {
    const { chain } = scene
    const [empty] = await findRelayWallets(chain.globalId)
    const balance = await chain.balanceOf(empty ?? randomAddress())
    await chain.drain(empty ?? randomAddress(), balance)
    const service = await scene.open()
    const { kinds } = service.core.useCases.core.listSupported()
    expect(kinds.map(({ network }) => network)).not.toContain('ton:testnet')
    expect(service.core.listNetworks()).toMatchObject([{ balanceLevel: 'empty', isRpcReachable: true }])
    const [plan] = await planPayments(1)
    await expect(service.verify(plan?.body)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    const wallet = await chain.createPayer()
    const body = await clientPaidPayment({ chain, wallet, payTo: randomAddress() })
    expect(await service.settle(body)).toMatchObject({ success: true })
    await chain.fund(empty ?? randomAddress(), balance)
  })

  it('spends no more than the hourly budget', async () => {
    const service = await scene.open({
      environment: { TON_RELAY_BUDGET_NANOTON_PER_HOUR_testnet: '166666667' },
    })
    const [first, second] = await planPayments(2)
    expect(await service.settle(first?.body)).toMatchObject({ success: true })
    await expect(service.settle(second?.body)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })
})

const count = async (condition: string): Promise<number> => {
  const { rows } = await scene.database
    .pool()
    .query(`select count(*)::int as n from settlements where ${condition}`)
  return rows[0]?.n ?? 0
}
let recordedBefore = 0
const countRecorded = async () => (await count(`state <> 'claimed'`)) - recordedBefore
const countPending = () => count(`state = 'pending'`)

afterEach(async () => {
  recordedBefore = await count(`state <> 'claimed'`)
})
