import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { createEoa } from '../support/evm/wallets.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

/* Texts that stores, URLs or JSON take badly, in each field of the routes of holds and channels. */

const hash = `0x${'5f'.repeat(32)}`
const texts = {
  NUL: 'eip155:1\u0000',
  'a lone surrogate': 'eip155:\ud800',
  'a name of every object': '__proto__',
  'the longest name': 'x'.repeat(128),
  'a long text': 'x'.repeat(3_000),
  'a quote': `'); drop table held_payments; --`,
  'a percent sign': '%',
  'a direction mark': 'eip155:1\u202e',
}

const database = useTestDatabase()
let chain: LocalChain
let service: TestService
let authorization = ''

beforeAll(async () => {
  chain = await startLocalChain({ facilitatorCount: 1, hasAuthCapture: true, hasBatchSettlement: true })
  const environment = {
    EVM_HOLD_AUTHORIZER_KEY: createEoa().privateKey,
    EVM_CHANNEL_AUTHORIZER_KEY: createEoa().privateKey,
  }
  service = await startService({ chain, databaseUrl: database.url, environment })
  const registered = await send('POST', '/register', { email: 'shop@example.com', projectName: 'shop' })
  authorization = `Bearer ${z.object({ apiKey: z.string() }).parse(registered.body).apiKey}`
})
afterAll(async () => {
  await service.close()
  await chain.stop()
})

const send = async (
  method: string,
  path: string,
  body: unknown = undefined,
  headers: Readonly<Record<string, string>> = {},
) => {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as unknown }
}

const move = { network: 'eip155:1', paymentInfoHash: hash, amount: '1' }
const named = { network: 'eip155:1', paymentInfoHash: hash }
const bodies = [
  ['/v1/captures', { ...move, feeReceiver: `0x${'11'.repeat(20)}`, fee: '1' }],
  ['/v1/voids', named],
  ['/v1/refunds', move],
  [`/v1/payments/eip155:1/${hash}/deadline`, { atDeadline: 'void' }],
  ['/v1/hold-defaults', { atDeadline: 'void' }],
] as const

const cases = bodies.flatMap(([path, body]) =>
  Object.keys(body).flatMap((field) =>
    Object.entries(texts).map(([what, text]) => ({ path, field, what, body: { ...body, [field]: text } })),
  ),
)

describe('a body', () => {
  it.each(cases)('of $path with $what as $field is the mistake of its caller', async ({ path, body }) => {
    const keyed = { authorization, 'idempotency-key': 'order-1' }
    const { status, body: answer } = await send('POST', path, body, keyed)
    expect([status, answer]).toMatchObject([
      status === 404 ? 404 : 400,
      { code: expect.stringMatching(/^(NOT_FOUND|INVALID_REQUEST)$/) },
    ])
  })
})

const paths = [
  (text: string) => `/v1/payments/${text}/${hash}`,
  (text: string) => `/v1/payments/eip155:1/${text}`,
  (text: string) => `/v1/payments?cursor=${text}`,
  (text: string) => `/v1/payments?status=${text}`,
  (text: string) => `/v1/channels/${text}/${hash}`,
  (text: string) => `/v1/channels/eip155:1/${text}`,
  (text: string) => `/v1/channels?cursor=${text}`,
  (text: string) => `/v1/channels?cursor=${text}/${hash}`,
]

describe('a URL', () => {
  it.each(
    paths.flatMap((write) =>
      Object.entries({ ...texts, 'half a character': '%ff', 'half an escape': '%u' }).map(([what, text]) => ({
        what,
        shown: write('…'),
        path: write(text.startsWith('%') ? text : encodeURIComponent(Buffer.from(text).toString())),
      })),
    ),
  )('$shown with $what is the mistake of its caller, or names nothing', async ({ path }) => {
    const { status } = await send('GET', path, undefined, { authorization })
    expect([200, 400, 404, 413]).toContain(status)
  })
})

describe('a request without a key, or with one that is none', () => {
  const requests = [
    ...bodies.map(([path, body]) => ({ method: 'POST', path, body })),
    ...['/v1/payments', '/v1/channels', '/v1/hold-defaults', `/v1/payments/eip155:1/${hash}`].map((path) => ({
      method: 'GET',
      path,
      body: undefined,
    })),
    { method: 'GET', path: `/v1/channels/eip155:1/${hash}`, body: undefined },
  ]
  it.each(requests)('is refused at $method $path, whatever cookie it has', async ({ method, path, body }) => {
    for (const given of [
      {},
      { authorization: 'Bearer \u00ff' },
      { authorization: `${authorization}x` },
      { cookie: `session=${authorization.slice(7)}; authorization=${authorization}`, origin: service.url },
    ]) {
      const { status } = await send(method, path, body, { 'idempotency-key': 'order-1', ...given })
      expect([path, status]).toEqual([path, 401])
    }
  })

  it('is no form that a page of another site can send', async () => {
    const [path, body] = bodies[0]
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const { status } = await send('POST', path, JSON.stringify(body), {
        authorization,
        'idempotency-key': 'order-1',
        'content-type': type,
      })
      expect([type, status]).toEqual([type, 415])
    }
  })
})
