import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AppError } from '../../src/errors.js'
import { accountResponses } from '../../src/http/schemas/accounts.js'
import { createLogger } from '../../src/platform/logger.js'
import { Secret } from '../../src/platform/secret.js'
import type { CoreUseCases } from '../../src/usecases/core/useCases.js'
import type { DashboardUseCases, PresentedKey } from '../../src/usecases/dashboard/useCases.js'
import { keyOwner, testApp } from './support/app.js'
import { paymentBody } from './support/payment.js'

const privateKey = `0x${'4c0883a69102937d'.repeat(4)}`
const secrets = {
  privateKey,
  bareKey: privateKey.slice(2),
  rpcKey: 'AbCdEf0123456789rpcKey',
  password: 'hunter2hunter2',
  apiKey: `qtn_sk_${'a1B2c3D4'.repeat(4)}`,
  bearer: 'bearer-token-value',
  operatorToken: 'operator-token-0123456789',
  payment: Buffer.from(JSON.stringify({ payload: { signature: 'x'.repeat(130) } })).toString('base64'),
  signature: paymentBody().paymentPayload.payload.signature,
  phrase: 'legal winner thank year wave sausage worth useful legal winner thank yellow',
}
const rpcUrl = `https://user:${secrets.password}@base.rpc.example/v2/${secrets.rpcKey}?apikey=${secrets.rpcKey}`

const observed = (
  core: Partial<CoreUseCases>,
  { operatorToken, dashboard = {} }: { operatorToken?: string; dashboard?: Partial<DashboardUseCases> } = {},
) => {
  const chunks: string[] = []
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      chunks.push(String(chunk))
      done()
    },
  })
  const logger = createLogger({ level: 'debug', destination })
  return {
    app: testApp({
      core,
      dashboard,
      logger,
      ...(operatorToken === undefined ? {} : { operatorToken: new Secret(operatorToken) }),
    }),
    logger,
    readLog: () => chunks.join(''),
  }
}

const expectNoSecret = (text: string) => {
  for (const [name, secret] of Object.entries(secrets)) {
    expect(text.includes(secret), `${name} in ${text}`).toBe(false)
  }
}

/** An error as thrown by viem, containing secrets. */
const errorWithSecrets = () =>
  new Error('HTTP request failed.', {
    cause: Object.assign(
      new Error(
        [
          'HTTP request failed.',
          `URL: ${rpcUrl}`,
          `Request body: {"method":"eth_sendRawTransaction","params":["0x02${'ab'.repeat(300)}"]}`,
          `Invalid private key: ${secrets.privateKey} (${secrets.bareKey})`,
          `mnemonic: ${secrets.phrase}`,
          `Authorization: Bearer ${secrets.bearer}, x-api-key=${secrets.apiKey}`,
          `password=${secrets.password}`,
          `payment ${secrets.payment} signed ${secrets.signature}`,
        ].join('\n'),
      ),
      {
        code: 'RPC_REQUEST_FAILED',
        url: rpcUrl,
        config: { key: secrets.privateKey },
        response: { body: secrets.bareKey },
      },
    ),
  })

describe('secrets in an error (A33)', () => {
  it.each([
    ['in an unexpected error', () => errorWithSecrets()],
    [
      'in the cause of an AppError',
      () =>
        new AppError('VERIFICATION_FAILED', 'The payment could not be verified', {
          cause: errorWithSecrets(),
        }),
    ],
    ['among several', () => new AggregateError([errorWithSecrets()], `all of ${rpcUrl} failed`)],
  ])('%s reach neither the response nor the log', async (_name, makeError) => {
    const { app, readLog } = observed({
      verifyPayment: async () => {
        throw makeError()
      },
    })
    const response = await app.inject({ method: 'POST', url: '/verify', payload: paymentBody() })
    expect(response.statusCode).toBe(500)
    expectNoSecret(response.body)
    expectNoSecret(readLog())
    expect(readLog()).toContain('request.failed')
    expect(readLog()).toContain('https://base.rpc.example')
    expect(readLog()).toContain('RPC_REQUEST_FAILED')
    expect(readLog()).toContain('secrets.test.ts')
  })
})

describe('secrets in a request (A33)', () => {
  const rest = {
    'payment-signature': secrets.payment,
    'x-payment': secrets.payment,
    cookie: `session=${secrets.bearer}`,
    'content-type': 'application/json',
  }
  const requests = [
    { method: 'POST', url: `/verify?api_key=${secrets.apiKey}`, payload: paymentBody() },
    { method: 'POST', url: '/settle', payload: paymentBody() },
    {
      method: 'POST',
      url: '/verify',
      payload: { paymentPayload: { privateKey }, paymentRequirements: { amount: privateKey } },
    },
    { method: 'POST', url: '/verify', payload: `{"privateKey": "${privateKey}", broken` },
    { method: 'GET', url: `/nothing/${secrets.apiKey}/${secrets.bareKey}?key=${secrets.rpcKey}` },
    { method: 'GET', url: `/%?key=${secrets.apiKey}` },
    { method: 'GET', url: `/v1/settlements/${secrets.apiKey}` },
    { method: 'GET', url: '/v1/settlements?status=pending' },
    { method: 'GET', url: `/v1/settlements?status=pending&token=${secrets.operatorToken}` },
    { method: 'GET', url: '/dashboard/info' },
    { method: 'GET', url: `/dashboard/keys?apiKey=${secrets.apiKey}` },
    { method: 'GET', url: `/dashboard/${secrets.apiKey}` },
    { method: 'POST', url: '/dashboard/rotate' },
    { method: 'POST', url: '/dashboard/restrictions', payload: { allowedIPs: secrets.apiKey } },
    { method: 'POST', url: '/register', payload: { email: secrets.apiKey, projectName: 7 } },
    { method: 'POST', url: '/lookup', payload: { email: [secrets.apiKey], [secrets.password]: 1 } },
  ] as const

  it.each([
    ['of a known key', { authorization: `Basic ${secrets.bearer}`, 'x-api-key': secrets.apiKey }],
    ['of a wrong key', { authorization: `Bearer ${secrets.bearer}` }],
    ['of two different keys', { authorization: `Bearer ${secrets.bearer}`, 'x-api-key': secrets.apiKey }],
    ['of a malformed key', { 'x-api-key': `${secrets.apiKey}, ${secrets.bearer}` }],
  ])('%s reach neither the response nor the log, in any part of the request', async (_name, keys) => {
    const { app, readLog } = observed(
      {},
      {
        operatorToken: secrets.operatorToken,
        dashboard: {
          authenticate: async ({ apiKey }) => {
            if (apiKey === secrets.apiKey) return keyOwner
            throw new AppError('UNAUTHORIZED', 'This API key is not valid', { cause: new Error(apiKey) })
          },
        },
      },
    )
    for (const request of requests) {
      const response = await app.inject({ ...request, headers: { ...rest, ...keys } })
      expectNoSecret(response.body)
      expectNoSecret(JSON.stringify(response.headers))
    }
    expectNoSecret(readLog())
    expect(
      readLog()
        .split('\n')
        .filter((line) => line.includes('"msg":"request.completed"')),
    ).toHaveLength(requests.length)
  })

  it('reach neither the response nor the log if the key store fails with the key in its error', async () => {
    const authenticate = async ({ apiKey }: PresentedKey) => {
      throw new Error(`no row for ${apiKey}`, { cause: errorWithSecrets() })
    }
    const { app, readLog } = observed({}, { dashboard: { authenticate } })
    const response = await app.inject({
      url: '/dashboard/info',
      headers: { authorization: `Bearer ${secrets.apiKey}` },
    })
    expect(response.statusCode).toBe(503)
    expectNoSecret(response.body)
    expectNoSecret(readLog())
    expect(readLog()).toContain('no row for [key]')
  })
})

describe('data of one account', () => {
  const tenants = ['a', 'b'].map((name) => ({
    apiKey: `qtn_sk_${name.repeat(64)}`,
    account: {
      ...keyOwner,
      id: `${name}-id`,
      email: `${name}@${name}.example`,
      project: `project of ${name}`,
      allowedIPs: [`${name}-block`],
    },
  }))
  const identifiersOf = ({ apiKey, account }: (typeof tenants)[number]) => [
    apiKey,
    account.email,
    account.project,
  ]
  const find = (apiKey: string) => tenants.find((tenant) => tenant.apiKey === apiKey)
  /** A result with additional fields that a store could leak. */
  const careless = <Answer extends object>(answer: Answer): Answer => ({
    ...answer,
    sealed: tenants.map(({ apiKey }) => apiKey),
    all: tenants,
  })
  const dashboard: Partial<DashboardUseCases> = {
    authenticate: async ({ apiKey }) => {
      await new Promise(setImmediate)
      const account = find(apiKey)?.account
      if (account === undefined) throw new AppError('UNAUTHORIZED', 'This API key is not valid')
      return account
    },
    readInfo: async ({ email, project, allowedIPs }) =>
      careless({
        ...accountResponses.info.info.value,
        email,
        project,
        allowedIPs: [...(allowedIPs ?? [])],
        allowedRef: null,
      }),
    listKeys: async ({ email, project, id }) => {
      const apiKey = tenants.find(({ account }) => account.id === id)?.apiKey ?? ''
      const listed = { ...accountResponses.keys.keys.value.keys[0], apiKey, project }
      return careless({ email, keys: [careless(listed)] })
    },
    readUsage: async () => careless(accountResponses.usage.week.value),
    rotateKey: async ({ project }, apiKey) => careless({ apiKey: `${apiKey}2`, project, message: 'Rotated' }),
    restrict: async (_account, { allowedIPs, allowedRef }) =>
      careless({ allowedIPs: [...(allowedIPs ?? [])], allowedRef: [...(allowedRef ?? [])] }),
  }

  it('is in no response to another account under concurrency', async () => {
    const recipient = { network: 'near:mainnet', payTo: 'shop.near' }
    const statement = { ...recipient, claims: { ownKey: true }, nonce: '0'.repeat(64), signature: 'signed' }
    const hash = `0x${'ab'.repeat(32)}`
    const changes = { allowedIPs: [], allowedRef: [], webhookUrl: '', name: 'Server', ...statement }
    // The app has neither channels nor holds.
    const asksForNothing = /^\/v1\/(?:channels\/|payments\/|captures|voids|refunds)/
    const hold = { network: 'eip155:8453', paymentInfoHash: hash }
    const writePayload = (path: string) => {
      if (path === '/v1/voids') return hold
      if (path.endsWith('/deadline') || path === '/v1/hold-defaults') return { atDeadline: 'void' }
      return asksForNothing.test(path) ? { ...hold, amount: '1' } : changes
    }
    const { app, readLog } = observed({}, { dashboard })
    await app.ready()
    const routes = app
      .listRoutes()
      .filter(({ access, method }) => access === 'dashboard' && method !== 'HEAD')
    const questions = routes.flatMap(({ method, path }) =>
      tenants.map((tenant) => ({ method, path, tenant })),
    )
    const answers = await Promise.all(
      questions.map(async ({ method, path, tenant }) => ({
        path,
        tenant,
        response: await app.inject({
          method: z.enum(['GET', 'POST', 'DELETE']).parse(method),
          url: path
            .replace('{id}', '9401b76e-f466-496f-8524-886a61ebf067')
            .replace('{network}', 'eip155:8453')
            .replace(/\{(channelId|paymentInfoHash)\}/, hash),
          headers: { authorization: `Bearer ${tenant.apiKey}`, 'idempotency-key': 'one' },
          ...(method === 'POST' ? { payload: writePayload(path) } : {}),
          ...(`${method} ${path}` === 'DELETE /dashboard/recipients' ? { query: recipient } : {}),
        }),
      })),
    )
    expect(answers.length).toBeGreaterThan(9)
    for (const { path, tenant, response } of answers) {
      const expected = asksForNothing.test(path) ? [404] : [200, 201]
      if (!path.includes('/webhook')) expect(expected, path).toContain(response.statusCode)
      for (const stranger of tenants.filter((each) => each !== tenant)) {
        for (const mark of identifiersOf(stranger)) expect(response.body, path).not.toContain(mark)
      }
    }
    const shown = answers.find(({ path, tenant }) => path === '/dashboard/keys' && tenant === tenants[1])
    expect(shown?.response.body).toContain(tenants[1]?.apiKey)
    for (const { apiKey } of tenants) expect(readLog()).not.toContain(apiKey)
  })
})

describe('a request’s line in the log', () => {
  it('contains client, method, path and status', async () => {
    const { app, readLog } = observed({})
    await app.inject({
      url: '/v1/settlements?network=a',
      headers: { 'x-request-id': 'mine' },
      remoteAddress: '203.0.113.9',
    })
    const line = JSON.parse(readLog())
    expect(line).toEqual({
      level: 'info',
      time: expect.any(String),
      requestId: 'mine',
      method: 'GET',
      path: '/v1/settlements',
      status: 400,
      code: 'INVALID_REQUEST',
      durationMs: expect.any(Number),
      remoteAddress: '203.0.113.9',
      msg: 'request.completed',
    })
  })

  it.each(['/health', '/ready', '/metrics'])('is a debug line for the probe %s', async (url) => {
    const { app, readLog } = observed({})
    await app.inject(url)
    expect(JSON.parse(readLog())).toMatchObject({ level: 'debug', path: url })
  })

  it('cannot be split by request content', async () => {
    const { app, readLog } = observed({})
    await app.inject({ url: '/a%0a{"level":"error"}', headers: { 'x-request-id': 'a\tb' } })
    expect(readLog().trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('an application log line', () => {
  it('has secrets removed by field name and by form, and keeps identifiers', () => {
    const { logger, readLog } = observed({})
    const hash = `0x${'cd'.repeat(32)}`
    logger.info(
      {
        transaction: hash,
        authorizationId: `eip155:84532/0xa/${hash}`,
        fingerprint: 'ef'.repeat(32),
        amount: 2n ** 255n,
        secret: new Secret(secrets.password),
        note: `sent ${hash} to ${rpcUrl}`,
        headers: {
          Authorization: secrets.bearer,
          'X-Api-Key': secrets.apiKey,
          'PAYMENT-SIGNATURE': secrets.payment,
        },
        nested: { deep: [{ private_key: secrets.privateKey }, secrets.bareKey] },
        signed: { bytes: '0x02f8', transaction: hash },
        payload: paymentBody(),
        error: errorWithSecrets(),
      },
      'payment.valid',
    )
    expectNoSecret(readLog())
    const line = JSON.parse(readLog())
    expect(line).toMatchObject({
      transaction: hash,
      authorizationId: `eip155:84532/0xa/${hash}`,
      fingerprint: 'ef'.repeat(32),
      amount: String(2n ** 255n),
      secret: '[redacted]',
      note: 'sent [hex] to https://base.rpc.example',
      headers: { Authorization: '[redacted]', 'X-Api-Key': '[redacted]', 'PAYMENT-SIGNATURE': '[redacted]' },
      nested: { deep: [{ private_key: '[redacted]' }, '[hex]'] },
      signed: { bytes: '[redacted]', transaction: hash },
      payload: '[redacted]',
    })
  })
})
