import { afterAll, describe, expect, it } from 'vitest'
import { AppError } from '../../src/errors.js'
import type { SchemaValidator, ValidationTurn } from '../../src/ports/discovery.js'
import type { DiscoveryUseCases } from '../../src/usecases/discovery/useCases.js'
import { createValidateDeclaration } from '../../src/usecases/discovery/validateDeclaration.js'
import { bazaarOf } from '../support/discovery.js'
import { pollUntil } from '../support/pollUntil.js'
import {
  backtracking,
  createPatientValidator,
  useManualDeadlines,
  victim,
} from '../support/schemaValidator.js'
import { keyOwner, knownKey, testApp } from './support/app.js'

const schemaValidator = createPatientValidator()
useManualDeadlines()
afterAll(() => schemaValidator.close())

const id = '7d0c1f6e-7a0e-4c53-9f5b-0c1de6b2a4b7'
const url = 'https://weather.example/v1/forecast'

const open = async (
  discovery: Partial<DiscoveryUseCases> = {},
  validator: SchemaValidator = schemaValidator,
) => {
  const app = testApp({
    discovery: {
      validateDeclaration: createValidateDeclaration({
        allowsPrivateHosts: false,
        schemaValidator: validator,
      }),
      ...discovery,
    },
  })
  await app.ready()
  return app
}
const validate = async (payload: object) => {
  const app = await open()
  const response = await app.inject({ method: 'POST', url: '/discovery/validate', payload })
  return { status: response.statusCode, body: response.json() }
}

describe('the discovery endpoints', () => {
  it.each(['/discovery/resources', '/v1/discovery/resources'])('GET %s passes every filter', async (path) => {
    const queries: unknown[] = []
    const app = await open({
      listResources: async (query) => {
        queries.push(query)
        throw new AppError('NOT_FOUND', 'x')
      },
    })
    const query =
      'type=mcp&network=base&scheme=exact&asset=0xA&payTo=0xB&extensions=bazaar&q=rain&minAmount=1&maxAmount=20&limit=1000&offset=10000'
    await app.inject({ url: `${path}?${query}` })
    await app.inject({ url: path })
    expect(queries).toEqual([
      {
        type: 'mcp',
        network: 'base',
        scheme: 'exact',
        asset: '0xA',
        payTo: '0xB',
        extensions: 'bazaar',
        q: 'rain',
        minAmount: 1n,
        maxAmount: 20n,
        limit: 100,
        offset: 10_000,
      },
      { limit: 20, offset: 0 },
    ])
  })

  it.each([
    ['/discovery/resources?limit=0', 'limit'],
    ['/discovery/resources?limit=1e1', 'limit'],
    ['/discovery/resources?offset=10001', 'offset'],
    ['/discovery/resources?netwrok=base', 'netwrok'],
    ['/discovery/resources?network=a&network=b', 'network'],
    ['/discovery/resources?type=ftp', 'type'],
    ['/discovery/resources?minAmount=-1', 'minAmount'],
    [`/discovery/resources?maxAmount=${'9'.repeat(78)}`, 'maxAmount'],
    ['/discovery/search', 'query'],
    [`/discovery/search?query=${'x'.repeat(401)}`, 'query'],
    ['/discovery/resources/1', 'id'],
  ])('GET %s names %s', async (path, field) => {
    const app = await open()
    const response = await app.inject({ url: path })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining(field),
    })
  })

  it.each([
    ['DELETE', `/discovery/resources/${id.toUpperCase()}`, 'unlist'],
    ['DELETE', `/v1/discovery/resources/${id}`, 'unlist'],
    ['POST', `/discovery/resources/${id}/relist`, 'relist'],
    ['POST', `/v1/discovery/resources/${id}/relist`, 'relist'],
  ] as const)('%s %s carries the key or the signature', async (method, path, action) => {
    const calls: unknown[] = []
    const app = await open({
      changeListing: async (...given) => {
        calls.push(given)
        return { id, resource: url, listing: 'unlisted' }
      },
    })
    const signature = {
      network: 'base',
      address: '0xA',
      issuedAt: '2026-01-01T00:00:00Z',
      signature: '0x00',
    }
    const keyed = await app.inject({ method, url: path, headers: { 'x-api-key': knownKey } })
    await app.inject({ method, url: path, payload: signature })
    expect(keyed.json()).toEqual({ id, resource: url, listing: 'unlisted' })
    expect(calls).toEqual([
      [id, action, { accountId: keyOwner.id, signature: null, requester: { name: keyOwner.id, site: null } }],
      [id, action, { accountId: null, signature, requester: { name: '127.0.0.1', site: null } }],
    ])
  })

  it('a key that may not manage changes no listing', async () => {
    const app = testApp({
      dashboard: {
        authenticate: async ({ scope }) => {
          if (scope === 'manage') throw new AppError('FORBIDDEN', 'This key may not')
          return keyOwner
        },
      },
    })
    const response = await app.inject({
      method: 'DELETE',
      url: `/discovery/resources/${id}`,
      headers: { 'x-api-key': knownKey },
    })
    expect(response.statusCode).toBe(403)
  })
})

describe('POST /discovery/validate', () => {
  const bazaar = bazaarOf()
  const terms = { scheme: 'exact', network: 'base', payTo: '0xA' }
  const outputSchema = { input: { type: 'http', method: 'GET' } }

  it.each([
    ['a bare declaration', { ...bazaar, resource: url }, 2],
    ['extensions and resource', { resource: url, extensions: { bazaar } }, 2],
    [
      'a 402 answer of version 2',
      { x402Version: 2, resource: { url }, accepts: [terms], extensions: { bazaar } },
      2,
    ],
    [
      'a payment payload',
      { x402Version: 2, resource: { url }, accepted: terms, payload: {}, extensions: { bazaar } },
      2,
    ],
    [
      'a settle request',
      { paymentPayload: { resource: { url }, extensions: { bazaar } }, paymentRequirements: terms },
      2,
    ],
    [
      'requirements that declare',
      { paymentRequirements: { ...terms, resource: url, extensions: { bazaar } } },
      2,
    ],
    [
      'a 402 answer of version 1',
      { x402Version: 1, accepts: [{ ...terms, resource: url, outputSchema }] },
      1,
    ],
  ])('explains %s', async (_name, body, version) => {
    expect(await validate(body)).toMatchObject({
      status: 200,
      body: { wouldBeListed: true, version, key: { url }, type: 'http' },
    })
  })

  it('says which rule fails, and why', async () => {
    const { body } = await validate({
      ...bazaarOf({ type: 'http', method: 'BREW' }),
      resource: 'http://localhost/',
    })
    expect(body).toMatchObject({ wouldBeListed: false, rule: 'method' })
    expect(body.key).toBeUndefined()
    const failed = body.rules.filter(({ status }: { status: string }) => status === 'failed')
    expect(failed).toMatchObject([
      {
        rule: 'method',
        effect: 'rejects',
        sentence: expect.stringContaining('GET'),
        problem: expect.any(String),
      },
      { rule: 'host_public' },
    ])
  })

  // Takes the validator as long as it may.
  const costly = {
    resource: url,
    info: { input: { type: 'http', method: 'GET' }, text: victim },
    schema: { properties: { text: backtracking } },
  }

  it('checks one declaration of an address, lets one wait, and lets other addresses take turns', async () => {
    const app = await open()
    const ended: string[] = []
    const ask = async (remoteAddress: string, payload: object) => {
      const response = await app.inject({
        method: 'POST',
        url: '/discovery/validate',
        payload,
        remoteAddress,
      })
      ended.push(`${remoteAddress} ${response.statusCode}`)
      return response
    }
    const hostile = Array.from({ length: 4 }, () => ask('203.0.113.9', costly))
    const other = await ask('198.51.100.7', { ...bazaar, resource: url })
    expect(other.json()).toMatchObject({ wouldBeListed: true })
    expect(ended.filter((each) => each === '203.0.113.9 200')).toHaveLength(1)
    const responses = await Promise.all(hostile)
    expect(responses.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 200, 503, 503])
    expect(responses.find(({ statusCode }) => statusCode === 503)?.headers['retry-after']).toBe('2')
  })

  it('leaves out what its caller no longer waits for', async () => {
    const turns: ValidationTurn[] = []
    const app = await open(
      {},
      {
        ...schemaValidator,
        validate: async (schema, value, turn) => {
          turns.push(turn)
          await new Promise((resolve) => turn.signal.addEventListener('abort', resolve))
          return await schemaValidator.validate(schema, value, turn)
        },
      },
    )
    const listening = await app.listen({ host: '127.0.0.1', port: 0 })
    const hungUp = new AbortController()
    const response = fetch(`${listening}/discovery/validate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...bazaar, resource: url }),
      signal: hungUp.signal,
    }).catch(() => null)
    await pollUntil(() => turns.length === 1, 'the declaration to be checked')
    hungUp.abort()
    await response
    await pollUntil(() => turns[0]?.signal.aborted, 'the check to be dropped')
    await app.close()
  })

  it('refuses a body without declaration', async () => {
    expect(await validate({ resource: url })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST' },
    })
  })

  it('refuses 5 MB before it reads them', async () => {
    const info = { input: { type: 'http', method: 'GET', queryParams: { a: 'x'.repeat(5_000_000) } } }
    expect(await validate({ info, schema: {} })).toMatchObject({
      status: 413,
      body: { code: 'REQUEST_TOO_LARGE' },
    })
  })
})
