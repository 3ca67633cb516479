import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { randomAddress } from '../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { exactPayment } from '../support/evm/payment.js'
import { createEoa } from '../support/evm/wallets.js'
import { useTestDatabase } from '../support/postgres.js'
import { startTestRedis } from '../support/redis.js'
import { startService, type TestService } from '../support/service.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'

const amount = 10_000n
const settleResponse = z.looseObject({ success: z.boolean().optional(), transaction: z.string().optional() })

const redis = await startTestRedis()
afterAll(() => redis?.stop())

describe.skipIf(redis === null)('settling with a key, when Redis', () => {
  let chain: LocalChain
  const database = useTestDatabase()
  let network: TcpProxy
  let service: TestService
  beforeAll(async () => {
    chain = await startLocalChain({ facilitatorCount: 1 })
    network = await startTcpProxy(redis?.port ?? 0)
    const url = new URL(redis?.url ?? 'redis://127.0.0.1')
    url.port = String(network.port)
    const environment = { REDIS_URL: url.href, RATE_LIMITS: 'on', ANONYMOUS_SETTLES_PER_MINUTE: '1000' }
    service = await startService({ chain, databaseUrl: database.url, environment })
  })
  afterAll(async () => {
    await service.close()
    await network.close()
    await chain.stop()
  })
  afterEach(() => network.pass())

  const place = async () => {
    const wallet = createEoa()
    await chain.mint(wallet.address, amount)
    const payTo = randomAddress()
    return { payTo, key: randomUUID(), body: await exactPayment({ chain, wallet, payTo, amount }) }
  }
  const settle = async ({ body, key }: Awaited<ReturnType<typeof place>>) => {
    const response = await fetch(`${service.url}/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(body),
    })
    return {
      status: response.status,
      isReplayed: response.headers.get('x-idempotency-replayed') === 'true',
      answer: settleResponse.parse(await response.json()),
    }
  }

  it.each([
    { fault: 'is slow', inject: () => network.delay(40) },
    { fault: 'responds too late', inject: () => network.delay(400) },
    { fault: 'resets its connections', inject: () => network.reset() },
    { fault: 'refuses connections', inject: () => network.refuse() },
    { fault: 'stops responding', inject: () => network.hang() },
  ])('$fault: each payment is settled once, and a retry returns the same result', async ({ inject }) => {
    const [before, during] = [await place(), await place()]
    const first = await settle(before)
    expect(first).toMatchObject({ status: 200, isReplayed: false, answer: { success: true } })

    // The fault lasts until all answers are here: none of them waits for Redis.
    await inject()
    expect(await settle(before)).toEqual({ ...first, isReplayed: true })
    const atOnce = await Promise.all([settle(during), settle(during), settle(during)])
    expect(atOnce.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
    const [success] = atOnce.filter(({ answer, isReplayed }) => answer.success === true && !isReplayed)
    expect(success).toBeDefined()

    await network.pass()
    expect(await settle(during)).toMatchObject({ status: 200, isReplayed: true, answer: success?.answer })
    expect(await chain.balanceOf(during.payTo)).toBe(amount)
    expect(await chain.balanceOf(before.payTo)).toBe(amount)
  })
})
