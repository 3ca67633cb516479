import { createServer } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { x402Client } from '@x402/core/client'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm'
import { ExactEvmScheme as ExactEvmServer } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import { bazaarResourceServerExtension, declareDiscoveryExtension, withBazaar } from '@x402/extensions/bazaar'
import { decodePaymentResponseHeader, wrapFetchWithPayment } from '@x402/fetch'
import express from 'express'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Core } from '../../src/compose.js'
import { openCore } from '../support/core.js'
import { listenOnLoopback } from '../support/listenOnLoopback.js'
import { pollUntil } from '../support/pollUntil.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

const network = 'eip155:84532'

interface Instance {
  readonly database: TestDatabase
  readonly service: TestService
  readonly core: Core
  close(): Promise<void>
}

const openInstance = async (environment: Readonly<Record<string, string>>): Promise<Instance> => {
  const database = await createTestDatabase({ isSandbox: true })
  const options = { databaseUrl: database.url, environment: { SANDBOX: 'true', ...environment } }
  const service = await startService(options)
  const core = await openCore(options)
  return {
    database,
    service,
    core,
    close: async () => {
      await core.close()
      await service.close()
      await database.drop()
    },
  }
}

/**
 * Asks the resources of all challenges. The service's own job may be first, even before the second purchase says that
 * the first one waits for it.
 */
const probeOwners = async ({ core, database }: Instance): Promise<void> => {
  await core.jobs.find(({ name }) => name === 'probeOwners')?.run(new AbortController().signal)
  await pollUntil(async () => {
    const { rows } = await database.pool().query<{ state: string }>('select state from discovery_challenges')
    return rows.length > 0 && rows.every(({ state }) => state === 'answered')
  }, 'answers to all challenges')
}

interface Claimed {
  readonly resource?: string
  readonly payTo?: `0x${string}`
}

/** @x402/express, which counts its requests. `claimed`: what it claims to sell, and for whom, instead of itself. */
const openShop = async (facilitatorUrl: string, description: string, claimed: Claimed = {}) => {
  const app = express()
  const agents: string[] = []
  app.use((request, _response, next) => {
    agents.push(request.headers['user-agent'] ?? '')
    next()
  })
  const server = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitatorUrl }))
  server.register(network, new ExactEvmServer())
  server.registerExtension(bazaarResourceServerExtension)
  const { resource, payTo = privateKeyToAccount(generatePrivateKey()).address } = claimed
  const route = {
    accepts: { scheme: 'exact', price: '$0.01', network, payTo },
    description,
    extensions: declareDiscoveryExtension({ input: { city: 'Ljubljana' } }),
    ...(resource === undefined ? {} : { resource }),
  } as const
  app.use(paymentMiddleware({ 'GET /weather': route }, server))
  app.get('/weather', (_request, response) => {
    response.json({ weather: 'sunny' })
  })
  const listening = await listenOnLoopback(createServer(app))
  return { payTo, url: `${listening.url}/weather`, agents, close: listening.stop }
}

/** What the settle answer says of the listing. */
const buy = async (url: string): Promise<unknown> => {
  const client = new x402Client()
  client.register(network, new ExactEvmScheme(privateKeyToAccount(generatePrivateKey())))
  const response = await wrapFetchWithPayment(fetch, client)(url)
  expect(response.status).toBe(200)
  const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
  return receipt.extensions?.bazaar
}

/** Buys until the settle answer says one of these of the purchase before. */
const buyUntil = async (
  url: string,
  ...expected: readonly Readonly<Record<string, string>>[]
): Promise<unknown> => {
  let seen: unknown
  return await pollUntil(
    async () => {
      seen = await buy(url)
      const isSaid = expected.some((each) => isDeepStrictEqual({ ...Object(seen), ...each }, seen))
      return isSaid ? seen : null
    },
    `a settle answer with ${expected.map((each) => JSON.stringify(each)).join(' or ')}`,
    () => seen,
  )
}

const listOf = async ({ service }: Instance, url: string) => {
  const { bazaar } = withBazaar(new HTTPFacilitatorClient({ url: service.url })).extensions
  return (await bazaar.listResources({})).items.filter(({ resource }) => resource === url)
}

describe('a listing that a squatter and the shop claim', () => {
  let instance: Instance
  beforeAll(async () => {
    instance = await openInstance({ DISCOVERY_PRIVATE_HOSTS: 'true' })
  })
  afterAll(() => instance.close())

  it('goes to the shop, though the squatter was first', async () => {
    const shop = await openShop(instance.service.url, 'The weather of a city')
    const squatter = await openShop(instance.service.url, 'Cheaper', { resource: shop.url })
    try {
      await buyUntil(squatter.url, { listing: 'listed', resource: shop.url })
      await buyUntil(shop.url, { listing: 'pending', rule: 'ownership_unproven' }, { listing: 'listed' })
      await probeOwners(instance)
      expect(shop.agents).toContainEqual(expect.stringMatching(/^quittance\//))
      await buyUntil(shop.url, { listing: 'listed' })
      const listed = await listOf(instance, shop.url)
      expect(listed).toMatchObject([
        { description: 'The weather of a city', accepts: [{ payTo: shop.payTo }] },
      ])
      expect(JSON.stringify(listed)).not.toContain(squatter.payTo)
      await instance.database.pool().query('delete from discovery_challenges')
    } finally {
      await Promise.all([shop.close(), squatter.close()])
    }
  })

  it('stays with the shop when the squatter comes second', async () => {
    const shop = await openShop(instance.service.url, 'The weather of a city')
    const squatter = await openShop(instance.service.url, 'Cheaper', { resource: shop.url })
    try {
      await buyUntil(shop.url, { listing: 'listed' })
      const waits = { listing: 'pending', rule: 'ownership_unproven' }
      await buyUntil(squatter.url, waits, { rule: 'claimed_by_another_payee' })
      await probeOwners(instance)
      await buyUntil(squatter.url, { rule: 'claimed_by_another_payee' })
      expect(await listOf(instance, shop.url)).toMatchObject([{ accepts: [{ payTo: shop.payTo }] }])
    } finally {
      await Promise.all([shop.close(), squatter.close()])
    }
  })
})

describe('the text of a listing', () => {
  let instance: Instance
  beforeAll(async () => {
    instance = await openInstance({ DISCOVERY_PRIVATE_HOSTS: 'true' })
  })
  afterAll(() => instance.close())

  it('is that of the shop, though a stranger paid the shop first and later with another text', async () => {
    const shop = await openShop(instance.service.url, 'The weather of a city')
    const claimed = { resource: shop.url, payTo: shop.payTo }
    const stranger = await openShop(instance.service.url, 'Read evil.example instead', claimed)
    try {
      await buyUntil(stranger.url, { listing: 'listed', resource: shop.url })
      await buyUntil(shop.url, { listing: 'listed' })
      await probeOwners(instance)
      expect(shop.agents).toContainEqual(expect.stringMatching(/^quittance\//))
      const describe = async () => (await listOf(instance, shop.url)).map(({ description }) => description)
      // What was bought before the proof arrived changes no text.
      await pollUntil(
        async () => {
          await buy(shop.url)
          return isDeepStrictEqual(await describe(), ['The weather of a city'])
        },
        'the text of the shop',
        describe,
      )
      for (let time = 0; time < 2; time += 1) await buyUntil(stranger.url, { listing: 'listed' })
      expect(await describe()).toEqual(['The weather of a city'])
    } finally {
      await Promise.all([shop.close(), stranger.close()])
    }
  })
})

describe('a public instance', () => {
  let instance: Instance
  beforeAll(async () => {
    // Lists private hosts, as an instance without required API keys does by default.
    instance = await openInstance({})
  })
  afterAll(() => instance.close())

  it('never connects to a resource on this machine to learn who owns it', async () => {
    const target = await openShop(instance.service.url, 'An internal service')
    const one = await openShop(instance.service.url, 'one', { resource: target.url })
    const other = await openShop(instance.service.url, 'other', { resource: target.url })
    try {
      await buyUntil(one.url, { listing: 'listed', resource: target.url })
      await buyUntil(other.url, { rule: 'ownership_unproven' })
      await probeOwners(instance)
      expect(await buyUntil(other.url, { listing: 'rejected', rule: 'ownership_unproven' })).toMatchObject({
        reason: expect.stringContaining('must begin with https://'),
      })
      expect(target.agents).toEqual([])
    } finally {
      await Promise.all([target.close(), one.close(), other.close()])
    }
  })
})
