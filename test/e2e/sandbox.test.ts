import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { settlementView, settleResult, verifyResult } from '../../src/protocol/results.js'
import {
  createdInbox,
  inboxView,
  type ScenarioRequest,
  sandboxAddressList,
  scenarioView,
} from '../../src/protocol/sandbox.js'
import { pollUntil } from '../support/pollUntil.js'
import { createTestDatabase, useTestDatabase } from '../support/postgres.js'
import { sandboxTestnets } from '../support/sandbox/networks.js'
import { sandboxUpto } from '../support/sandbox/streams.js'
import { startService, type TestService } from '../support/service.js'

const network = 'eip155:84532'

const database = useTestDatabase({ isSandbox: true })
let service: TestService
beforeAll(async () => {
  service = await startService({
    databaseUrl: database.url,
    environment: { SANDBOX: 'true', TIERS: JSON.stringify({ tiny: tier(3), wide: tier(1_000) }) },
  })
})
afterAll(() => service.close())

const tier = (monthlyQuota: number) => ({ name: 'Tiny', monthlyQuota, rpmLimit: -1 })

const ask = async (path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const response = await fetch(`${service.url}${path}`, {
    ...(body === undefined
      ? {}
      : {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        }),
    ...(body === undefined ? { headers } : {}),
  })
  return { status: response.status, headers: response.headers, json: await response.json() }
}

const verify = async (body: unknown) => verifyResult.parse((await ask('/verify', body)).json)
const settle = async (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  settleResult.parse((await ask('/settle', body, headers)).json)
const script = async (given: Omit<ScenarioRequest, 'network'>) =>
  scenarioView.parse((await ask('/sandbox/scenarios', { network, ...given })).json)
const advance = async (scenarioId: string, seconds: number) =>
  scenarioView.parse((await ask('/sandbox/clock/advance', { scenarioId, seconds })).json)
const statusOf = async (settlementId: string | undefined) =>
  settlementView.parse((await ask(`/v1/settlements/${settlementId}`)).json).status

const settleUsage = async () => {
  const body = { ...(await sandboxUpto()), settleAmount: '7000' }
  const key = { 'idempotency-key': 'usage-1' }
  return { settled: await settle(body, key), again: await settle(body, key) }
}

const countReorgs = async () => {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  return Number(/^quittance_settlements_reorged_total\{network="eip155:84532"\} (\d+)$/m.exec(text)?.[1] ?? 0)
}

const register = async (email: string) => {
  const { json } = await ask('/register', { email, projectName: 'try' })
  const { apiKey } = z.object({ apiKey: z.string() }).parse(json)
  return { authorization: `Bearer ${apiKey}` }
}

const openInbox = async (key: Readonly<Record<string, string>>, failures: number) => {
  const inbox = createdInbox.parse((await ask('/sandbox/inbox', { failures })).json)
  const { json } = await ask('/dashboard/webhook', { webhookUrl: inbox.url }, key)
  const { secret } = z.object({ secret: z.string() }).parse(json)
  const read = async () => inboxView.parse((await ask(`/sandbox/inbox/${inbox.id}`)).json)
  return { inbox, secret, read }
}

describe('the sandbox', () => {
  it('says in every answer that nothing is real, errors included', async () => {
    for (const path of [
      '/health',
      '/ready',
      '/info',
      '/supported',
      '/tiers',
      '/sandbox/addresses',
      '/nowhere',
    ]) {
      const { headers, json } = await ask(path)
      expect({ path, json }).toMatchObject({ path, json: { sandbox: true } })
      expect(headers.get('x-sandbox')).toBe('true')
    }
    expect((await ask('/verify', { paymentPayload: 5 })).json).toMatchObject({
      code: 'INVALID_REQUEST',
      sandbox: true,
    })
    expect((await ask('/info')).json).toMatchObject({ features: { sandbox: true } })
  })

  it('serves its seven testnets without a key', async () => {
    const { json } = await ask('/supported')
    const { kinds } = z
      .object({ kinds: z.array(z.object({ payVersion: z.number(), network: z.string() })) })
      .parse(json)
    const listed = new Set(kinds.filter(({ payVersion }) => payVersion === 2).map((kind) => kind.network))
    for (const each of sandboxTestnets) {
      expect(listed).toContain(each)
    }
  })

  it('answers each ready request as it says, on every family', async () => {
    const { addresses } = sandboxAddressList.parse((await ask('/sandbox/addresses')).json)
    expect(new Set(addresses.map(({ family }) => family)).size).toBe(4)
    await Promise.all(
      addresses.map(async ({ address, request, ...expected }) => {
        expect({ address, answer: await verify(request) }).toMatchObject({ address, answer: expected.verify })
        expect({ address, answer: await settle(request) }).toMatchObject({ address, answer: expected.settle })
      }),
    )
  })

  it.each(sandboxTestnets)('writes a payment of each fixed payer by its name on %s', async (on) => {
    const { addresses } = sandboxAddressList.parse((await ask('/sandbox/addresses')).json)
    for (const { name, verify: expected } of addresses.filter(({ networks }) => networks.includes(on))) {
      const { json: body } = await ask(`/sandbox/payments/${name.toLowerCase()}?network=${on}`)
      expect(body).toMatchObject({ paymentRequirements: { network: on } })
      expect({ name, answer: await verify(body) }).toMatchObject({ name, answer: expected })
    }
    expect(await ask(`/sandbox/payments/CAFE00?network=${on}`)).toMatchObject({
      status: 400,
      json: {
        message: expect.stringContaining(`payer: must be an address of ${on}, or the name of a payer`),
      },
    })
  })

  it('lists signers of each of its families', async () => {
    const { json } = await ask('/supported')
    const { signers } = z.object({ signers: z.record(z.string(), z.array(z.string())) }).parse(json)
    for (const family of ['eip155:*', 'solana:*', 'ton:*', 'tron:*']) {
      expect({ family, signers: signers[family] }).toEqual({ family, signers: [expect.any(String)] })
    }
  })

  it('answers the settlement of usage with block and gas, as a chain does', async () => {
    const { settled, again } = await settleUsage()
    expect(settled).toMatchObject({
      success: true,
      settledAmount: '7000',
      maxAmount: '10000',
      blockNumber: expect.any(Number),
      gasUsed: expect.stringMatching(/^[1-9][0-9]*$/),
    })
    expect(again).toEqual(settled)
  })

  it('gives two callers two payments, and one payment one success', async () => {
    const read = async () => {
      const { addresses } = sandboxAddressList.parse((await ask('/sandbox/addresses')).json)
      return addresses.find(({ address }) => /cafe11$/i.test(address))?.request
    }
    const [first, second] = [await read(), await read()]
    expect(await settle(first)).toMatchObject({ success: true })
    expect(await settle(second)).toMatchObject({ success: true })
    expect(await settle(first)).toMatchObject({ errorReason: 'duplicate_settlement' })
  })

  it('replays under an Idempotency-Key, and refuses another payload', async () => {
    const [one, two] = [await script({}), await script({})]
    const first = await settle(one.request, { 'idempotency-key': 'order-1' })
    const again = await ask('/settle', one.request, { 'idempotency-key': 'order-1' })
    expect(again.headers.get('x-idempotency-replayed')).toBe('true')
    expect(settleResult.parse(again.json)).toEqual(first)
    expect(two.payer).not.toBe(one.payer)
    const other = await ask('/settle', two.request, { 'idempotency-key': 'order-1' })
    expect(other).toMatchObject({ status: 409, json: { code: 'PAYLOAD_MISMATCH' } })
  })

  it('counts against the quota of a key, and refuses beyond it', async () => {
    const key = await register('quota@example.com')
    for (let paid = 0; paid < 3; paid += 1) {
      expect(await settle((await script({})).request, key)).toMatchObject({ success: true })
    }
    const { status, json } = await ask('/settle', (await script({})).request, key)
    expect(status).toBe(429)
    expect(json).toMatchObject({ code: 'QUOTA_EXCEEDED', sandbox: true })
  })
})

describe('a scenario', () => {
  it('verifies, then fails to settle', async () => {
    const { request } = await script({ settle: { failsFor: 'insufficient_funds' } })
    expect(await verify(request)).toMatchObject({ isValid: true })
    expect(await settle(request)).toMatchObject({ success: false, errorReason: 'insufficient_funds' })
  })

  it('is refused by verify for the reason that it names', async () => {
    const { request } = await script({ verify: { refusedFor: 'insufficient_funds' } })
    expect(await verify(request)).toMatchObject({ isValid: false, invalidReason: 'insufficient_funds' })
    expect(await settle(request)).toMatchObject({ success: false, errorReason: 'insufficient_funds' })
  })

  it('is pending for 45 s of its own clock, then confirmed', async () => {
    const { id, request } = await script({ settle: { pendingSeconds: 45 } })
    const pending = await settle(request)
    expect(pending).toMatchObject({ success: false, errorReason: 'settlement_pending', status: 'pending' })
    await advance(id, 44)
    expect(await statusOf(pending.settlementId)).toBe('pending')
    expect(await advance(id, 1)).toMatchObject({ clockSeconds: 45 })
    expect(await statusOf(pending.settlementId)).toBe('confirmed')
    expect(await settle(request)).toMatchObject({ success: true, transaction: pending.transaction })
  })

  it('is pending, and then fails', async () => {
    const { id, request } = await script({ settle: { pendingSeconds: 45, failsFor: 'token_paused' } })
    const { settlementId } = await settle(request)
    await advance(id, 46)
    expect(await statusOf(settlementId)).toBe('failed')
  })

  it('loses its block after two others, and is confirmed in another', async () => {
    const { id, request } = await script({ reorg: { afterBlocks: 2 } })
    const { settlementId, success } = await settle(request)
    expect(success).toBe(true)
    await advance(id, 1)
    expect(await statusOf(settlementId)).toBe('confirmed')
    const before = await countReorgs()
    await advance(id, 5)
    // Metrics are up to a second old.
    await pollUntil(async () => (await countReorgs()) === before + 1, 'the reorg to be counted')
    expect(await statusOf(settlementId)).toBe('confirmed')
  })

  it('loses its block, and its payment with it', async () => {
    const { id, request } = await script({ reorg: { afterBlocks: 2, failsFor: 'insufficient_funds' } })
    const { settlementId } = await settle(request)
    await advance(id, 6)
    expect(await statusOf(settlementId)).toBe('failed')
  })

  it('delivers its webhook at the fourth attempt where the inbox fails three times, on its own clock', async () => {
    const key = await register('webhooks@example.com')
    const { secret, read } = await openInbox(key, 3)
    const { id, request } = await script({ settle: { pendingSeconds: 45 } })
    await settle(request, key)
    await advance(id, 46)
    await advance(id, 400)
    const { messages } = await read()
    const confirmed = messages.filter(({ body }) => body.includes('settlement.confirmed')).reverse()
    const statuses = messages.map(({ status }) => status).reverse()
    expect(statuses.slice(0, 3)).toEqual([500, 500, 500])
    expect(statuses.slice(3).every((status) => status === 200)).toBe(true)
    const delivered = confirmed.at(-1)
    expect(delivered?.status).toBe(200)
    expect(() => new Webhook(secret).verify(delivered?.body ?? '', delivered?.headers ?? {})).not.toThrow()
  })

  it('moves no other clock, payment or webhook', async () => {
    const [one, two] = [
      await script({ settle: { pendingSeconds: 45 } }),
      await script({ settle: { pendingSeconds: 45 } }),
    ]
    const other = await settle(two.request)
    await settle(one.request)
    await advance(one.id, 100)
    expect(await statusOf(other.settlementId)).toBe('pending')
    expect(scenarioView.parse((await ask(`/sandbox/scenarios/${two.id}`)).json).clockSeconds).toBe(0)
  })

  it.each([
    ['another network', { network: 'eip155:8453' }, /^network: must be one of/],
    [
      'a reorg where there are none',
      { network: 'ton:testnet', reorg: { afterBlocks: 2 } },
      /^reorg: there are none/,
    ],
    ['an unknown reason', { network, verify: { refusedFor: 'bad_weather' } }, /verify\.refusedFor/],
    ['a negative time', { network, settle: { pendingSeconds: -1 } }, /settle\.pendingSeconds/],
    ['an endless time', { network, settle: { pendingSeconds: 1e12 } }, /settle\.pendingSeconds/],
    ['an unknown field', { network, settles: {} }, /unknown field/],
    ['a flood of failures', { network, webhook: { failures: 1_000 } }, /webhook\.failures/],
  ])('is refused with %s', async (_name, body, message) => {
    const { status, json } = await ask('/sandbox/scenarios', body)
    expect(status).toBe(400)
    expect(json).toMatchObject({ code: 'INVALID_REQUEST', message: expect.stringMatching(message) })
  })

  it('that does not exist is 404, as is an inbox', async () => {
    const id = '5d3a4c1e-8f0b-4a52-9c67-2b1f0e9d8a73'
    for (const path of [`/sandbox/scenarios/${id}`, `/sandbox/inbox/${id}`]) {
      expect(await ask(path)).toMatchObject({ status: 404, json: { code: 'NOT_FOUND', sandbox: true } })
    }
    expect(await ask('/sandbox/clock/advance', { scenarioId: id, seconds: 1 })).toMatchObject({ status: 404 })
  })
})

describe('an instance that is no sandbox', () => {
  it('has neither routes nor networks of it, and does not start on its database', async () => {
    const other = await createTestDatabase()
    const real = await startService({ databaseUrl: other.url, environment: { SANDBOX: 'false' } })
    try {
      const response = await fetch(`${real.url}/sandbox/addresses`)
      expect(response.status).toBe(404)
      expect(response.headers.get('x-sandbox')).toBeNull()
      const supported = z.object({ kinds: z.array(z.unknown()) })
      expect(supported.parse(await (await fetch(`${real.url}/supported`)).json()).kinds).toEqual([])
      expect(await (await fetch(`${real.url}/info`)).json()).not.toHaveProperty('sandbox')
    } finally {
      await real.close()
    }
    await expect(
      startService({ databaseUrl: database.url, environment: { SANDBOX: 'false' } }),
    ).rejects.toMatchObject({ variable: 'DATABASE_URL' })
    await other.drop()
  })
})
