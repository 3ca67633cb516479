import { randomUUID } from 'node:crypto'
import type { Address } from 'viem'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openPool } from '../../src/stores/postgres/database/pool.js'
import { randomAddress } from '../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { type ExactPaymentBody, exactPayment } from '../support/evm/payment.js'
import { createEoa } from '../support/evm/wallets.js'
import { pollUntil } from '../support/pollUntil.js'
import { type ReplicatedPostgres, startReplicatedPostgres } from '../support/replicatedPostgres.js'
import { startService, type TestService } from '../support/service.js'
import { overTcp, startTcpProxy } from '../support/tcpProxy.js'

const amount = 10_000n
const used = 'invalid_exact_evm_nonce_already_used'
const response = z.looseObject({ success: z.boolean().optional(), errorReason: z.string().optional() })
type Response = z.infer<typeof response>

interface Order {
  readonly body: ExactPaymentBody
  readonly payTo: Address
  readonly key: string
}

interface Scene {
  readonly chain: LocalChain
  readonly replicas: ReplicatedPostgres
  readonly service: TestService
  failOver(): Promise<void>
}

describe('a failover of the database', () => {
  let scene: Scene
  const closers: (() => Promise<unknown>)[] = []
  // A start that failed in between has some, too.
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  /** In a hook: a busy machine needs most of the time of a test for it. */
  const open = async (isSynchronous: boolean): Promise<void> => {
    const chain = await startLocalChain({ facilitatorCount: 1 })
    closers.push(() => chain.stop())
    const replicas = await startReplicatedPostgres({ isSynchronous })
    closers.push(() => replicas.stop())
    let current = replicas.primaryUrl
    // The host name behind which the current primary is.
    const network = await startTcpProxy(() => Number(new URL(current).port))
    closers.push(() => network.close())
    const service = await startService({ chain, databaseUrl: overTcp(current, network.port) })
    closers.push(() => service.close())
    const failOver = async () => {
      await replicas.failOver()
      current = replicas.standbyUrl
      await network.reset()
    }
    scene = { chain, replicas, service, failOver }
  }

  const placeOrder = async (): Promise<Order> => {
    const wallet = createEoa()
    await scene.chain.mint(wallet.address, amount)
    const payTo = randomAddress()
    return {
      body: await exactPayment({ chain: scene.chain, wallet, payTo, amount }),
      payTo,
      key: randomUUID(),
    }
  }
  const settle = async ({ body, key }: Order): Promise<Response> => {
    const answer = await fetch(`${scene.service.url}/settle`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
    })
    return response.parse(await answer.json())
  }
  const settleUntilFinal = (order: Order): Promise<Response> =>
    pollUntil(async () => {
      const answer = await settle(order)
      return answer.success === true || answer.errorReason === used ? answer : null
    }, 'a final response')
  const balances = (orders: readonly Order[]): Promise<readonly bigint[]> =>
    Promise.all(orders.map(({ payTo }) => scene.chain.balanceOf(payTo)))
  const readConfirmed = async (): Promise<readonly string[]> => {
    const pool = openPool({ url: scene.replicas.standbyUrl, maxConnections: 1, onError: () => undefined })
    try {
      const { rows } = await pool.query<{ payTo: string }>(
        `select lower(pay_to) as "payTo" from settlements where state = 'confirmed' order by 1`,
      )
      return rows.map(({ payTo }) => payTo)
    } finally {
      await pool.end()
    }
  }

  describe('to a synchronous standby', () => {
    beforeEach(() => open(true))

    it('loses no settlement and pays none twice', async () => {
      const orders = await Promise.all(Array.from({ length: 60 }, placeOrder))
      let done = 0
      const answers = orders.map(async (order, index) => {
        await pollUntil(() => done >= index - 20, 'an earlier response')
        const answer = await settle(order)
        done += 1
        return answer
      })
      await pollUntil(() => done > 10, 'the first responses')
      await scene.replicas.stopReplication()
      await pollUntil(scene.replicas.isCommitWaiting, 'a commit to wait for the standby')
      await scene.failOver()
      const told = await Promise.all(answers)

      // The primary was lost while payments were being settled.
      expect(told.filter(({ success }) => success !== true).length).toBeGreaterThan(0)
      const ends = await Promise.all(orders.map(settleUntilFinal))
      expect(ends.map(({ success }) => success)).toEqual(orders.map(() => true))
      expect(await balances(orders)).toEqual(orders.map(() => amount))
      expect(await readConfirmed()).toEqual(orders.map(({ payTo }) => payTo.toLowerCase()).sort())
    })
  })

  describe('to an asynchronous standby', () => {
    beforeEach(() => open(false))

    it('may lose the record of a payment, which is refused as used and not paid again', async () => {
      const kept = await placeOrder()
      const lost = await placeOrder()
      expect(await settle(kept)).toMatchObject({ success: true })
      await pollUntil(async () => (await readConfirmed()).length === 1, 'the standby to receive the payment')
      await scene.replicas.stopReplication()
      expect(await settle(lost)).toMatchObject({ success: true })
      await scene.failOver()

      const answers = await Promise.all([kept, lost].map(settleUntilFinal))
      expect(answers).toMatchObject([{ success: true }, { success: false, errorReason: used }])
      expect(await balances([kept, lost])).toEqual([amount, amount])
    })
  })
})
