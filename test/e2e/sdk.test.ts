import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { renderTypes } from '../../sdk/generate.js'
import { createClient, facilitatorFor, QuittanceError, verifyWebhook } from '../../sdk/src/index.js'
import { randomAddress } from '../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { exactPayment } from '../support/evm/payment.js'
import { createEoa } from '../support/evm/wallets.js'
import { pollUntil, waitLimitMs } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const amount = 10_000n

const isText: unknown = expect.any(String)

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (result) => expect.fail(`Returned ${JSON.stringify(result)}`),
    (error: unknown) => error,
  )

describe('the client library', () => {
  let chain: LocalChain
  const database = useTestDatabase()
  let service: TestService
  let apiKey: string

  beforeAll(async () => {
    chain = await startLocalChain({ facilitatorCount: 1 })
    service = await startService({
      chain,
      databaseUrl: database.url,
      environment: { SETTLE_WAIT_SECONDS: '1' },
    })
    const { data } = await createClient({ url: service.url }).api.POST('/register', {
      body: { email: 'ada@example.com', projectName: 'engine' },
    })
    apiKey = data?.apiKey ?? ''
  })
  afterAll(async () => {
    await service.close()
    await chain.stop()
  })
  afterEach(() => chain.control.setAutomine(true))

  /** Of the same form. */
  const wrongKey = () => `${apiKey.slice(0, -1)}${apiKey.endsWith('x') ? 'y' : 'x'}`
  const sign = async (balance = amount) => {
    const wallet = createEoa()
    const payTo = randomAddress()
    await chain.mint(wallet.address, balance)
    return { payment: await exactPayment({ chain, wallet, payTo, amount }), payTo, payer: wallet.address }
  }
  /** Forwards every request; the responses of the first `lost` are lost. */
  const fetchThatLoses = (lost: number) => {
    const keys: (string | null)[] = []
    const fetchLosing: typeof fetch = async (input, init) => {
      const request = new Request(input, init)
      keys.push(request.headers.get('idempotency-key'))
      const response = await fetch(request)
      if (keys.length > lost) return response
      await response.arrayBuffer()
      throw new TypeError('fetch failed')
    }
    return { keys, fetchLosing }
  }

  it('verifies and settles a payment, and the recipient receives the funds', async () => {
    const client = createClient({ url: service.url, apiKey })
    const { payment, payTo, payer } = await sign()
    expect(await client.verify(payment)).toMatchObject({ isValid: true, payer })
    expect(await client.settle(payment)).toMatchObject({ success: true, payer })
    expect(await chain.balanceOf(payTo)).toBe(amount)

    const settlements = []
    for await (const each of client.dashboard.settlements({ status: 'confirmed' })) settlements.push(each)
    expect(settlements).toMatchObject([{ payer, amount: String(amount) }])
    expect(await client.dashboard.info()).toMatchObject({ tier: 'free' })
    expect((await client.dashboard.usage()).usage).toContainEqual(expect.objectContaining({ count: 1 }))
  })

  it('returns a refusal as a result', async () => {
    const client = createClient({ url: service.url })
    const { payment } = await sign(0n)
    expect(await client.verify(payment)).toMatchObject({
      isValid: false,
      invalidReason: 'insufficient_funds',
    })
    expect(await client.settle(payment)).toMatchObject({ success: false, errorReason: 'insufficient_funds' })
  })

  it('explains a refusal rule by rule, and a body that is malformed', async () => {
    const client = createClient({ url: service.url })
    const { payment, payer } = await sign(0n)
    const explanation = await client.explain(payment)
    expect(explanation).toMatchObject({ verdict: 'invalid', reason: 'insufficient_funds', payer })
    expect(explanation.rules.find(({ rule }) => rule === 'balance')).toMatchObject({
      state: 'failed',
      found: '0',
      expected: `at least ${amount}`,
    })
    const malformed = await client.explain({ ...payment, paymentRequirements: {} })
    expect(malformed).toMatchObject({ verdict: 'invalid', errorCode: 'INVALID_REQUEST' })
  })

  it('settles once when responses are lost, with one Idempotency-Key', async () => {
    const { keys, fetchLosing } = fetchThatLoses(2)
    const client = createClient({ url: service.url, fetch: fetchLosing })
    const { payment, payTo } = await sign()
    expect(await client.settle(payment, { idempotencyKey: 'order-4711' })).toMatchObject({ success: true })
    // Two whose responses were lost; on a busy machine the third one can say that it is pending.
    expect(keys.length).toBeGreaterThanOrEqual(3)
    expect(new Set(keys)).toEqual(new Set(['order-4711']))
    expect(await chain.balanceOf(payTo)).toBe(amount)
  })

  it('follows a pending settlement until it is confirmed', async () => {
    const client = createClient({ url: service.url })
    const { payment, payTo } = await sign()
    await chain.control.setAutomine(false)
    const { data: first } = await client.api.POST('/settle', {
      body: payment,
      params: { header: { 'Idempotency-Key': 'order-1' } },
    })
    expect(first).toMatchObject({ success: false, status: 'pending' })
    const followed = client.settle(payment, { idempotencyKey: 'order-1' })
    await chain.control.setAutomine(true)
    await chain.control.mine()
    expect(await followed).toMatchObject({ success: true, transaction: first?.transaction })
    expect(await chain.balanceOf(payTo)).toBe(amount)
  })

  describe('while money is in flight', () => {
    let slow: TestService
    let deadlines: { readonly endsAt: number; readonly ended: AbortController }[] = []

    beforeAll(async () => {
      slow = await startService({ chain, databaseUrl: database.url })
    })
    // Deadlines of the client, of 85 s and 5 s for the last request, pass only by `passDeadline`.
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['Date'] })
      deadlines = []
      const startTimeout = AbortSignal.timeout.bind(AbortSignal)
      vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
        if (ms <= waitLimitMs && ms !== 5_000) return startTimeout(ms)
        const ended = new AbortController()
        deadlines.push({ endsAt: Date.now() + ms, ended })
        return ended.signal
      })
    })
    afterEach(() => {
      vi.useRealTimers()
      vi.restoreAllMocks()
    })
    afterAll(() => slow.close())

    const passDeadline = () => {
      vi.setSystemTime(Math.max(...deadlines.map(({ endsAt }) => endsAt)))
      // Those of 5 s may be of the service, and of work that ended.
      for (const { ended } of deadlines) ended.abort(new DOMException('The deadline passed', 'TimeoutError'))
      deadlines = []
    }

    /** Forwards every request; from the first on that `isLost` names, the deadline passes without a response. */
    const fetchThatHangs = (isLost: (response: Response) => boolean | Promise<boolean>, count = 100) => {
      let lost = 0
      const fetchHanging: typeof fetch = async (input, init) => {
        const request = new Request(input, init)
        const response = await fetch(request)
        if (lost === count || (lost === 0 && !(await isLost(response.clone())))) return response
        lost += 1
        await response.arrayBuffer()
        return new Promise((_resolve, reject) => {
          request.signal.addEventListener('abort', () => reject(request.signal.reason))
          passDeadline()
        })
      }
      return fetchHanging
    }

    it('returns pending when its last poll meets the deadline', async () => {
      let answers = 0
      const fetchHanging = fetchThatHangs(() => ++answers > 1)
      const client = createClient({ url: service.url, fetch: fetchHanging })
      const { payment } = await sign()
      await chain.control.setAutomine(false)
      const result = await client.settle(payment, { idempotencyKey: 'order-2' })
      expect(result).toMatchObject({ status: 'pending', idempotencyKey: 'order-2', settlementId: isText })
      expect(answers).toBe(2)
    })

    it.each(['null', '"queued"'])(
      'returns pending when a proxy answers a later request with %s',
      async (body) => {
        let answers = 0
        const client = createClient({
          url: service.url,
          fetch: async (input, init) => {
            answers += 1
            if (answers === 1) return fetch(input, init)
            return new Response(body, { headers: { 'content-type': 'application/json' } })
          },
        })
        const { payment } = await sign()
        await chain.control.setAutomine(false)
        expect(await client.settle(payment)).toMatchObject({ status: 'pending', settlementId: isText })
        expect(answers).toBe(2)
      },
    )

    it('returns pending when a later request is refused', async () => {
      let answers = 0
      const client = createClient({
        url: service.url,
        fetch: async (input, init) => {
          const request = new Request(input, init)
          answers += 1
          if (answers > 1) request.headers.set('authorization', `Bearer ${wrongKey()}`)
          return fetch(request)
        },
      })
      const { payment } = await sign()
      await chain.control.setAutomine(false)
      expect(await client.settle(payment)).toMatchObject({ status: 'pending', settlementId: isText })
      expect(answers).toBe(2)
    })

    it('returns pending when the deadline meets the first request, and the key leads to its outcome', async () => {
      const client = createClient({ url: slow.url })
      const { payment, payTo } = await sign()
      await chain.control.setAutomine(false)
      const settling = client.settle(payment)
      const isPending = async () => {
        const query = "select from settlements where state = 'pending' and lower(pay_to) = lower($1)"
        return (await database.pool.query(query, [payTo])).rowCount === 1
      }
      await pollUntil(isPending, 'a payment to be recorded')
      passDeadline()
      const { idempotencyKey, ...result } = await settling
      expect(result).toEqual({
        success: false,
        status: 'pending',
        transaction: '',
        network: chain.network,
        errorReason: 'settlement_pending',
        errorMessage: 'The facilitator is still settling this payment',
        retryable: true,
      })
      await chain.control.setAutomine(true)
      await chain.control.mine()
      expect(await client.settle(payment, { idempotencyKey })).toMatchObject({
        success: true,
        idempotencyKey,
      })
      expect(await chain.balanceOf(payTo)).toBe(amount)
    })

    it('asks for the outcome once more when no response has arrived until the deadline', async () => {
      const client = createClient({ url: slow.url, fetch: fetchThatHangs(() => true, 1) })
      const { payment, payTo } = await sign()
      expect(await client.settle(payment)).toMatchObject({ success: true })
      expect(await chain.balanceOf(payTo)).toBe(amount)
    })

    it('earns one success for two sellers who send the same payment and lose responses', async () => {
      const { payment, payTo } = await sign()
      const sellers = [1, 2].map((lost) =>
        createClient({ url: service.url, fetch: fetchThatLoses(lost).fetchLosing }).settle(payment),
      )
      const results = await Promise.all(sellers)
      expect(results.filter(({ success }) => success)).toHaveLength(1)
      expect(results.filter(({ success }) => !success)).toMatchObject([
        { errorReason: 'duplicate_settlement' },
      ])
      expect(await chain.balanceOf(payTo)).toBe(amount)
    })
  })

  it('returns a refusal as a result again, under the same key', async () => {
    const client = createClient({ url: service.url, apiKey })
    const { payment } = await sign()
    const { payment: another } = await sign()
    const { signature } = another.paymentPayload.payload
    const payload = { ...payment.paymentPayload.payload, signature }
    const forged = { ...payment, paymentPayload: { ...payment.paymentPayload, payload } }
    const refused = {
      success: false,
      errorReason: 'invalid_exact_evm_payload_signature',
      idempotencyKey: 'order-forged',
    }
    expect(await client.settle(forged, { idempotencyKey: 'order-forged' })).toMatchObject(refused)
    expect(await client.settle(forged, { idempotencyKey: 'order-forged' })).toMatchObject(refused)
  })

  it('throws what was not decided, with the key to settle again with', async () => {
    const { payment, payTo } = await sign()
    const lost = createClient({ url: service.url, fetch: fetchThatLoses(100).fetchLosing })
    const error = await errorOf(lost.settle(payment, { timeoutMs: 1_500 }))
    expect(error).toMatchObject({ code: 'NO_RESPONSE', status: null })
    const idempotencyKey = error instanceof QuittanceError ? error.idempotencyKey : null
    if (idempotencyKey === null) throw error
    const client = createClient({ url: service.url })
    expect(await client.settle(payment, { idempotencyKey })).toMatchObject({ success: true })
    expect(await chain.balanceOf(payTo)).toBe(amount)
  })

  it('throws at once for a wrong key and a malformed request, and when it is aborted', async () => {
    const { payment } = await sign()
    const stranger = createClient({ url: service.url, apiKey: wrongKey() })
    expect(await errorOf(stranger.verify(payment))).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    const client = createClient({ url: service.url })
    const malformed = { ...payment, paymentRequirements: { ...payment.paymentRequirements, amount: '1.5' } }
    expect(await errorOf(client.settle(malformed))).toMatchObject({
      status: 400,
      code: 'INVALID_REQUEST',
    })
    const signal = AbortSignal.abort(new Error('closed'))
    expect(await errorOf(client.settle(payment, { signal }))).toMatchObject({ message: 'closed' })
  })

  it('configures the facilitator client of @x402/core', async () => {
    const facilitator = new HTTPFacilitatorClient(facilitatorFor(apiKey, service.url))
    expect((await facilitator.getSupported()).kinds).not.toHaveLength(0)
    const stranger = new HTTPFacilitatorClient(facilitatorFor(wrongKey(), service.url))
    await expect(stranger.getSupported()).rejects.toThrow('401')
  })

  it('has the types of the OpenAPI document', async () => {
    expect(readFileSync(join(root, 'sdk/src/schema.ts'), 'utf8')).toBe(await renderTypes())
  })
})

describe('a webhook message', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const body = JSON.stringify({
    id: 'msg_1',
    type: 'settlement.confirmed',
    timestamp: '',
    data: { id: 's1' },
  })
  const headersAt = (time: Date) => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(time.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', time, body),
  })

  it('is an event if the signature matches, with headers of Node.js and of fetch', () => {
    const headers = headersAt(new Date())
    for (const each of [headers, new Headers(headers)]) {
      expect(verifyWebhook({ secret, headers: each, body })).toMatchObject({
        type: 'settlement.confirmed',
        data: { id: 's1' },
      })
    }
  })

  it('is refused with another body, another secret, an old time, or without headers', () => {
    const headers = headersAt(new Date())
    const otherSecret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
    expect(() => verifyWebhook({ secret, headers, body: body.replace('s1', 's2') })).toThrow('No matching')
    expect(() => verifyWebhook({ secret: otherSecret, headers, body })).toThrow('No matching')
    const old = headersAt(new Date(Date.now() - 600_000))
    expect(() => verifyWebhook({ secret, headers: old, body })).toThrow('too old')
    expect(() => verifyWebhook({ secret, headers: {}, body })).toThrow('Missing required headers')
  })
})
