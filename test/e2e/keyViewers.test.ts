import type { FastifyInstance, InjectOptions } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { compose, type Service } from '../../src/compose.js'
import { readConfig } from '../../src/config.js'
import { registerResult } from '../../src/protocol/accounts.js'
import { environmentFor } from '../support/core.js'
import { emptyTables } from '../support/emptyTables.js'
import { useTestDatabase } from '../support/postgres.js'
import { startSmtpServer, type TestSmtpServer } from '../support/smtpServer.js'

const token = 'an-operator-token-of-some-length'
const masked = 'qtn_sk_********'
const email = 'ada@example.com'

type Call = Pick<InjectOptions, 'remoteAddress'> & { readonly headers: Readonly<Record<string, string>> }

const local = { host: '127.0.0.1:8080', 'user-agent': 'curl/8.5.0', accept: '*/*' }
const remote = { ...local, host: 'pay.example' }

/** TRUST_PROXY lists 10.0.0.0/8. */
const callers: Readonly<Record<string, Call>> = {
  'a remote caller': { remoteAddress: '203.0.113.7', headers: remote },
  'a remote caller that requests localhost': { remoteAddress: '203.0.113.7', headers: local },
  'a remote caller through a proxy on this machine that is not listed': {
    remoteAddress: '127.0.0.1',
    headers: { ...local, 'x-forwarded-for': '203.0.113.7' },
  },
  'a remote caller through a proxy on this machine that forwards the host': {
    remoteAddress: '127.0.0.1',
    headers: remote,
  },
  'a remote caller through a trusted proxy': {
    remoteAddress: '10.0.0.1',
    headers: { ...remote, 'x-forwarded-for': '203.0.113.7' },
  },
  'a remote caller that claims loopback through a trusted proxy': {
    remoteAddress: '10.0.0.1',
    headers: { ...local, 'x-forwarded-for': '127.0.0.1' },
  },
  'a page in a browser on this machine': {
    remoteAddress: '127.0.0.1',
    headers: { ...local, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  },
  'a page on this machine by DNS rebinding': {
    remoteAddress: '127.0.0.1',
    headers: { ...local, host: 'evil.example:8080', 'sec-fetch-site': 'same-origin' },
  },
  'a program on this machine': { remoteAddress: '127.0.0.1', headers: local },
  'an operator': { remoteAddress: '203.0.113.7', headers: { ...remote, authorization: `Bearer ${token}` } },
  'an operator through a trusted proxy': {
    remoteAddress: '10.0.0.1',
    headers: { ...remote, authorization: `Bearer ${token}`, 'x-forwarded-for': '203.0.113.7' },
  },
}
const trusted = ['a program on this machine', 'an operator', 'an operator through a trusted proxy']
const isTrusted = (name: string) => trusted.includes(name)
const everyone = Object.keys(callers)

const found = z.object({ keys: z.array(z.object({ apiKey: z.string(), project: z.string() })) })

const database = useTestDatabase()
let smtp: TestSmtpServer
const services: Service[] = []

const openMode = async (environment: Readonly<Record<string, string>>): Promise<FastifyInstance> => {
  const common = {
    TRUST_PROXY: '10.0.0.0/8',
    OPERATOR_TOKEN: token,
    CORS_ACCOUNT_ORIGINS: 'https://console.example',
    LOG_LEVEL: 'silent',
  }
  const service = await compose(
    readConfig(environmentFor({ databaseUrl: database.url, environment: { ...common, ...environment } })),
  )
  services.push(service)
  return service.app
}

beforeAll(async () => {
  smtp = await startSmtpServer()
})
afterAll(async () => {
  await Promise.all(services.map((service) => service.close()))
  await smtp.close()
})

/** Requests of all callers in one mode. */
const inMode = (open: () => FastifyInstance) => {
  const call = (name: string): Call => callers[name] ?? { headers: {} }
  const post = (url: string, payload: object, { headers, ...from }: Call) =>
    open().inject({ method: 'POST', url, payload, headers, ...from })
  return {
    register: async (name: string, projectName: string) => {
      const response = await post('/register', { email, projectName }, call(name))
      return { status: response.statusCode, ...registerResult.parse(response.json()) }
    },
    lookUp: async (name: string) => {
      const response = await post('/lookup', { email }, call(name))
      expect(response.statusCode).toBe(200)
      return found.parse(response.json()).keys.map(({ apiKey }) => apiKey)
    },
    listKeys: async (name: string, key: string) => {
      const { headers, ...from } = call(name)
      const response = await open().inject({
        url: '/dashboard/keys',
        headers: { ...headers, 'x-api-key': key },
        ...from,
      })
      expect(response.statusCode).toBe(200)
      return found.parse(response.json()).keys.map(({ apiKey }) => apiKey)
    },
  }
}

const clear = () => emptyTables(database.pool, 'accounts', 'api_keys')
/** Two projects of one address, registered by their owner elsewhere. */
const registerBoth = async ({ register }: ReturnType<typeof inMode>) => {
  const [one, two] = [await register('a remote caller', 'one'), await register('a remote caller', 'two')]
  return [one.apiKey, two.apiKey] as const
}

describe.each([
  ['once', {}],
  ['open', { REGISTRATION: 'open' }],
])('where REGISTRATION is %s', (mode, environment) => {
  let app: FastifyInstance
  const asked = inMode(() => app)
  const shows = (name: string) => mode === 'open' || isTrusted(name)

  beforeAll(async () => {
    app = await openMode(environment)
  })
  beforeEach(clear)

  it.each(everyone)('the creator of a key receives it: %s', async (name) => {
    const created = await asked.register(name, 'engine')
    expect(created).toMatchObject({ status: 201, isNew: true, projectName: 'engine' })
    expect(await asked.listKeys('a remote caller', created.apiKey)).toEqual([created.apiKey])
  })

  it.each(everyone.map((name) => [name, shows(name) ? 'the key' : 'a mask'] as const))(
    'a second registration, by %s, shows %s',
    async (name, shown) => {
      const [one] = await registerBoth(asked)
      const again = await asked.register(name, 'one')
      expect(again).toMatchObject({ status: 200, isNew: false, apiKey: shown === 'the key' ? one : masked })
    },
  )

  it.each(everyone.map((name) => [name, shows(name) ? 'the keys' : 'masks'] as const))(
    'a lookup, by %s, shows %s',
    async (name, shown) => {
      const keys = await registerBoth(asked)
      expect(await asked.lookUp(name)).toEqual(shown === 'the keys' ? keys : [masked, masked])
    },
  )

  it.each(everyone.map((name) => [name, shows(name) ? 'the other key' : 'a mask of the other'] as const))(
    'the dashboard of one key, requested by %s, shows that key and %s',
    async (name, shown) => {
      const [one, two] = await registerBoth(asked)
      expect(await asked.listKeys(name, two)).toEqual([shown === 'the other key' ? one : masked, two])
    },
  )

  it('a page of a listed origin can read the responses, but sees no more keys', async () => {
    await registerBoth(asked)
    for (const url of ['/register', '/lookup']) {
      const response = await app.inject({
        method: 'POST',
        url,
        payload: { email, projectName: 'one' },
        headers: { ...local, origin: 'https://console.example', 'sec-fetch-site': 'same-site' },
      })
      expect(response.headers['access-control-allow-origin']).toBe('https://console.example')
      expect(response.body.includes(masked)).toBe(mode === 'once')
    }
  })

  it('a lookup of an unknown address finds no key for any caller', async () => {
    await registerBoth(asked)
    await database.pool.query("update accounts set email = 'eve@example.com'")
    for (const name of everyone) expect(await asked.lookUp(name)).toEqual([])
  })
})

describe('where REGISTRATION is verified', () => {
  let app: FastifyInstance
  const asked = inMode(() => app)
  let inOnce: ReturnType<typeof inMode>

  beforeAll(async () => {
    const mail = { SMTP_URL: smtp.url, MAIL_FROM: 'keys@quittance.example' }
    app = await openMode({ REGISTRATION: 'verified', ...mail })
    const once = await openMode({})
    inOnce = inMode(() => once)
  })
  beforeEach(clear)

  it.each(everyone)('no key is shown except the presented one: %s', async (name) => {
    const [, two] = await registerBoth(inOnce)
    expect(await asked.register(name, 'three')).toMatchObject({ status: 201, isNew: true, apiKey: masked })
    expect(await asked.register(name, 'one')).toMatchObject({ status: 201, isNew: true, apiKey: masked })
    expect(await asked.lookUp(name)).toEqual([])
    expect(await asked.listKeys(name, two)).toEqual([masked, two, masked])
  })
})
