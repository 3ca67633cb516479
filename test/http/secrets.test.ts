import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/errors.js'
import { createLogger } from '../../src/platform/logger.js'
import { Secret } from '../../src/platform/secret.js'
import type { CoreUseCases } from '../../src/usecases/useCases.js'
import { testApp } from './support/app.js'
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

/** An app whose log a test can read. */
const observed = (core: Partial<CoreUseCases>, operatorToken?: string) => {
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

/** An error as viem throws them, with everything in it that must not get out. */
const spillingError = () =>
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
        code: 'ECONNREFUSED',
        url: rpcUrl,
        config: { key: secrets.privateKey },
        response: { body: secrets.bareKey },
      },
    ),
  })

describe('secrets in an error (A33)', () => {
  it.each([
    ['that nobody expected', () => spillingError()],
    [
      'behind one of ours',
      () =>
        new AppError('VERIFICATION_FAILED', 'The payment could not be verified', { cause: spillingError() }),
    ],
    ['among several', () => new AggregateError([spillingError()], `all of ${rpcUrl} failed`)],
  ])('%s reach neither the answer nor the log', async (_name, makeError) => {
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
    expect(readLog()).toContain('ECONNREFUSED')
    expect(readLog()).toContain('secrets.test.ts')
  })
})

describe('secrets in a request (A33)', () => {
  it('reach neither the answer nor the log, wherever they stand', async () => {
    const { app, readLog } = observed({}, secrets.operatorToken)
    const headers = {
      authorization: `Bearer ${secrets.bearer}`,
      'x-api-key': secrets.apiKey,
      'payment-signature': secrets.payment,
      'x-payment': secrets.payment,
      cookie: `session=${secrets.bearer}`,
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
    ] as const
    for (const request of requests) {
      const response = await app.inject({
        ...request,
        headers: { ...headers, 'content-type': 'application/json' },
      })
      expectNoSecret(response.body)
      expectNoSecret(JSON.stringify(response.headers))
    }
    expectNoSecret(readLog())
    expect(
      readLog()
        .split('\n')
        .filter((line) => line.includes('"msg":"request"')),
    ).toHaveLength(requests.length)
  })
})

describe('a request’s line in the log', () => {
  it('names who asked for what and what became of it', async () => {
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
      msg: 'request',
    })
  })

  it.each(['/health', '/ready', '/metrics'])('is a debug line for the probe %s', async (url) => {
    const { app, readLog } = observed({})
    await app.inject(url)
    expect(JSON.parse(readLog())).toMatchObject({ level: 'debug', path: url })
  })

  it('cannot be broken up by what the caller sends', async () => {
    const { app, readLog } = observed({})
    await app.inject({ url: '/a%0a{"level":"error"}', headers: { 'x-request-id': 'a\tb' } })
    expect(readLog().trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('a log line of our own', () => {
  it('loses secrets by the name of the field and by their look, and keeps identifiers', () => {
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
        error: spillingError(),
      },
      `message with ${secrets.privateKey}`,
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
