import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { settleResult } from '../../src/protocol/results.js'
import { openShop } from '../demo/shop.js'
import type { DemoWorld } from '../demo/world.js'
import { worlds } from '../demo/worlds/index.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

const supported = z.object({
  kinds: z.array(z.looseObject({ scheme: z.string(), network: z.string() })),
  signers: z.record(z.string(), z.array(z.string())),
})

const paymentBody = z.looseObject({
  paymentPayload: z.looseObject({}),
  paymentRequirements: z.looseObject({}),
})

describe('one service for all chain families', () => {
  let database: TestDatabase
  let opened: ReadonlyMap<string, DemoWorld>
  let service: TestService

  const findWorld = (family: string): DemoWorld => {
    const world = opened.get(family)
    if (world === undefined) throw new Error(`There is no world of ${family}`)
    return world
  }

  beforeAll(async () => {
    database = await createTestDatabase()
    opened = new Map(
      await Promise.all(Object.entries(worlds).map(async ([name, open]) => [name, await open()] as const)),
    )
    const environment = Object.assign({}, ...[...opened.values()].map((world) => world.environment))
    service = await startService({ databaseUrl: database.url, environment })
  }, 60_000)
  afterAll(async () => {
    await service.close()
    await Promise.all([...opened.values()].map((world) => world.close()))
    await database.drop()
  })

  it('offers the network of each family with its signers', async () => {
    const response = await fetch(`${service.url}/supported`)
    const { kinds, signers } = supported.parse(await response.json())
    for (const { network } of opened.values()) {
      expect(kinds).toContainEqual(expect.objectContaining({ scheme: 'exact', network }))
      expect(signers[`${network.split(':')[0]}:*`]?.length).toBeGreaterThan(0)
    }
  })

  it.each(Object.keys(worlds))(
    'sells through a shop to a customer on %s, and the merchant receives the funds',
    async (family) => {
      const world = findWorld(family)
      const shop = await openShop({ port: 0, facilitatorUrl: service.url, world })
      try {
        const before = await world.balanceOf(world.customer)
        const { network, client } = world
        const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes: [{ network, client }] })
        const response = await pay(`${shop.url}/report`)
        expect(response.status).toBe(200)
        const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
        expect(receipt).toMatchObject({ success: true, network })
        expect(await world.balanceOf(world.merchant)).toBe(10_000n)
        expect(await world.balanceOf(world.customer)).toBe(before - 10_000n)
      } finally {
        await shop.close()
      }
    },
    60_000,
  )

  it.each(
    Object.keys(worlds).flatMap((family) =>
      ['/verify', '/settle'].flatMap((path) => ['payTo', 'asset'].map((field) => [family, path, field])),
    ),
  )('on %s, %s names a malformed %s of the requirements as INVALID_REQUEST', async (family, path, field) => {
    const body = paymentBody.parse(await findWorld(family).signPayment())
    const terms = { ...body.paymentRequirements, [field]: 'gold' }
    const response = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...body,
        paymentPayload: { ...body.paymentPayload, accepted: terms },
        paymentRequirements: terms,
      }),
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringMatching(`^paymentRequirements.${field}: must be an address of `),
    })
  })

  it.each(Object.keys(worlds))(
    'settles a payment on %s once, and answers a second request as a duplicate',
    async (family) => {
      const world = findWorld(family)
      const body = JSON.stringify(await world.signPayment())
      const before = await world.balanceOf(world.merchant)
      const settle = async () => {
        const headers = { 'content-type': 'application/json' }
        const response = await fetch(`${service.url}/settle`, { method: 'POST', headers, body })
        return settleResult.parse(await response.json())
      }
      const answers = await Promise.all([settle(), settle(), settle()])
      expect(answers.filter(({ success }) => success)).toHaveLength(1)
      expect(await settle()).toMatchObject({ success: false, errorReason: 'duplicate_settlement' })
      expect(await world.balanceOf(world.merchant)).toBe(before + 10_000n)
    },
    60_000,
  )
})
