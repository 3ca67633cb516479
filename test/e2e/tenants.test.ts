import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { buildApp } from '../../src/app.js'
import { type Core, composeCore } from '../../src/compose.js'
import { readConfig } from '../../src/config.js'
import { systemClock } from '../../src/platform/clock.js'
import { silentLogger } from '../../src/platform/logger.js'
import { createSettlementJournal } from '../../src/stores/postgres/journal/settlementJournal.js'
import { claimOf } from '../support/claimOf.js'
import { environmentFor } from '../support/core.js'
import { addInstance } from '../support/instances.js'
import { inlineComponents } from '../support/openapi.js'
import { useTestDatabase } from '../support/postgres.js'

const documented = z.looseObject({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({
        parameters: z.array(z.looseObject({ name: z.string(), in: z.string() })).optional(),
      }),
    ),
  ),
})
const methods = z.enum(['GET', 'POST', 'DELETE'])
const created = z.looseObject({ id: z.string() })
const audited = z.looseObject({ entries: z.array(z.looseObject({ id: z.string() })) })
const listed = z.looseObject({ settlements: z.array(z.looseObject({ id: z.string() })) })
const delivered = z.looseObject({ deliveries: z.array(z.looseObject({ id: z.string() })) })

const secretTransaction = `0x${'5e'.repeat(32)}`

describe('data of one account', () => {
  const database = useTestDatabase()
  let core: Core
  let app: FastifyInstance
  let eve: string
  let ada: string
  let identifiers: readonly string[]

  const ask = (apiKey: string, method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
    app.inject({
      method,
      url,
      headers: { 'x-api-key': apiKey },
      ...(payload === undefined ? {} : { payload }),
    })
  const register = async (email: string, projectName: string) => {
    const response = await app.inject({ method: 'POST', url: '/register', payload: { email, projectName } })
    return z.object({ apiKey: z.string() }).parse(response.json()).apiKey
  }
  const readAccountId = async (email: string) => {
    const { rows } = await database.pool.query('select id from accounts where email = $1', [email])
    return z.object({ id: z.string() }).parse(rows[0]).id
  }

  beforeAll(async () => {
    const config = readConfig(environmentFor({ databaseUrl: database.url }))
    core = await composeCore(config, { clock: systemClock, logger: silentLogger, measuresProcess: false })
    app = buildApp({
      useCases: core.useCases,
      metrics: core.metrics,
      settings: { ...config.server, apiKeyRequired: false },
    })
    eve = await register('eve@example.com', 'orchard')
    ada = await register('ada@example.com', 'engine')
    const accountId = await readAccountId('eve@example.com')
    await ask(eve, 'POST', '/dashboard/webhook', { webhookUrl: 'https://orchard.example/hook' })
    const further = created.parse(
      (await ask(eve, 'POST', '/dashboard/api-keys', { name: 'orchard-server' })).json(),
    )
    const { entries } = audited.parse((await ask(eve, 'GET', '/dashboard/audit')).json())

    const journal = createSettlementJournal(database.pool, await addInstance(database.pool))
    const claim = claimOf({ caller: accountId, payer: '0xcustomer-of-eve' })
    const settlement = await journal.claim(claim)
    if (settlement === null) throw new Error('The settlement was not claimed')
    await journal.recorderFor(settlement.id).record({ transaction: secretTransaction, bytes: '0x00' })
    await journal.close(settlement.id, { state: 'confirmed', transaction: secretTransaction })

    const [settled] = listed.parse((await ask(eve, 'GET', '/dashboard/settlements')).json()).settlements
    const { deliveries } = delivered.parse((await ask(eve, 'GET', '/dashboard/webhook/deliveries')).json())
    identifiers = [
      ...[accountId, settlement.id, settled?.id ?? '', claim.authorizationId, secretTransaction],
      ...deliveries.map(({ id }) => id),
      ...[further.id, 'orchard-server'],
      ...entries.map(({ id }) => id),
      ...['eve@example.com', 'orchard', '0xcustomer-of-eve'],
    ]
    expect(settled?.id).toBe(settlement.id)
    expect(deliveries.length).toBeGreaterThan(0)
  })
  afterAll(async () => {
    await app.close()
    await core.close()
  })

  /** All dashboard parameters that take an identifier, from the OpenAPI document. */
  const listIdParameters = async () => {
    const { paths } = documented.parse(inlineComponents(app.swagger()))
    return Object.entries(paths)
      .filter(([path]) => path.startsWith('/dashboard/'))
      .flatMap(([path, operations]) =>
        Object.entries(operations).flatMap(([method, { parameters = [] }]) =>
          parameters
            .filter((parameter) => ['path', 'query'].includes(parameter.in))
            .map(({ name, in: place }) => ({ path, method, name, place })),
        ),
      )
  }

  const takeSnapshot = async () => {
    const tables = [
      'accounts',
      'api_keys',
      'audit_log',
      'webhook_endpoints',
      'webhook_deliveries',
      'settlements',
    ]
    const rows = await Promise.all(
      tables.map(async (table) => (await database.pool.query(`select * from ${table} order by 1`)).rows),
    )
    return JSON.stringify(rows)
  }

  it('is not accessible by its identifiers with the key of another account, in any parameter', async () => {
    const parameters = await listIdParameters()
    expect(parameters.map(({ path, name }) => `${path} ${name}`)).toContain(
      '/dashboard/webhook/deliveries/{id}/redeliver id',
    )
    expect(parameters.map(({ path, method, name }) => `${method} ${path} ${name}`)).toEqual(
      expect.arrayContaining(['delete /dashboard/api-keys/{id} id', 'get /dashboard/audit cursor']),
    )
    await ask(ada, 'POST', '/dashboard/webhook', { webhookUrl: 'https://engine.example/hook' })
    const before = await takeSnapshot()
    const told: string[] = []
    for (const { path, method, name, place } of parameters) {
      for (const identifier of identifiers) {
        const value = encodeURIComponent(identifier)
        const url = place === 'path' ? path.replace(`{${name}}`, value) : `${path}?${name}=${value}`
        const { body, statusCode } = await ask(ada, methods.parse(method.toUpperCase()), url)
        // Errors may repeat the rejected value, but nothing else of Eve's.
        const others = identifiers.filter((each) => each !== identifier)
        if (statusCode >= 500 || others.some((each) => body.includes(each)))
          told.push(`${method} ${url}: ${body}`)
        if (statusCode === 200 && body.includes(identifier)) told.push(`${method} ${url}: ${body}`)
      }
    }
    expect(told).toEqual([])
    expect(await takeSnapshot()).toBe(before)
  })

  it('is in no dashboard response to another account', async () => {
    const pages = ['info', 'keys', 'usage', 'settlements', 'webhook/deliveries', 'api-keys', 'audit']
    for (const page of pages) {
      const { statusCode, body } = await ask(ada, 'GET', `/dashboard/${page}`)
      expect(statusCode).toBe(200)
      expect(identifiers.filter((identifier) => body.includes(identifier))).toEqual([])
    }
    const own = await ask(eve, 'GET', '/dashboard/settlements')
    expect(own.body).toContain(secretTransaction)
  })
})
