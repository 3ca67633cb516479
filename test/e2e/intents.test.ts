import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { completedRequirements } from '../../src/protocol/accepts.js'
import { createdIntent, type IntentRequirements, intentPage } from '../../src/protocol/intents.js'
import { eventPage } from '../../src/protocol/webhooks.js'
import type { DemoWorld } from '../demo/world.js'
import { openEvmWorld } from '../demo/worlds/evm.js'
import { callIntents, payByIntent, signAsCustomer } from '../support/intents.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

const usdc = 'USDC'

describe('an intent on a local EVM chain', () => {
  let database: TestDatabase
  let world: DemoWorld
  let service: TestService
  beforeAll(async () => {
    database = await createTestDatabase()
    world = await openEvmWorld()
    service = await startService({ databaseUrl: database.url, environment: world.environment })
  })
  afterAll(async () => {
    await service.close()
    await world.close()
    await database.drop()
  })

  it('is created, routed, signed by a published client and executed: the payee has the funds', async () => {
    const before = await world.balanceOf(world.merchant)
    const { routed, executed, execute } = await payByIntent({
      url: service.url,
      terms: { payer: world.customer, payee: { eip155: world.merchant }, asset: usdc },
      sign: signAsCustomer(world),
    })
    expect(routed.selectedRoute).toMatchObject({ scheme: 'exact', network: world.network, amount: '10000' })
    expect(executed).toMatchObject({ status: 'completed', transaction: expect.stringMatching(/^0x/) })
    expect(executed.intent).toMatchObject({ status: 'completed', settledAmount: '10000' })
    expect((await world.balanceOf(world.merchant)) - before).toBe(10_000n)
    // Again, after a lost answer: nothing more is paid.
    expect(await execute()).toEqual(executed)
    expect((await world.balanceOf(world.merchant)) - before).toBe(10_000n)
  })

  it('answers the requirements that /accepts answers', async () => {
    const { routed } = await payByIntent({
      url: service.url,
      terms: { payer: world.customer, payee: world.merchant, asset: usdc },
      sign: signAsCustomer(world),
    })
    const { scheme, network, amount, asset, payTo } = routed.paymentRequirements
    const response = await fetch(`${service.url}/accepts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ x402Version: 2, accepts: [{ scheme, network, amount, asset, payTo }] }),
    })
    const { accepts } = completedRequirements.parse(await response.json())
    expect(accepts).toEqual([routed.paymentRequirements])
  })
})

describe('an intent in the sandbox', () => {
  let database: TestDatabase
  let service: TestService
  beforeAll(async () => {
    database = await createTestDatabase({ isSandbox: true })
    service = await startService({ databaseUrl: database.url, environment: { SANDBOX: 'true' } })
  })
  afterAll(async () => {
    await service.close()
    await database.drop()
  })

  const payer = `0x${'0'.repeat(34)}CAFE11`
  const payee = '0x501c54CF2d651A79b6F1ef8b1727A4ab80f6128c'
  const sign = async (accepted: IntentRequirements) => ({
    x402Version: 2,
    accepted,
    payload: { payer, nonce: randomBytes(32).toString('hex') },
  })

  it('is paid by a sandbox payer of unknown balance', async () => {
    const terms = { payer, payee, asset: usdc, targetNetwork: 'base-sepolia' }
    const { created, executed } = await payByIntent({ url: service.url, terms, sign })
    expect(created.recommendedRoute).toMatchObject({ network: 'eip155:84532', balance: null })
    expect(executed.status).toBe('completed')
  })

  it('without an account is cancelled by its creator, not by a stranger who repeats body and key', async () => {
    const post = (path: string, headers: Record<string, string>, body?: object) =>
      fetch(`${service.url}/v1/intent${path}`, {
        method: 'POST',
        headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    const terms = { payer, payee, amount: '10000', asset: usdc, targetNetwork: 'base-sepolia' }
    const create = async () =>
      createdIntent.parse(await (await post('', { 'idempotency-key': 'order-1' }, terms)).json())
    const mine = await create()
    const repeated = await create()
    expect(mine.intentToken).toMatch(/^qtn_intent_[0-9a-f]{64}$/)
    expect(repeated.intentToken).toBeUndefined()
    const cancel = async (token?: string) =>
      (await post(`/${repeated.intent.id}/cancel`, token === undefined ? {} : { 'x-intent-token': token }))
        .status
    expect([await cancel(), await cancel(`qtn_intent_${'0'.repeat(64)}`)]).toEqual([403, 403])
    const shown = await (await fetch(`${service.url}/v1/intent/${mine.intent.id}`)).text()
    expect(shown).toContain('"pending"')
    expect(shown).not.toMatch(/qtn_intent_|digest/)
    expect(await cancel(mine.intentToken)).toBe(200)
  })

  it('of an account is private, and is reported in its events', async () => {
    const json = { 'content-type': 'application/json' }
    const registered = await fetch(`${service.url}/register`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ email: 'intents@example.com', projectName: 'try' }),
    })
    const { apiKey } = z.object({ apiKey: z.string() }).parse(await registered.json())
    const headers = { authorization: `Bearer ${apiKey}` }
    const terms = { payer, payee, asset: usdc, targetNetwork: 'base-sepolia', metadata: { order: '4711' } }
    const { created } = await payByIntent({ url: service.url, headers, terms, sign })
    const path = `/${created.intent.id}`
    expect((await fetch(`${service.url}/v1/intent${path}`)).status).toBe(404)
    const listed = await callIntents({ url: service.url, headers }, '', { shape: intentPage })
    expect(listed.intents).toMatchObject([{ id: created.intent.id, status: 'completed' }])
    const { events } = eventPage.parse(await (await fetch(`${service.url}/v1/events`, { headers })).json())
    expect(events.map(({ type }) => type).filter((type) => type.startsWith('intent.'))).toEqual([
      'intent.created',
      'intent.routed',
      'intent.executing',
      'intent.completed',
    ])
    expect(events.at(-1)?.data).toMatchObject({
      id: created.intent.id,
      status: 'completed',
      metadata: { order: '4711' },
    })
  })
})
