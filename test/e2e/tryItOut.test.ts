import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createEoa } from '../support/evm/wallets.js'
import { inlineComponents } from '../support/openapi.js'
import { useTestDatabase } from '../support/postgres.js'
import { sandboxPermit } from '../support/sandbox/streams.js'
import { startService, type TestService } from '../support/service.js'

const example = z.looseObject({ value: z.unknown() })
const parameter = z.looseObject({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  example: z.unknown().optional(),
  schema: z.looseObject({ examples: z.array(z.unknown()).optional() }),
})
const operation = z.looseObject({
  operationId: z.string(),
  parameters: z.array(parameter).default([]),
  security: z.array(z.record(z.string(), z.unknown())).default([]),
  requestBody: z
    .looseObject({
      content: z.record(z.string(), z.looseObject({ examples: z.record(z.string(), example) })),
    })
    .optional(),
  responses: z.record(z.string(), z.unknown()),
})
type Operation = z.infer<typeof operation>
const shape = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operation)) })

const operatorToken = 'operator-token-of-the-test'

/** What needs what a sandbox has not: `exact-direct`, a signature of a wallet, a listed resource, or keys that sign for receivers. */
const untriable = [
  'getResource',
  'writeRecipientMessage',
  'stateRecipient',
  'deleteRecipient',
  'verifySignIn',
  'unlistResource',
  'relistResource',
  'getChannel',
  'capture',
  'voidHold',
  'refundHold',
  'getHeldPayment',
  'setAtDeadline',
]

describe('“Try it out” at /docs of a sandbox', () => {
  const database = useTestDatabase()
  let service: TestService
  let apiKey: string
  /** Of answers, by the name that later requests have for them: as a reader copies them. */
  const known = new Map<string, string>()

  beforeAll(async () => {
    service = await startService({
      databaseUrl: database.url,
      environment: { SANDBOX: 'true', OPERATOR_TOKEN: operatorToken },
    })
    apiKey = z
      .object({ apiKey: z.string() })
      .parse(
        await send('POST', '/register', { email: 'eve@example.com', projectName: 'try' }).then(
          ({ json }) => json,
        ),
      ).apiKey
  })
  afterAll(() => service.close())

  const send = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    const json: unknown = isJson ? JSON.parse(text) : text
    return { status: response.status, json }
  }

  const readDocument = async () => shape.parse(inlineComponents((await send('GET', '/docs/json')).json))
  const read = async () => {
    const { paths } = await readDocument()
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => ({
        path,
        method: method.toUpperCase(),
        described,
      })),
    )
  }
  const fillIn = (name: string, { operationId }: Operation): string | undefined =>
    known.get(`${operationId} ${name}`) ?? known.get(name)
  const authorize = ({ security }: Operation): Record<string, string> => {
    if (security.some((each) => 'bearer' in each)) return { authorization: `Bearer ${apiKey}` }
    if (security.some((each) => 'operator' in each)) return { authorization: `Bearer ${operatorToken}` }
    return {}
  }

  const attempt = async (
    { path, method, described }: Awaited<ReturnType<typeof read>>[number],
    given?: Readonly<Record<string, unknown>>,
  ) => {
    const headers = authorize(described)
    const query = new URLSearchParams()
    let target = path
    for (const { name, in: place, example: value, schema } of described.parameters) {
      const text = fillIn(name, described) ?? value ?? schema.examples?.[0]
      if (text === undefined) continue
      if (place === 'path') target = target.replace(`{${name}}`, String(text))
      else if (place === 'query') query.set(name, String(text))
      else headers[name] = String(text)
    }
    const [media] = Object.values(described.requestBody?.content ?? {})
    const [first] = Object.values(media?.examples ?? {})
    const body = first === undefined ? undefined : { ...Object(first.value), ...given }
    const search = query.size === 0 ? '' : `?${query}`
    return await send(method, `${target}${search}`, body, headers)
  }

  it('succeeds for every operation with its example, and ids of earlier answers', async () => {
    const operations = await read()
    const find = (id: string) => {
      const found = operations.find(({ described }) => described.operationId === id)
      if (found === undefined) throw new Error(`There is no operation ${id}`)
      return found
    }
    const succeed = async (id: string, given?: Readonly<Record<string, unknown>>) => {
      const tried = await attempt(find(id), given)
      if (!isDocumented(find(id).described, tried.status)) {
        throw new Error(`${id} answers ${tried.status}: ${JSON.stringify(tried.json)}`)
      }
      done.add(id)
      return z.record(z.string(), z.unknown()).catch({}).parse(tried.json)
    }
    const done = new Set(untriable)
    const idOf = (value: unknown) => z.looseObject({ id: z.string() }).parse(value).id

    expect(await succeed('verifyPayment')).toMatchObject({ isValid: true })
    await succeed('setWebhook')
    await succeed('testWebhook')
    const settled = await succeed('settlePayment')
    expect(settled).toMatchObject({ success: true })
    known.set('getSettlement id', String(settled.settlementId))
    known.set('transaction', String(settled.transaction))
    apiKey = String((await succeed('rotateKey')).apiKey)
    const further = await succeed('createApiKey')
    known.set('revokeApiKey id', idOf(further))
    const { deliveries } = z
      .looseObject({ deliveries: z.array(z.unknown()) })
      .parse(await succeed('listWebhookDeliveries'))
    known.set('redeliverWebhook id', idOf(deliveries[0]))

    // The fixed payers hold no funds: a stream is opened by a wallet.
    const { stream } = await succeed('openStream', {
      ...(await sandboxPermit(createEoa())),
      expiresAt: undefined,
    })
    for (const id of ['getStream', 'pauseStream', 'resumeStream']) {
      known.set(`${id} id`, idOf(stream))
      await succeed(id)
    }
    const ofStream = { streamId: idOf(stream) }
    await succeed('updateStream', ofStream)
    await succeed('closeStream', ofStream)

    const open = async () => {
      known.set('createIntent Idempotency-Key', `intent-${known.size}-${done.size}`)
      const created = await succeed('createIntent')
      const { intent, availableRoutes } = z
        .looseObject({
          intent: z.unknown(),
          availableRoutes: z.array(z.looseObject({ network: z.string() })),
        })
        .parse(created)
      for (const id of ['getIntent', 'selectRoute', 'executeIntent', 'cancelIntent', 'refreshIntent']) {
        known.set(`${id} id`, idOf(intent))
      }
      if (created.intentToken !== undefined) known.set('X-Intent-Token', String(created.intentToken))
      // Of the network on which the example pays.
      return idOf(availableRoutes.find(({ network }) => network === 'eip155:84532'))
    }
    const routeId = await open()
    await succeed('getIntent')
    await succeed('selectRoute', { routeId })
    await succeed('executeIntent', { routeId })
    await open()
    await succeed('refreshIntent')
    await succeed('cancelIntent')

    const scenario = await succeed('createScenario')
    known.set('getScenario id', idOf(scenario))
    await succeed('advanceSandboxClock', { scenarioId: idOf(scenario) })
    known.set('readSandboxInbox id', idOf(await succeed('createSandboxInbox')))

    // The account of the reader is used until the end: another one is revoked.
    const registration = { email: 'adam@example.com', projectName: 'other' }
    expect((await send('POST', '/register', registration)).status).toBe(201)
    known.set('searchAccounts search', registration.email)
    const { accounts } = z
      .looseObject({ accounts: z.array(z.unknown()) })
      .parse(await succeed('searchAccounts'))
    for (const id of ['setTier', 'revokeAccount']) {
      known.set(`${id} id`, idOf(accounts[0]))
      await succeed(id)
    }
    known.set('redeliverForAccount id', idOf(deliveries[0]))
    await succeed('redeliverForAccount')
    // Until it is cleared, nothing is paid on that network.
    const { pause } = z
      .looseObject({ pause: z.looseObject({ target: z.looseObject({ network: z.string() }) }) })
      .parse(await succeed('setPause'))
    known.set('clearPause network', pause.target.network)
    await succeed('clearPause')

    for (const { described } of operations) {
      if (!done.has(described.operationId)) await succeed(described.operationId)
    }
    expect(done.size).toBe(operations.length)
  })

  it('has payments of their own for two readers, and the locks of the document', async () => {
    const nonces = async (): Promise<readonly string[]> =>
      JSON.stringify(await readDocument()).match(/0x[0-9a-f]{64}/g) ?? []
    const [one, two] = [await nonces(), await nonces()]
    expect(one.length).toBe(two.length)
    expect(one.filter((nonce) => two.includes(nonce)).length).toBeLessThan(one.length)
    const published = shape.parse(inlineComponents((await send('GET', '/api/openapi.json')).json))
    const locks = ({ paths }: z.infer<typeof shape>) =>
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { security }]) => ({ path, method, security })),
      )
    expect(locks(await readDocument())).toEqual(locks(published))
  })
})

const isDocumented = ({ responses }: Operation, status: number): boolean =>
  status < 400 && Object.hasOwn(responses, String(status))
