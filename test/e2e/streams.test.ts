import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { settlementView, settleResult, verifyResult } from '../../src/protocol/results.js'
import { streamAnswer, streamOpened, streamPage, streamUpdated } from '../../src/protocol/streams.js'
import { eventPage } from '../../src/protocol/webhooks.js'
import { unixNow } from '../support/evm/authorization.js'
import { createEoa } from '../support/evm/wallets.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { sandboxPermit, sandboxUpto } from '../support/sandbox/streams.js'
import { startService, type TestService } from '../support/service.js'

const database = useTestDatabase({ isSandbox: true })
let service: TestService
let ada: Readonly<Record<string, string>>
let eve: Readonly<Record<string, string>>

const tier = (monthlyQuota: number) => ({ name: 'Tier', monthlyQuota, rpmLimit: -1 })

type Headers = Readonly<Record<string, string>>

const ask = async (path: string, body?: unknown, headers: Headers = {}) => {
  const response = await fetch(`${service.url}${path}`, {
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  const json: unknown = await response.json()
  return { status: response.status, json }
}

const register = async (email: string): Promise<Headers> => {
  const { json } = await ask('/register', { email, projectName: 'meter' })
  return { authorization: `Bearer ${z.object({ apiKey: z.string() }).parse(json).apiKey}` }
}

beforeAll(async () => {
  service = await startService({
    databaseUrl: database.url,
    environment: { SANDBOX: 'true', TIERS: JSON.stringify({ wide: tier(1_000), tiny: tier(3) }) },
  })
  ada = await register('ada@example.com')
  eve = await register('eve@example.com')
})
afterAll(() => service.close())

const open = async (body: object, headers: Headers = ada) =>
  streamOpened.parse((await ask('/v1/stream/open', body, headers)).json)
const update = (body: object, headers: Headers = ada) => ask('/v1/stream/update', body, headers)
const updated = async (body: object, headers: Headers = ada) =>
  streamUpdated.parse((await update(body, headers)).json)
const close = (body: object, headers: Headers = ada) => ask('/v1/stream/close', body, headers)
const closed = async (body: object, headers: Headers = ada) =>
  streamAnswer.parse((await close(body, headers)).json).stream
const read = async (id: string, headers: Headers = ada) =>
  streamUpdated.parse((await ask(`/v1/stream/${id}`, undefined, headers)).json)
const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString()
/** As if the time of the stream were over. */
const endTime = (id: string) =>
  database.pool.query('update streams set closes_at = now() where id = $1', [id])
const refusedWith = (status: number, code: string) => ({ status, json: { code } })

describe('a stream', () => {
  it('is opened, updated and closed, and settles exactly what was used', async () => {
    const { stream } = await open({ ...(await sandboxUpto()), metadata: { session: 'chat-1' } })
    expect(stream).toMatchObject({ status: 'active', maxAmount: '10000', currentAmount: '0', sequence: 0 })
    expect(await updated({ streamId: stream.id, amount: '100' })).toMatchObject({
      stream: { currentAmount: '100', sequence: 1 },
      remaining: '9900',
      canContinue: true,
    })
    expect(await updated({ streamId: stream.id, amount: '2500', sequence: 7 })).toMatchObject({
      stream: { sequence: 7, updates: 2 },
    })
    const ended = await closed({ streamId: stream.id })
    expect(ended).toMatchObject({
      status: 'closed',
      finalAmount: '2500',
      settledAmount: '2500',
      metadata: { session: 'chat-1' },
    })
    const settlement = settlementView.parse((await ask(`/v1/settlements/${ended.settlementId}`)).json)
    expect(settlement).toMatchObject({ status: 'confirmed', amount: '2500', maxAmount: '10000' })
    expect(settlement.transaction).toBe(ended.transaction)
    expect(await closed({ streamId: stream.id, finalAmount: '2500' })).toEqual(ended)
    expect(await close({ streamId: stream.id, finalAmount: '2501' })).toMatchObject(
      refusedWith(409, 'STREAM_NOT_ACTIVE'),
    )
    expect(await update({ streamId: stream.id, amount: '2600' })).toMatchObject(
      refusedWith(409, 'STREAM_NOT_ACTIVE'),
    )
  })

  it('is paid by a permit of the token as well', async () => {
    const { stream } = await open(await sandboxPermit())
    expect(await closed({ streamId: stream.id, finalAmount: '42' })).toMatchObject({
      status: 'closed',
      settledAmount: '42',
    })
  })

  it('transfers nothing for a final amount of 0, and uses the authorization up', async () => {
    const payment = await sandboxUpto()
    const { stream } = await open(payment)
    expect(await closed({ streamId: stream.id, finalAmount: '0' })).toMatchObject({
      status: 'closed',
      settledAmount: '0',
    })
    expect(
      settleResult.parse((await ask('/settle', { ...payment, settleAmount: '10' }, ada)).json),
    ).toMatchObject({ success: false, errorReason: 'duplicate_settlement' })
  })

  it('is refused what the state of its amount does not allow', async () => {
    const { stream } = await open(await sandboxUpto())
    const streamId = stream.id
    await updated({ streamId, amount: '500', sequence: 5 })
    expect(await update({ streamId, amount: '499' })).toMatchObject(refusedWith(400, 'INVALID_AMOUNT'))
    expect(await update({ streamId, amount: '10001' })).toMatchObject(refusedWith(400, 'AMOUNT_EXCEEDED'))
    expect(await update({ streamId, amount: '600', sequence: 4 })).toMatchObject(
      refusedWith(409, 'INVALID_SEQUENCE'),
    )
    expect(await update({ streamId, amount: '600', sequence: 5 })).toMatchObject(
      refusedWith(409, 'INVALID_SEQUENCE'),
    )
    expect(await updated({ streamId, amount: '500', sequence: 5 })).toMatchObject({ stream: { updates: 1 } })
    expect(await close({ streamId, finalAmount: '499' })).toMatchObject(refusedWith(400, 'INVALID_AMOUNT'))
    expect(await close({ streamId, finalAmount: '10001' })).toMatchObject(refusedWith(400, 'AMOUNT_EXCEEDED'))
    expect(await read(streamId)).toMatchObject({ stream: { status: 'active', currentAmount: '500' } })
  })

  it('is closed once by many closes at the same time', async () => {
    const { stream } = await open(await sandboxUpto())
    await updated({ streamId: stream.id, amount: '700' })
    const answers = await Promise.all(Array.from({ length: 8 }, () => closed({ streamId: stream.id })))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]).toMatchObject({ status: 'closed', settledAmount: '700' })
    const { rows } = await database.pool.query(
      'select count(*)::int as count from settlements where fingerprint = $1',
      [`stream:${stream.id}`],
    )
    expect(rows).toEqual([{ count: 1 }])
  })

  it('gives one of two closes with different amounts a conflict that names the fixed amount', async () => {
    const { stream } = await open(await sandboxUpto())
    const answers = await Promise.all([
      close({ streamId: stream.id, finalAmount: '10' }),
      close({ streamId: stream.id, finalAmount: '20' }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const { stream: ended } = await read(stream.id)
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.json).toMatchObject({
      code: 'STREAM_NOT_ACTIVE',
      message: `The stream was closed with the final amount ${ended.settledAmount}`,
    })
  })

  it('takes no updates while it is paused', async () => {
    const { stream } = await open(await sandboxUpto())
    const change = async (verb: string) =>
      streamAnswer.parse((await ask(`/v1/stream/${stream.id}/${verb}`, {}, ada)).json).stream.status
    expect(await change('pause')).toBe('paused')
    expect(await change('pause')).toBe('paused')
    expect(await update({ streamId: stream.id, amount: '1' })).toMatchObject(
      refusedWith(409, 'STREAM_NOT_ACTIVE'),
    )
    expect(await read(stream.id)).toMatchObject({ canContinue: false })
    expect(await change('resume')).toBe('active')
    expect(await updated({ streamId: stream.id, amount: '1' })).toMatchObject({ canContinue: true })
  })

  it('settles what was used by itself when its time is over', async () => {
    const { stream } = await open(await sandboxUpto())
    await updated({ streamId: stream.id, amount: '900' })
    await endTime(stream.id)
    const ended = await pollUntil(async () => {
      const { stream: now } = await read(stream.id)
      return now.status === 'closed' && now
    }, 'the job to close the stream')
    expect(ended).toMatchObject({ settledAmount: '900', finalAmount: '900' })
  })

  it('expires when its time is over and nothing was used, and gives the authorization back', async () => {
    const payment = await sandboxUpto()
    const { stream } = await open(payment)
    await endTime(stream.id)
    await pollUntil(async () => (await read(stream.id)).stream.status === 'expired', 'the stream to expire')
    expect(await update({ streamId: stream.id, amount: '1' })).toMatchObject(
      refusedWith(410, 'STREAM_EXPIRED'),
    )
    expect(await close({ streamId: stream.id })).toMatchObject(refusedWith(410, 'STREAM_EXPIRED'))
    const settled = await pollUntil(async () => {
      const result = settleResult.parse((await ask('/settle', { ...payment, settleAmount: '10' }, ada)).json)
      return result.success && result
    }, 'the hold to end')
    expect(settled).toMatchObject({ settledAmount: '10' })
  })

  it('sends events of everything but updates', async () => {
    const { stream } = await open(await sandboxUpto())
    await updated({ streamId: stream.id, amount: '5' })
    await ask(`/v1/stream/${stream.id}/pause`, {}, ada)
    await ask(`/v1/stream/${stream.id}/resume`, {}, ada)
    await closed({ streamId: stream.id })
    const of = z.looseObject({ id: z.string() })
    const { events } = eventPage.parse((await ask('/v1/events?limit=200', undefined, ada)).json)
    const own = events.filter(
      ({ type, data }) => type.startsWith('stream.') && of.parse(data).id === stream.id,
    )
    expect(own.map(({ type }) => type)).toEqual([
      'stream.opened',
      'stream.paused',
      'stream.resumed',
      'stream.closed',
    ])
    expect(own.at(-1)?.data).toEqual((await read(stream.id)).stream)
  })
})

describe('the authorization of a stream', () => {
  it('is refused by /verify and /settle while the stream is open, also for 0', async () => {
    const payment = await sandboxUpto()
    const { stream } = await open(payment)
    for (const headers of [ada, eve, {}]) {
      expect(verifyResult.parse((await ask('/verify', payment, headers)).json)).toMatchObject({
        isValid: false,
        invalidReason: 'duplicate_settlement',
      })
      const stolen = settleResult.parse(
        (await ask('/settle', { ...payment, settleAmount: '0' }, headers)).json,
      )
      expect(stolen).toMatchObject({ success: false, errorReason: 'duplicate_settlement' })
    }
    await updated({ streamId: stream.id, amount: '1234' })
    expect(await closed({ streamId: stream.id })).toMatchObject({ status: 'closed', settledAmount: '1234' })
  })

  it('opens no stream once it is settled', async () => {
    const payment = await sandboxUpto()
    await ask('/settle', { ...payment, settleAmount: '0' }, eve)
    expect(await ask('/v1/stream/open', payment, ada)).toMatchObject({
      status: 400,
      json: { code: 'PAYMENT_REFUSED', errorReason: 'duplicate_settlement' },
    })
  })

  it('goes to a settlement or to a stream, never to both', async () => {
    for (let round = 0; round < 10; round += 1) {
      const payment = await sandboxUpto()
      const [settled, opened] = await Promise.all([
        ask('/settle', { ...payment, settleAmount: '0' }, eve),
        ask('/v1/stream/open', payment, ada),
      ])
      const isSettled = settleResult.parse(settled.json).success
      expect([isSettled, opened.status === 201].filter(Boolean)).toHaveLength(1)
    }
  })

  it('opens one stream, however often the same request comes', async () => {
    const payment = await sandboxUpto()
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask('/v1/stream/open', payment, ada)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201])
    const again = await ask('/v1/stream/open', payment, ada)
    expect(again.status).toBe(200)
    const ids = [...answers, again].map(({ json }) => streamOpened.parse(json).stream.id)
    expect(new Set(ids).size).toBe(1)
  })

  it('opens no second stream on other terms or for another caller', async () => {
    const payment = await sandboxUpto()
    await open(payment)
    const refused = { status: 400, json: { code: 'PAYMENT_REFUSED', errorReason: 'duplicate_settlement' } }
    expect(await ask('/v1/stream/open', { ...payment, metadata: { a: 1 } }, ada)).toMatchObject(refused)
    expect(await ask('/v1/stream/open', payment, eve)).toMatchObject(refused)
    expect(await ask('/v1/stream/open', payment)).toMatchObject(refused)
  })

  it('must leave time to settle', async () => {
    const payment = await sandboxUpto({ permit: { deadline: String(unixNow() + 59) } })
    expect(await ask('/v1/stream/open', payment, ada)).toMatchObject({
      status: 400,
      json: { code: 'PAYMENT_REFUSED', errorReason: 'authorization_expired' },
    })
    const deadline = unixNow() + 600
    const { stream } = await open(await sandboxUpto({ permit: { deadline: String(deadline) } }))
    // The permit is valid up to and including its deadline.
    expect(stream.expiresAt).toBe(new Date((deadline + 1 - 60) * 1_000).toISOString())
  })

  it.each([
    [
      'a signature of another key',
      async () => {
        const payment = await sandboxUpto()
        const { payload } = await (await sandboxUpto()).paymentPayload
        return {
          ...payment,
          paymentPayload: {
            ...payment.paymentPayload,
            payload: { ...payment.paymentPayload.payload, signature: payload.signature },
          },
        }
      },
      'invalid_permit2_signature',
    ],
    [
      'a payload that is none',
      async () => ({ ...(await sandboxUpto()), paymentPayload: {} }),
      'invalid_payload_structure',
    ],
  ] as const)('is refused with %s', async (_name, createBody, errorReason) => {
    expect(await ask('/v1/stream/open', await createBody(), ada)).toMatchObject({
      status: 400,
      json: { code: 'PAYMENT_REFUSED', errorReason },
    })
  })

  it('names what a request may not say', async () => {
    const payment = await sandboxUpto()
    const { paymentRequirements } = payment
    for (const [body, message] of [
      [{ expiresAt: inSeconds(-5) }, 'expiresAt: must be in the future'],
      [{ expiresAt: inSeconds(31 * 86_400) }, 'expiresAt: must be at most 30 days from now'],
      [{ metadata: { text: 'x'.repeat(2_048) } }, 'metadata: must be at most 2048 bytes of JSON'],
      [
        { paymentRequirements: { ...paymentRequirements, minAmount: '5' } },
        'paymentRequirements.minAmount: a stream settles whatever was used; leave it out',
      ],
      [
        {
          paymentRequirements: {
            ...paymentRequirements,
            extra: { ...paymentRequirements.extra, unit: 'gram' },
          },
        },
        'paymentRequirements.extra.unit: must be one of token, request, second, minute, byte, kb, mb',
      ],
    ] as const) {
      expect(await ask('/v1/stream/open', { ...payment, ...body }, ada)).toMatchObject({
        status: 400,
        json: { code: 'INVALID_REQUEST', message },
      })
    }
  })
})

describe('a stream of another caller', () => {
  it('does not exist: with another key, without a key, without the token', async () => {
    const { stream } = await open(await sandboxUpto())
    const anonymous = await open(await sandboxUpto(), {})
    for (const [id, headers] of [
      [stream.id, eve],
      [stream.id, {}],
      [anonymous.stream.id, ada],
      [anonymous.stream.id, {}],
      [anonymous.stream.id, { 'x-stream-token': `qtn_stream_${'00'.repeat(32)}` }],
    ] as const) {
      for (const refused of [
        await update({ streamId: id, amount: '9' }, headers),
        await close({ streamId: id }, headers),
        await ask(`/v1/stream/${id}/pause`, {}, headers),
        await ask(`/v1/stream/${id}/resume`, {}, headers),
        await ask(`/v1/stream/${id}`, undefined, headers),
      ]) {
        expect(refused).toMatchObject(refusedWith(404, 'NOT_FOUND'))
      }
    }
    const { streams } = streamPage.parse((await ask('/v1/stream?limit=200', undefined, eve)).json)
    expect(streams).toEqual([])
    expect((await ask('/v1/stream')).status).toBe(401)
  })

  it('that was opened without a key is controlled by its token, which is not stored', async () => {
    const payment = await sandboxUpto()
    const { stream, streamToken = '' } = await open(payment, {})
    const token = { 'x-stream-token': streamToken }
    expect(await updated({ streamId: stream.id, amount: '10' }, token)).toMatchObject({ canContinue: true })
    expect(await updated({ streamId: stream.id, amount: '20', token: streamToken }, {})).toMatchObject({
      stream: { currentAmount: '20' },
    })
    expect(await read(stream.id, token)).toMatchObject({ stream: { id: stream.id } })
    const { rows } = await database.pool.query('select * from streams where id = $1', [stream.id])
    expect(JSON.stringify(rows)).not.toContain(streamToken)
    expect(await closed({ streamId: stream.id }, token)).toMatchObject({
      status: 'closed',
      settledAmount: '20',
    })
  })
})

describe('the quota of an account', () => {
  it('is not exceeded by open streams, and counts a stream when it is closed', async () => {
    const key = await register('tiny@example.com')
    await database.pool.query(
      `update accounts set tier = 'tiny', is_granted = true where email = 'tiny@example.com'`,
    )
    const readUsed = async () => {
      const { json } = await ask('/dashboard/info', undefined, key)
      return z.object({ quota: z.looseObject({ limit: z.number(), used: z.number() }) }).parse(json).quota
    }
    await pollUntil(async () => (await readUsed()).limit === 3, 'the new tier')
    const payment = await sandboxUpto()
    const streams = [await open(payment, key), await open(await sandboxUpto(), key)]
    await open(await sandboxUpto(), key)
    const refused = await sandboxUpto()
    expect(await ask('/v1/stream/open', refused, key)).toMatchObject(refusedWith(429, 'QUOTA_EXCEEDED'))
    // What it held is free again.
    expect(verifyResult.parse((await ask('/verify', refused)).json)).toMatchObject({ isValid: true })
    expect(await readUsed()).toMatchObject({ used: 0 })
    for (const { stream } of streams) await closed({ streamId: stream.id, finalAmount: '5' }, key)
    expect(await readUsed()).toMatchObject({ used: 2 })
    expect(await ask('/v1/stream/open', await sandboxUpto(), key)).toMatchObject(
      refusedWith(429, 'QUOTA_EXCEEDED'),
    )
  })
})

describe('the list of streams', () => {
  it('has the own ones, newest first, page by page and by status', async () => {
    const key = await register('list@example.com')
    const ids: string[] = []
    for (let index = 0; index < 5; index += 1) ids.unshift((await open(await sandboxUpto(), key)).stream.id)
    const [newest = ''] = ids
    await closed({ streamId: newest }, key)
    const list = async (query: string) =>
      streamPage.parse((await ask(`/v1/stream?${query}`, undefined, key)).json)
    const first = await list('limit=3')
    const second = await list(`limit=3&cursor=${first.nextCursor}`)
    expect([...first.streams, ...second.streams].map(({ id }) => id)).toEqual(ids)
    expect(second.nextCursor).toBeUndefined()
    expect((await list('status=closed')).streams.map(({ id }) => id)).toEqual([newest])
    expect((await list('status=active')).streams).toHaveLength(4)
  })
})

describe('vouchers of the payer', () => {
  it('are required once a stream has seen one', async () => {
    const wallet = createEoa()
    const { stream, voucherTypedData } = await open(await sandboxUpto({ wallet }))
    const template = z
      .object({
        domain: z.looseObject({}),
        types: z.object({
          EIP712Domain: z.array(z.unknown()),
          Voucher: z.array(z.object({ name: z.string(), type: z.string() })),
        }),
        primaryType: z.literal('Voucher'),
        message: z.object({ streamId: z.string(), amount: z.string(), sequence: z.string() }),
      })
      .parse(voucherTypedData)
    const sign = async (amount: string, sequence: number, signer = wallet) => ({
      signature: await signer.signTypedData({
        ...template,
        types: { Voucher: template.types.Voucher },
        message: { ...template.message, amount, sequence: String(sequence) },
      }),
    })
    const streamId = stream.id
    await updated({ streamId, amount: '100', sequence: 1 })
    expect(await update({ streamId, amount: '200', voucher: await sign('200', 2) })).toMatchObject(
      refusedWith(400, 'INVALID_REQUEST'),
    )
    for (const [amount, sequence, signer] of [
      ['201', 2, wallet],
      ['200', 3, wallet],
      ['200', 2, createEoa()],
    ] as const) {
      const voucher = await sign(amount, sequence, signer)
      expect(await update({ streamId, amount: '200', sequence: 2, voucher })).toMatchObject(
        refusedWith(400, 'INVALID_VOUCHER'),
      )
    }
    const voucher = await sign('200', 2)
    expect(await updated({ streamId, amount: '200', sequence: 2, voucher })).toMatchObject({
      stream: { vouchers: true },
    })
    expect(await updated({ streamId, amount: '200', sequence: 2, voucher })).toMatchObject({
      stream: { updates: 2 },
    })
    expect(await update({ streamId, amount: '300', sequence: 3 })).toMatchObject(
      refusedWith(400, 'INVALID_VOUCHER'),
    )
    expect(await update({ streamId, amount: '300', sequence: 3, voucher })).toMatchObject(
      refusedWith(400, 'INVALID_VOUCHER'),
    )
    expect(await close({ streamId, finalAmount: '201' })).toMatchObject(refusedWith(400, 'INVALID_VOUCHER'))
    expect(await closed({ streamId, finalAmount: '200' })).toMatchObject({
      status: 'closed',
      settledAmount: '200',
    })
  })
})
