import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { testApp } from './support/app.js'

const policyOf = async (url: string): Promise<Map<string, string>> => {
  const { headers } = await testApp().inject(url)
  const directives = String(headers['content-security-policy']).split('; ')
  return new Map(directives.map((each) => [each.split(' ', 1).join(''), each.split(' ').slice(1).join(' ')]))
}

describe('the reference at /docs', () => {
  it.each(['/docs', '/docs/'])('%s is a page that loads resources from this service only', async (url) => {
    const response = await testApp().inject(url)
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8')
    const loaded = [...response.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, target = '']) => target)
    expect(loaded.length).toBeGreaterThan(4)
    for (const target of loaded) {
      expect(target).toMatch(/^(?:\/docs|\.)\/static\//)
      const asset = await testApp().inject(new URL(target, 'http://localhost/docs/').pathname)
      expect(asset.statusCode).toBe(200)
    }
    expect(response.body).not.toMatch(/https?:\/\//)
    expect(response.body).not.toMatch(/<script[^>]*>[^<\s]/)
  })

  it('forbids the browser every other host, inline scripts and frames', async () => {
    const policy = await policyOf('/docs')
    expect(Object.fromEntries(policy)).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self' 'unsafe-inline'",
      'img-src': "'self' data:",
      'font-src': "'self'",
      'connect-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    })
  })

  it('sends each file compressed, and again only when it has changed', async () => {
    const app = testApp()
    const url = '/docs/static/swagger-ui-bundle.js'
    const { headers, rawPayload } = await app.inject(url)
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'gzip',
      'x-content-type-options': 'nosniff',
    })
    expect(headers['content-security-policy']).toContain("script-src 'self'")
    expect(gunzipSync(rawPayload).toString()).toContain('SwaggerUIBundle')
    expect(rawPayload.length).toBeLessThan(500_000)

    const again = await app.inject({ url, headers: { 'if-none-match': String(headers.etag) } })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    const other = await app.inject('/docs/static/swagger-ui.css')
    expect(other.headers.etag).not.toBe(headers.etag)
  })

  it('loads the document from this service and uses no online validator', async () => {
    const { body } = await testApp().inject('/docs/static/swagger-initializer.js')
    expect(body).toContain("url: resolveUrl('./json')")
    expect(body).toMatch(/validatorUrl: (null|undefined|false)/)
    expect(body).not.toMatch(/https?:\/\/(?!stackoverflow\.com)/)
  })

  it.each(['yaml', 'json'])('has the document beneath itself as openapi.%s, too', async (form) => {
    const app = testApp()
    const [beneath, served] = await Promise.all([
      app.inject(`/docs/api/openapi.${form}`),
      app.inject(`/api/openapi.${form}`),
    ])
    expect(beneath.statusCode).toBe(200)
    expect(beneath.headers['content-type']).toBe(served.headers['content-type'])
    expect(beneath.body).toBe(served.body)
  })

  it('shows the document that is served as a file', async () => {
    const app = testApp()
    const [shown, served] = [await app.inject('/docs/json'), await app.inject('/api/openapi.json')]
    expect(shown.json()).toEqual(served.json())
  })
})
