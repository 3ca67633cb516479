import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findDeclaration } from '../../../src/extensions/bazaar/declaration.js'
import { checkRules } from '../../../src/extensions/bazaar/explainDeclaration.js'
import { readStatement, statementUrlOf } from '../../../src/extensions/bazaar/recipients.js'
import { toResourceKey } from '../../../src/extensions/bazaar/resourceUrl.js'

const origin = 'https://weather.example'
const at = (path: string, toolName = '') =>
  toResourceKey(`${origin}${path}`, { routeTemplate: null, toolName })
const accepts = (payTo: string) => [
  { scheme: 'exact', network: 'eip155:84532', asset: '0xA', amount: '1', payTo, maxTimeoutSeconds: 60 },
]
const item = (resource: unknown, payTo: string, bazaar?: object) => ({
  resource,
  accepts: accepts(payTo),
  ...(bazaar === undefined ? {} : { extensions: { bazaar } }),
})
const read = (statement: unknown, key = at('/v1')) =>
  readStatement({ status: 200, body: JSON.stringify(statement) }, key)
const named = (statement: unknown, key = at('/v1')) =>
  read(statement, key).recipients?.map(({ payTo }) => payTo) ?? null
const tool = (toolName: string) => ({ info: { input: { type: 'mcp', toolName } } })

describe('the statement of a host', () => {
  it('is read at one place of the host', () => {
    expect(statementUrlOf({ url: `${origin}:8443/a/b?c#d` })).toBe(`${origin}:8443/.well-known/x402.json`)
  })

  it.each([
    ['items', { items: [item(`${origin}/v1`, '0xa')] }],
    ['resources', { resources: [item(`${origin}/v1`, '0xa')] }],
    ['a resource as an object', { items: [item({ url: `${origin}/v1` }, '0xa')] }],
    ['another spelling of the URL', { items: [item('HTTPS://Weather.example:443/v1?city=x', '0xa')] }],
    ['accepts for all', { accepts: accepts('0xa') }],
    [
      'its own item before accepts for all',
      { items: [item(`${origin}/v1`, '0xa')], accepts: accepts('0xb') },
    ],
    ['items beside broken ones', { items: [1, null, {}, { resource: 1 }, item(`${origin}/v1`, '0xa')] }],
  ])('names whom a resource wants paid: %s', (_case, statement) => {
    expect(named(statement)).toEqual(['0xa'])
  })

  it('tells the tools of an MCP server apart, and from the server', () => {
    const statement = {
      items: [
        item(`${origin}/mcp`, '0xserver'),
        item(`${origin}/mcp`, '0xb', tool('b')),
        item(`${origin}/mcp`, '0xa', tool('a')),
      ],
    }
    expect(named(statement, at('/mcp', 'a'))).toEqual(['0xa'])
    expect(named(statement, at('/mcp', 'b'))).toEqual(['0xb'])
    expect(named(statement, at('/mcp', 'c'))).toBeNull()
    expect(named(statement, at('/mcp'))).toEqual(['0xserver'])
  })

  it('names whom a route template wants paid, by the template or one URL below it', () => {
    const routeTemplate = '/users/:id'
    for (const path of ['/users/:id', '/users/7']) {
      const statement = { items: [item(`${origin}${path}`, '0xa', { routeTemplate })] }
      expect(named(statement, at('/users/:id'))).toEqual(['0xa'])
    }
    expect(named({ items: [item(`${origin}/users/7`, '0xa')] }, at('/users/:id'))).toBeNull()
    const invalid = { items: [item(`${origin}/users/7`, '0xa', { routeTemplate: '/users/..' })] }
    expect(named(invalid, at('/users'))).toBeNull()
  })

  it.each([
    [
      'another status',
      { status: 402, body: JSON.stringify({ accepts: accepts('0xa') }) },
      'status 402, not 200',
    ],
    ['a body that was not read', { status: 200, body: null }, 'no JSON object'],
    ['text', { status: 200, body: '<html>' }, 'no JSON object'],
    ['a list', { status: 200, body: '[]' }, 'no JSON object'],
    ['nothing of the resource', { status: 200, body: '{"items":[]}' }, 'names no recipient'],
    [
      'an item without recipient, also beside accepts for all',
      {
        status: 200,
        body: JSON.stringify({ items: [{ resource: `${origin}/v1` }], accepts: accepts('0xa') }),
      },
      'names no recipient',
    ],
  ])('is unusable for %s', (_case, answer, problem) => {
    expect(readStatement(answer, at('/v1'))).toEqual({
      recipients: null,
      problem: expect.stringContaining(problem),
    })
  })

  it('is listed as the documentation shows it', async () => {
    const page = await readFile(new URL('../../../docs/discovery.md', import.meta.url), 'utf8')
    const example: unknown = JSON.parse(/```json\n(\{\n {2}"x402Version".*?)```/s.exec(page)?.[1] ?? '')
    const key = at('/users/:id')
    const answer = read(example, key)
    const declaration = answer.recipients === null ? null : findDeclaration(answer.said)
    if (declaration === null) throw new Error('The example declares nothing')
    const { failed, listing } = checkRules(declaration, {
      allowsPrivateHosts: false,
      schemaVerdict: { kind: 'valid' },
    })
    expect(failed).toBeNull()
    expect(listing).toMatchObject({ key, description: 'The forecast for a user' })
    expect(named(example, at('/another'))).toHaveLength(1)
  })

  it('never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, extra) => {
        read({ items: [value, { ...item(`${origin}/v1`, '0xa'), extensions: value, resource: extra }] })
        read(value)
      }),
    )
  })
})
