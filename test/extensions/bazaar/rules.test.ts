import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { type Declaration, findProblem, readDeclaration } from '../../../src/extensions/bazaar/declaration.js'
import { explainDeclaration } from '../../../src/extensions/bazaar/explainDeclaration.js'
import { rules } from '../../../src/extensions/bazaar/rules.js'
import type { Fields } from '../../../src/protocol/fields.js'
import { bazaarOf, settledPayment } from '../../support/discovery.js'
import {
  backtracking,
  createPatientValidator,
  useManualDeadlines,
  victim,
} from '../../support/schemaValidator.js'

const url = 'https://weather.example/v1'
const declare = (given: Partial<Declaration> = {}): Declaration => ({
  version: 2,
  content: bazaarOf(),
  resource: url,
  details: {},
  extensionKeys: ['bazaar'],
  ...given,
})
const schemaValidator = createPatientValidator()
afterAll(() => schemaValidator.close())
const turn = () => ({ owner: randomUUID(), signal: new AbortController().signal })

const explain = (given: Partial<Declaration> = {}, allowsPrivateHosts = false) =>
  explainDeclaration(declare(given), { allowsPrivateHosts, schemaValidator }, turn())
const failedIn = async (given: Partial<Declaration>): Promise<readonly string[]> =>
  (await explain(given)).rules.filter(({ status }) => status === 'failed').map(({ rule }) => rule.name)

const withInput = (input: Fields) => ({ content: bazaarOf(input) })
const withSchema = (schema: unknown, input: Fields = { type: 'http', method: 'GET' }) => ({
  content: { info: { input }, schema },
})
const nested = (depth: number): unknown =>
  Array.from({ length: depth }).reduce<unknown>((inner) => ({ a: inner }), 1)
const http = (given: Fields) => ({ type: 'http', ...given })
const mcp = (given: Fields) => ({ type: 'mcp', toolName: 'x', inputSchema: {}, ...given })

const broken: readonly (readonly [string, string, Partial<Declaration>])[] = [
  ['shape', 'text', { content: 'x' }],
  ['shape', 'an array', { content: [] }],
  ['shape', 'without schema', { content: { info: {} } }],
  ['shape', 'info as an array', { content: { info: [], schema: {} } }],
  ['nodes', '2,001 elements', withInput(http({ method: 'GET', queryParams: { a: Array(2_001).fill(1) } }))],
  ['depth', '33 levels', withInput(http({ method: 'GET', queryParams: nested(30) }))],
  ['size', '64 kB of text', withInput(http({ method: 'GET', queryParams: { a: 'x'.repeat(65_536) } }))],
  ['input_type', 'without input', { content: { info: {}, schema: {} } }],
  ['input_type', 'another type', withInput({ type: 'grpc' })],
  ['method', 'no method', withInput(http({}))],
  ['method', 'another method', withInput(http({ method: 'get' }))],
  ['body', 'POST without bodyType', withInput(http({ method: 'POST', body: {} }))],
  ['body', 'POST with another bodyType', withInput(http({ method: 'POST', bodyType: 'xml', body: {} }))],
  ['body', 'POST without body', withInput(http({ method: 'PUT', bodyType: 'json' }))],
  ['body', 'GET with a body', withInput(http({ method: 'GET', body: {} }))],
  ['parameters', 'queryParams as a list', withInput(http({ method: 'GET', queryParams: [] }))],
  ['parameters', 'a header that is a number', withInput(http({ method: 'GET', headers: { a: 1 } }))],
  ['tool', 'no name', withInput(mcp({ toolName: '' }))],
  ['tool', 'an invisible name', withInput(mcp({ toolName: 'pay\u202epal' }))],
  ['tool', 'no inputSchema', withInput(mcp({ inputSchema: undefined }))],
  ['tool', 'another transport', withInput(mcp({ transport: 'stdio' }))],
  ['output', 'text', { content: { info: { input: http({ method: 'GET' }), output: 'x' }, schema: {} } }],
  ['references', '$ref to http', withSchema({ $ref: 'http://169.254.169.254/latest' })],
  ['references', '$id of another document', withSchema({ $id: 'https://a.example/s' })],
  ['references', '$dynamicRef outside', withSchema({ properties: { a: { $dynamicRef: 'b#c' } } })],
  ['references', '$ref that is no text', withSchema({ $ref: 1 })],
  ['schema', 'an unknown type', withSchema({ type: 'money' })],
  ['schema', 'required as text', withSchema({ required: 'input' })],
  ['schema', 'an invalid pattern', withSchema({ pattern: '(' })],
  ['schema', '$ref that leads nowhere', withSchema({ $ref: '#/$defs/none' })],
  ['schema', '$ref to itself', withSchema({ $ref: '#' })],
  ['info_matches_schema', 'another info', withSchema({ properties: { input: { required: ['city'] } } })],
  ['resource_url', 'none', { resource: null }],
  ['resource_url', 'relative', { resource: '/v1' }],
  ['resource_url', 'javascript', { resource: 'javascript:alert(1)' }],
  ['resource_url', 'with credentials', { resource: 'https://shop.example@evil.example/' }],
  ['resource_url', 'with a zero width space', { resource: 'https://shop\u200b.example/' }],
  ['resource_url', 'with a bidirectional override', { resource: 'https://a.example/\u202egnp.exe' }],
  ['resource_url', 'too long', { resource: `https://a.example/${'x'.repeat(2_048)}` }],
  ['host_script', 'Latin with a Cyrillic letter', { resource: 'https://p\u0430ypal.com/' }],
  ['host_script', 'the same in punycode', { resource: 'https://xn--pypal-4ve.com/' }],
  ['host_script', 'Latin with a Greek letter', { resource: 'https://g\u03bfogle.com/' }],
  ['host_public', 'localhost', { resource: 'http://localhost:3000/' }],
  ['host_public', 'a name below localhost', { resource: 'http://a.localhost./' }],
  ['host_public', 'loopback in hexadecimal', { resource: 'http://0x7f.1/' }],
  ['host_public', 'loopback as a number', { resource: 'http://2130706433/' }],
  ['host_public', 'IPv6 loopback', { resource: 'http://[::1]/' }],
  ['host_public', 'mapped IPv4', { resource: 'http://[::ffff:10.0.0.1]/' }],
  ['host_public', 'metadata of clouds', { resource: 'http://169.254.169.254/' }],
  ['host_public', 'unique local IPv6', { resource: 'http://[fd00::1]/' }],
  ['host_public', 'a single label', { resource: 'http://intranet/' }],
  ['host_public', '.local', { resource: 'http://printer.local/' }],
  ['host_public', '.internal', { resource: 'http://metadata.google.internal/' }],
  ['route_template', '`..`', { content: { ...bazaarOf(), routeTemplate: '/a/../b' } }],
  [
    'route_template',
    '`..` encoded three times',
    { content: { ...bazaarOf(), routeTemplate: '/a/%25252e%25252e/b' } },
  ],
  ['route_template', 'another host', { content: { ...bazaarOf(), routeTemplate: '//evil.example/' } }],
  ['route_template', 'a number', { content: { ...bazaarOf(), routeTemplate: 1 } }],
  ['service_name', '33 characters', { details: { serviceName: 'x'.repeat(33) } }],
  ['service_name', 'not ASCII', { details: { serviceName: 'P\u0430ypal' } }],
  ['tags', 'six', { details: { tags: ['a', 'b', 'c', 'd', 'e', 'f'] } }],
  ['tags', 'text', { details: { tags: 'a' } }],
  ['icon_url', 'loopback', { details: { iconUrl: 'http://localhost/i.png' } }],
  ['icon_url', 'an address', { details: { iconUrl: 'http://1.1.1.1/i.png' } }],
  ['icon_url', 'data', { details: { iconUrl: 'data:image/png;base64,' } }],
]

describe('the rules of a declaration', () => {
  useManualDeadlines()

  it('all hold for a declaration of the documentation', async () => {
    const { rules: checked, failed, listing } = await explain()
    expect(checked.map(({ status }) => status)).toEqual(rules.map(() => 'passed'))
    expect(failed).toBeNull()
    expect(listing).toMatchObject({ key: { url, toolName: '' }, type: 'http', method: 'GET' })
  })

  it('have unique names, and need only rules before them', () => {
    const names = rules.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const [index, { needs }] of rules.entries()) {
      for (const need of needs) expect(names.slice(0, index)).toContain(need)
    }
  })

  it.each(broken)('%s: %s', async (rule, _case, given) => {
    expect(await failedIn(given)).toEqual([rule])
  })

  it('have a broken case each', () => {
    const timed = ['validation_time']
    expect(new Set([...broken.map(([rule]) => rule), ...timed])).toEqual(
      new Set(rules.map(({ name }) => name)),
    )
  })

  it.each(broken)('%s: %s rejects or drops as it says', async (name, _case, given) => {
    const { failed, listing } = await explain(given)
    const rejects = rules.find((rule) => rule.name === name)?.effect === 'rejects'
    expect(failed?.name ?? null).toBe(rejects ? name : null)
    expect(listing === null).toBe(rejects)
  })

  it.each([
    ['a pattern that backtracks', { properties: { input: { properties: { x: backtracking } } } }],
    ['references that multiply', exponential()],
  ])('validation_time: %s is cut', async (_case, schema) => {
    const { failed } = await explain(withSchema(schema, { type: 'http', method: 'GET', x: victim }))
    expect(failed).toMatchObject({
      name: 'validation_time',
      reason: expect.stringContaining('it was cut'),
    })
  })

  it('allow private hosts where the setting does', async () => {
    expect((await explain({ resource: 'http://localhost:3000/a' }, true)).listing).toMatchObject({
      key: { url: 'http://localhost:3000/a' },
    })
  })

  it.each([
    'https://münchen.example/',
    'https://日本語.example/',
    'https://россия.example/',
    'https://1.1.1.1/',
  ])('accept the host of %s, shown in ASCII', async (resource) => {
    expect((await explain({ resource })).listing?.key.url).toMatch(/^https:\/\/[\x21-\x7e]+$/)
  })

  it('leave annotations and formats to the reader', async () => {
    const schema = {
      title: 'x',
      examples: [{ id: 'a' }, { id: 'a' }],
      properties: { input: { properties: { method: { format: 'uri', description: 'x' } } } },
    }
    expect(await failedIn(withSchema(schema))).toEqual([])
  })
})

/** 2^30 evaluations in a schema of 31 definitions. */
function exponential(): Fields {
  const entries = Array.from({ length: 30 }, (_, index) => {
    const next = { $ref: `#/$defs/d${index + 1}` }
    return [`d${index}`, { allOf: [next, next] }] as const
  })
  return { $defs: { ...Object.fromEntries(entries), d30: true }, $ref: '#/$defs/d0' }
}

describe('reading a declaration', () => {
  const payment = (given: object) => ({ ...settledPayment({ bazaar: undefined }).payment, ...given })

  it('is null where the payment declares nothing', () => {
    expect(readDeclaration(payment({}))).toBeNull()
  })

  it("prefers the requirements to the client's repetition", () => {
    const declared = bazaarOf()
    const reading = readDeclaration(
      payment({ declaredExtensions: { bazaar: declared }, clientExtensions: { bazaar: { info: {} } } }),
    )
    expect(reading?.content).toBe(declared)
  })

  it.each([
    [
      { method: 'get', query_params: { a: 1 } },
      { method: 'GET', queryParams: { a: 1 } },
    ],
    [
      { method: 'HEAD', params: { a: 1 }, headers: { b: 'c' } },
      { queryParams: { a: 1 }, headers: { b: 'c' } },
    ],
    [
      { method: 'post', body_type: 'multipart/x', data: { a: 1 } },
      { bodyType: 'form-data', body: { a: 1 } },
    ],
    [
      { method: 'PUT', bodyType: 'text/plain', bodyFields: { a: 1 } },
      { bodyType: 'text', body: { a: 1 } },
    ],
    [
      { method: 'PATCH', properties: { a: 1 } },
      { bodyType: 'json', body: { a: 1 } },
    ],
  ])('reads version 1 %j', async (input, expected) => {
    const outputSchema = { input: { type: 'http', ...input }, output: { b: 2 } }
    const reading = readDeclaration(payment({ version: 1, resourceDetails: { outputSchema } }))
    expect(reading).toMatchObject({
      version: 1,
      content: {
        info: { input: { type: 'http', ...expected }, output: { type: 'json', example: { b: 2 } } },
      },
    })
    if (reading === null) return
    const { failed } = await explainDeclaration(
      reading,
      { allowsPrivateHosts: false, schemaValidator },
      turn(),
    )
    expect(failed).toBeNull()
  })

  it.each([
    [{ input: { type: 'http', method: 'GET', discoverable: false } }],
    [{ input: { type: 'mcp', method: 'GET' } }],
    [{ input: { type: 'http' } }],
    [{ type: 'object' }],
    ['x'],
  ])('finds no declaration of version 1 in %j', (outputSchema) => {
    expect(readDeclaration(payment({ version: 1, resourceDetails: { outputSchema } }))).toBeNull()
  })
})

describe('the shape that refuses a payment', () => {
  it.each([
    [{ declaredExtensions: { bazaar: 1 } }, { origin: 'requirements', path: 'bazaar' }],
    [{ declaredExtensions: { bazaar: { info: [] } } }, { origin: 'requirements', path: 'bazaar.info' }],
    [{ clientExtensions: { bazaar: { schema: 'x' } } }, { origin: 'payload', path: 'bazaar.schema' }],
    [{ clientExtensions: { bazaar: {} } }, null],
    [{ clientExtensions: { bazaar: { info: { input: { type: 'x' } } } } }, null],
    [{}, null],
  ])('%j: %j', (given, expected) => {
    const problem = findProblem({ declaredExtensions: {}, clientExtensions: {}, ...given })
    if (expected === null) expect(problem).toBeNull()
    else expect(problem).toMatchObject(expected)
  })
})
