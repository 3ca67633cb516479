import { createRequire } from 'node:module'
import { HTTPFacilitatorClient as T402Client } from '@t402/core/server'
import { HTTPFacilitatorClient as X402Client } from '@x402/core/server'
import { declareDiscoveryExtension as declareX402, withBazaar as withX402 } from '@x402/extensions/bazaar'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Fields } from '../../src/protocol/fields.js'
import { createDiscoveryCatalogue } from '../../src/stores/postgres/discovery/discoveryCatalogue.js'
import { testApp } from '../http/support/app.js'
import { createTestDiscovery, merchant } from '../support/discovery.js'
import { useTestDatabase } from '../support/postgres.js'

// Its ES modules import a path of ajv that Node does not resolve.
const t402: typeof import('@t402/extensions/bazaar') = createRequire(import.meta.url)(
  '@t402/extensions/bazaar',
)

/** As the published packages' server extension completes it at the request. */
const withMethod = (declared: object | undefined, method: string): Fields => {
  const copy = structuredClone(declared ?? {})
  if (!('info' in copy) || typeof copy.info !== 'object' || copy.info === null) return { ...copy }
  const input = 'input' in copy.info && typeof copy.info.input === 'object' ? copy.info.input : {}
  return { ...copy, info: { ...copy.info, input: { ...input, method } } }
}

describe('unmodified clients of discovery', () => {
  const { pool } = useTestDatabase()
  let app: FastifyInstance
  let url: string
  beforeAll(async () => {
    const discovery = createTestDiscovery(createDiscoveryCatalogue(pool))
    app = testApp({ discovery: discovery.useCases })
    url = await app.listen({ host: '127.0.0.1', port: 0 })
    const declarations = [
      declareX402({ input: { city: 'x' }, inputSchema: { properties: { city: { type: 'string' } } } }).bazaar,
      t402.declareDiscoveryExtension({ input: { city: 'x' }, output: { example: { sun: true } } }).bazaar,
    ]
    for (const [index, declared] of declarations.entries()) {
      const answer = await discovery.settle({
        url: `https://weather${index}.example/forecast?city=x`,
        bazaar: withMethod(declared, 'GET'),
        details: { description: 'Forecast', serviceName: 'Weather', tags: ['sky'] },
      })
      expect(answer).toMatchObject({ status: 'success' })
    }
    const tool = declareX402({ toolName: 'translate', inputSchema: { type: 'object' } }).bazaar
    expect(await discovery.settle({ url: 'https://mcp.example/', bazaar: tool })).toMatchObject({
      status: 'success',
    })
  })
  afterAll(() => app.close())

  it('@x402/extensions lists and searches', async () => {
    const { bazaar } = withX402(new X402Client({ url })).extensions
    const page = await bazaar.listResources({
      type: 'http',
      network: 'eip155:84532',
      scheme: 'exact',
      payTo: merchant,
      extensions: 'bazaar',
      limit: 1,
      offset: 1,
    })
    expect(page).toMatchObject({ x402Version: 2, pagination: { limit: 1, offset: 1, total: 2 } })
    expect(page.items).toMatchObject([
      {
        type: 'http',
        x402Version: 2,
        accepts: [{ scheme: 'exact', amount: '10000', payTo: merchant, maxTimeoutSeconds: 60 }],
        description: 'Forecast',
        serviceName: 'Weather',
        extensions: { bazaar: { info: { input: { queryParams: { city: 'x' } } } } },
      },
    ])
    const found = await bazaar.search({ query: 'the weather forecast', limit: 1 })
    expect(found).toMatchObject({ x402Version: 2, partialResults: false, pagination: { limit: 1 } })
    const cursor = found.pagination?.cursor ?? undefined
    const next = await bazaar.search({
      query: 'the weather forecast',
      limit: 1,
      ...(cursor ? { cursor } : {}),
    })
    expect([...found.resources, ...next.resources].map(({ resource }) => resource).toSorted()).toEqual([
      'https://weather0.example/forecast',
      'https://weather1.example/forecast',
    ])
    expect(next.pagination?.cursor).toBeNull()
    expect((await bazaar.search({ query: 'translate', type: 'mcp' })).resources).toHaveLength(1)
  })

  it('@t402/extensions lists', async () => {
    const client = t402.withBazaar(new T402Client({ url }))
    const page = await client.extensions.discovery.listResources({ type: 'http', limit: 2, offset: 0 })
    expect(page).toMatchObject({ total: 2, limit: 2, offset: 0 })
    expect(page.resources).toHaveLength(2)
    expect(page.resources[0]).toMatchObject({
      url: expect.stringMatching(/^https:\/\/weather[01]\.example\/forecast$/),
      type: 'http',
      metadata: { provider: 'Weather', description: 'Forecast', tags: ['sky'] },
    })
  })
})
