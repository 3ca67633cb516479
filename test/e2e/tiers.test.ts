import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { pollUntil } from '../support/pollUntil.js'
import { createTestDatabase, useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'

const hosted = { API_KEY_REQUIRED: 'true', REGISTRATION: 'once', RATE_LIMITS: 'on' }
const basic = { name: 'Basic', monthlyQuota: 3, rpmLimit: 2, feeRate: 0.002, priceCents: 100 }
const tierOf = z.looseObject({ tier: z.string().optional() })
const gold = { name: 'Gold', monthlyQuota: -1, rpmLimit: -1 }

const database = useTestDatabase()

const open = async (environment: Readonly<Record<string, string>>) =>
  use(await startService({ databaseUrl: database.url, environment }))

const use = (service: TestService) => {
  const ask = async (path: string, apiKey?: string, body?: object) => {
    const response = await fetch(`${service.url}${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        'content-type': 'application/json',
        ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
      },
    })
    const answer: unknown = await response.json()
    return { status: response.status, headers: response.headers, body: answer }
  }
  const register = async (projectName: string) => {
    const { body } = await ask('/register', undefined, { email: `${projectName}@example.com`, projectName })
    return z.object({ apiKey: z.string() }).parse(body).apiKey
  }
  const setTier = (project: string, tier: string) =>
    database.pool.query('update accounts set tier = $2, is_granted = true where project = $1', [
      project,
      tier,
    ])
  return { ...service, ask, register, setTier }
}

it('the tiers of the operator are published, given to new accounts, and bind them', async () => {
  const { ask, register, setTier, close } = await open({ ...hosted, TIERS: JSON.stringify({ basic, gold }) })
  expect((await ask('/tiers')).body).toEqual({
    tiers: { basic, gold: { ...gold, feeRate: 0, priceCents: 0 } },
    source: 'configured',
    registrationTier: 'basic',
  })
  const apiKey = await register('loom')
  expect((await ask('/dashboard/info', apiKey)).body).toMatchObject({
    tier: 'basic',
    config: { name: 'Basic', monthlyQuota: 3, rpmLimit: 2, feeRate: 0.002 },
    quota: { limit: 3, tier: 'basic', feeRate: 0.002 },
  })
  const statuses: number[] = []
  for (let at = 0; at < 3; at += 1) statuses.push((await ask('/verify', apiKey, {})).status)
  expect(statuses).toEqual([400, 400, 429])

  const other = await register('mill')
  await setTier('mill', 'gold')
  const changed = await pollUntil(async () => {
    const seen = tierOf.parse((await ask('/dashboard/info', other)).body)
    return seen.tier === 'gold' && seen
  }, 'the new tier')
  expect(changed).toMatchObject({ config: { monthlyQuota: -1, rpmLimit: -1 } })
  for (let at = 0; at < 10; at += 1) expect((await ask('/verify', other, {})).status).toBe(400)
  await close()
})

it('an account whose tier was removed has the first tier, and its own again when it returns', async () => {
  const before = await open({ ...hosted, TIERS: JSON.stringify({ basic, gold }) })
  const apiKey = await before.register('oven')
  await before.setTier('oven', 'gold')
  await before.close()

  const without = await open({ ...hosted, TIERS: JSON.stringify({ basic }) })
  const seen = await without.ask('/dashboard/info', apiKey)
  expect(seen.body).toMatchObject({ tier: 'basic', config: { rpmLimit: 2 }, quota: { limit: 3 } })
  expect((await without.ask('/verify', apiKey, {})).headers.get('x-ratelimit-tier')).toBe('basic')
  await without.close()

  const again = await open({ ...hosted, TIERS: JSON.stringify({ basic, gold }) })
  expect((await again.ask('/dashboard/info', apiKey)).body).toMatchObject({ tier: 'gold' })
  await again.close()
})

it('where keys are optional, a key has no quota and at least the rate of no key', async () => {
  const environment = { RATE_LIMITS: 'on', ANONYMOUS_REQUESTS_PER_MINUTE: '3000' }
  const { ask, register, close } = await open(environment)
  const { body } = await ask('/tiers')
  expect(body).toMatchObject({
    source: 'self-hosted',
    tiers: { free: { monthlyQuota: -1, rpmLimit: 3_000 } },
  })
  const apiKey = await register('pump')
  const keyed = await ask('/verify', apiKey, {})
  const anonymous = await ask('/verify', undefined, {})
  const limitOf = ({ headers }: { readonly headers: Headers }) => Number(headers.get('x-ratelimit-limit'))
  expect(limitOf(keyed)).toBeGreaterThanOrEqual(limitOf(anonymous))
  await close()
})

it('in a sandbox, keys have the tiers of the specification, and say that they are for tests', async () => {
  const other = await createTestDatabase()
  const service = await startService({
    databaseUrl: other.url,
    environment: { SANDBOX: 'true', RATE_LIMITS: 'on' },
  })
  const { ask, register, close } = use(service)
  expect((await ask('/tiers')).body).toMatchObject({
    source: 'specification',
    tiers: { free: { monthlyQuota: 1_000, rpmLimit: 10 }, enterprise: { monthlyQuota: -1 } },
  })
  const apiKey = await register('kiln')
  expect(apiKey).toMatch(/^qtn_sk_test_/)
  expect((await ask('/dashboard/info', apiKey)).body).toMatchObject({
    tier: 'free',
    quota: { limit: 1_000, used: 0 },
  })
  const { body: payment } = await ask('/sandbox/payments/CAFE11')
  const statuses: number[] = []
  for (let at = 0; at < 11; at += 1) {
    statuses.push((await ask('/verify', apiKey, z.looseObject({}).parse(payment))).status)
  }
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429])
  await close()
  await other.drop()
})

it('where keys are optional and the anonymous limit is off, no key is limited', async () => {
  const environment = {
    RATE_LIMITS: 'on',
    ANONYMOUS_REQUESTS_PER_MINUTE: '0',
    TIERS: JSON.stringify({ basic }),
  }
  const { ask, register, close } = await open(environment)
  const apiKey = await register('quay')
  for (let at = 0; at < 5; at += 1) expect((await ask('/verify', apiKey, {})).status).toBe(400)
  await close()
})

it('tiers are read from a file', async () => {
  const folder = await makeTemporaryFolder('quittance-tiers-')
  const file = join(folder, 'tiers.json')
  await writeFile(file, JSON.stringify({ basic }))
  const { ask, close } = await open({ ...hosted, TIERS: file })
  expect((await ask('/tiers')).body).toMatchObject({ tiers: { basic }, source: 'configured' })
  await close()
  await rm(folder, { recursive: true })
})
