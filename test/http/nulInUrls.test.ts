import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Secret } from '../../src/platform/secret.js'
import { inlineComponents } from '../support/openapi.js'
import { knownKey, testApp } from './support/app.js'

const token = 'an-operator-token-of-some-length'

const documented = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({ parameters: z.array(z.object({ name: z.string(), in: z.string() })).default([]) }),
    ),
  ),
})

const app = testApp({ operatorToken: new Secret(token), isSandbox: true })
await app.ready()
const { paths } = documented.parse(inlineComponents(app.swagger()))
const access = new Map(app.listRoutes().map((route) => [`${route.method} ${route.path}`, route.access]))

const requests = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([name, { parameters }]) => {
    const method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).parse(name.toUpperCase())
    const url = path.replaceAll(/\{\w+\}/g, '1')
    return parameters.flatMap((parameter) => {
      const title = `${method} ${path}: ${parameter.name}`
      const bearer = access.get(`${method} ${path}`) === 'operator' ? token : knownKey
      switch (parameter.in) {
        case 'path':
          return [
            {
              title,
              bearer,
              method,
              url: path.replace(`{${parameter.name}}`, 'a%00').replaceAll(/\{\w+\}/g, '1'),
            },
          ]
        case 'query':
          return [{ title, bearer, method, url: `${url}?${parameter.name}=a%00` }]
        default:
          return []
      }
    })
  }),
)

// Postgres has no text with it: what reached a statement would answer 500.
describe('the character NUL in a URL', () => {
  it('is tried in every parameter', () => {
    expect(requests.length).toBeGreaterThan(40)
  })

  it.each(requests)('is refused in $title', async ({ method, url, bearer }) => {
    const response = await app.inject({ method, url, headers: { authorization: `Bearer ${bearer}` } })
    expect([response.statusCode, response.json()]).toMatchObject([400, { code: 'INVALID_REQUEST' }])
  })

  it('is refused in the target of a pause', async () => {
    const url = '/v1/operator/pauses?kind=network&network=toy%00'
    const response = await app.inject({
      method: 'DELETE',
      url,
      headers: { authorization: `Bearer ${token}` },
    })
    expect([response.statusCode, response.json()]).toMatchObject([
      400,
      { code: 'INVALID_REQUEST', message: expect.stringContaining('%00') },
    ])
  })

  it('is refused only after the caller is known', async () => {
    const response = await app.inject({
      method: 'DELETE',
      url: '/v1/operator/pauses?kind=network&network=%00',
    })
    expect(response.statusCode).toBe(401)
  })
})
