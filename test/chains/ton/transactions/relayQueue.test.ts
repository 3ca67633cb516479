import { Address, beginCell, Cell } from '@ton/core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createMemoryLogger } from '../../../support/memoryLogger.js'
import { pollUntil } from '../../../support/pollUntil.js'
import type { RpcProxy } from '../../../support/rpcProxy.js'
import { clientPaidPayment, sponsoredPayment } from '../../../support/ton/payment.js'
import { findRelayWallets } from '../../../support/ton/relayWallets.js'
import { randomAddress } from '../../../support/ton/wallets.js'
import { useScene } from '../../../support/useScene.js'
import { openScene } from '../scene.js'

const scene = useScene(openScene)

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
    const service = await scene.open({ url: proxy.url })
    // All payments are verified at once, by a single virtual machine.
    const plans = await planPayments(12)
    chain.ledger.hold('inclusion')
    const settling = plans.map(({ body }) => service.settle(body))
    // What is verified later joins the next message.
    await pollUntil(async () => (await countOpen()) === plans.length, 'all payments to be claimed')
    chain.ledger.release()
    const answers = await Promise.all(settling)
    expect(answers.filter(({ success }) => !success)).toEqual([])
    const messages = new Set(answers.map(({ transaction }) => transaction))
    expect(messages.size).toBeLessThanOrEqual(4)
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
    // A wallet has one message under way.
    chain.ledger.hold('inclusion')
    const settled = []
    for (const { body } of await planPayments(3)) {
      settled.push(service.settle(body))
      await pollUntil(async () => (await countPending()) === settled.length, 'the next one to be recorded')
    }
    chain.ledger.release()
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
    const service = await scene.open()
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
    const next = await scene.open({ logger })
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

describe('a relay wallet whose seqno a node misreports', () => {
  /** Settled once, so that the relay wallet is deployed. */
  const openAfterOne = async (url: string, logger = createMemoryLogger()) => {
    const service = await scene.open({ url, logger })
    const [first] = await planPayments(1)
    expect(await service.settle(first?.body)).toMatchObject({ success: true })
    return service
  }

  /** As an endpoint that is wrong about the relay wallet alone. */
  const misreport = (proxy: RpcProxy, by: number) => {
    const [relay] = scene.relays
    proxy.setFault('getAddressInformation', {
      kind: 'tamper',
      change: (result, [asked]) => {
        const { address } = accountQuery.parse(asked)
        return relay?.equals(Address.parse(address)) === true ? raiseSeqno(result, by) : result
      },
    })
  }

  it('sends on, while another endpoint is right', async () => {
    const proxy = await scene.openProxy()
    const service = await openAfterOne(`${proxy.url},${scene.chain.url}`)
    misreport(proxy, 1_000)
    const [second, third] = await planPayments(2)
    expect(await service.settle(second?.body)).toMatchObject({ success: true })
    proxy.clearFaults()
    expect(await service.settle(third?.body)).toMatchObject({ success: true })
  })

  it('is moved back from a seqno that it does not reach, without a message for each between', async () => {
    const proxy = await scene.openProxy()
    const logger = createMemoryLogger()
    const service = await openAfterOne(proxy.url, logger)
    const [lost, next] = await planPayments(2)
    misreport(proxy, 40)
    const settling = service.settle(lost?.body)
    await pollUntil(async () => (await countPending()) === 1, 'the message to be recorded')
    proxy.clearFaults()
    expect(await service.settle(next?.body)).toMatchObject({ success: true })
    expect(logger.messages()).toContain('nonce.rewound')
    expect(logger.messages()).not.toContain('nonce.gap_filled')
    expect(await countPending()).toBe(1)
    scene.chain.ledger.warp(300)
    expect(await settling).toMatchObject({ success: false, errorReason: 'authorization_expired_unsettled' })
    expect(await countPending()).toBe(0)
  })

  it('fills a small gap, after which the payment is made', async () => {
    const proxy = await scene.openProxy()
    const logger = createMemoryLogger()
    const service = await openAfterOne(proxy.url, logger)
    const [plan] = await planPayments(1)
    misreport(proxy, 2)
    const settling = service.settle(plan?.body)
    await pollUntil(async () => (await countPending()) === 1, 'the message to be recorded')
    proxy.clearFaults()
    expect(await settling).toMatchObject({ success: true })
    expect(logger.messages().filter((message) => message === 'nonce.gap_filled')).toHaveLength(2)
  })

  it('is shown by /ready while it waits for too long', async () => {
    const { chain } = scene
    const service = await openAfterOne(chain.url)
    const readLanes = async () => {
      const { checks } = await service.core.useCases.core.checkReadiness()
      return checks['lanes:ton:testnet']
    }
    expect(await readLanes()).toBe('ok')
    const [plan] = await planPayments(1)
    chain.ledger.setDropping(true)
    const settling = service.settle(plan?.body)
    await pollUntil(async () => (await countPending()) === 1, 'the message to be recorded')
    await pollUntil(async () => {
      // Each round of the maintenance compares with the one before.
      chain.ledger.warp(20)
      return (await readLanes()) === 'stuck'
    }, 'the lane to be stuck')
    chain.ledger.setDropping(false)
    await settling
    await pollUntil(async () => {
      await service.reconcile()
      return (await readLanes()) === 'ok' && (await countPending()) === 0
    }, 'the lane to be free')
  })
})

const accountQuery = z.looseObject({ address: z.string() })
const accountAnswer = z.looseObject({ data: z.string() })

const raiseSeqno = (result: unknown, by: number): unknown => {
  const account = accountAnswer.parse(result)
  const slice = Cell.fromBase64(account.data).beginParse()
  const isSignatureAllowed = slice.loadBit()
  const seqno = slice.loadUint(32) + by
  const data = beginCell().storeBit(isSignatureAllowed).storeUint(seqno, 32).storeSlice(slice).endCell()
  return { ...account, data: data.toBoc().toString('base64') }
}

const count = async (condition: string): Promise<number> => {
  const { rows } = await scene.database
    .pool()
    .query(`select count(*)::int as n from settlements where ${condition}`)
  return rows[0]?.n ?? 0
}
const countPending = () => count(`state = 'pending'`)
const countOpen = () => count(`state in ('claimed', 'pending')`)
