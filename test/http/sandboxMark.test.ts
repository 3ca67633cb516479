import { describe, expect, it } from 'vitest'
import { testApp } from './support/app.js'

describe('an answer of a sandbox', () => {
  const app = testApp({ isSandbox: true })

  it.each(['/health', '/tiers', '/sandbox/addresses', '/nowhere', '/v1/settlements/x'])(
    'of %s says so in its body and in a header',
    async (url) => {
      const { headers, body } = await app.inject({ url })
      expect(headers['x-sandbox']).toBe('true')
      expect(JSON.parse(body)).toHaveProperty('sandbox', true)
      expect(headers['content-length']).toBe(String(Buffer.byteLength(body)))
    },
  )

  it.each(['/metrics', '/', '/favicon.svg', '/api/openapi.json', '/api/openapi.yaml'])(
    'of %s says so in a header',
    async (url) => {
      const { headers, statusCode } = await app.inject({ url, headers: { accept: 'text/html' } })
      expect(statusCode).toBe(200)
      expect(headers['x-sandbox']).toBe('true')
    },
  )

  it('to a browser says so on the page', async () => {
    const { body } = await app.inject({ url: '/', headers: { accept: 'text/html' } })
    expect(body).toContain('Sandbox: no payment is real')
  })
})

it('an answer of another instance says nothing of a sandbox', async () => {
  const app = testApp()
  for (const url of ['/health', '/', '/nowhere']) {
    const { headers, body } = await app.inject({ url, headers: { accept: 'text/html' } })
    expect(headers['x-sandbox']).toBeUndefined()
    expect(body.toLowerCase()).not.toContain('sandbox')
  }
})
