import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { acceptsHtml } from '../../src/http/routes/home.js'
import type { CoreUseCases } from '../../src/usecases/core/useCases.js'
import { testApp } from './support/app.js'

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

const core: Partial<CoreUseCases> = {
  listSupported: () => ({
    kinds: [
      { x402Version: 2, payVersion: 2, t402Version: 2, scheme: 'exact', network: 'eip155:84532' },
      { x402Version: 1, payVersion: 1, t402Version: 1, scheme: 'exact', network: 'base-sepolia' },
    ],
    extensions: [],
    signers: {},
  }),
  checkReadiness: async () => ({
    status: 'ready',
    checks: {
      database: 'ok',
      rpc: 'ok',
      gas: 'low',
      'gas:eip155:84532': 'low',
      'gas:ton:mainnet': 'unknown',
    },
  }),
}

const get = (headers: Record<string, string>, options: Parameters<typeof testApp>[0] = { core }) =>
  testApp(options).inject({ url: '/', headers })

describe('GET /', () => {
  it('is a page for browsers', async () => {
    const { statusCode, headers, body } = await get({ accept: browser })
    expect(statusCode).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['cache-control']).toBe('no-store')
    expect(String(headers.vary)).toContain('Accept')
    for (const link of ['/docs', '/supported', '/api/openapi.yaml']) expect(body).toContain(`href="${link}"`)
    expect(body).toMatch(
      /Base Sepolia<\/span>.*serving, gas is low<\/span><span class="id">eip155:84532 · exact</,
    )
    expect(body).toMatch(/TON<\/span>.*not serving<\/span><span class="id">ton:mainnet</)
    expect(body).toContain('<strong>1 of 2</strong>')
  })

  it.each([undefined, '*/*', 'application/json', 'application/json, text/html;q=0.5', 'text/html;q=0'])(
    'is JSON for a program that sends Accept: %s',
    async (accept) => {
      const { headers, body } = await get(accept === undefined ? {} : { accept })
      expect(headers['content-type']).toBe('application/json; charset=utf-8')
      expect(JSON.parse(body)).toEqual({
        name: 'quittance',
        version: '0.1.0',
        description: 'A facilitator',
        status: 'ready',
        networks: [
          { network: 'eip155:84532', name: 'Base Sepolia', schemes: ['exact'], isServing: true, gas: 'low' },
          { network: 'ton:mainnet', name: 'TON', schemes: [], isServing: false, gas: 'unknown' },
        ],
        links: { docs: '/docs', openapi: '/api/openapi.yaml', supported: '/supported', info: '/info' },
      })
    },
  )

  it('loads nothing, runs no script, and allows its one style by its hash', async () => {
    const { headers, body } = await get({ accept: browser })
    const style = /<style>([\s\S]*?)<\/style>/.exec(body)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
    expect(body).not.toMatch(/<script|\sstyle="|\son\w+=|@import|url\((?!#)/i)
    const targets = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, target]) => target)
    expect(targets.filter((target) => !/^[/#](?!\/)/.test(target ?? ''))).toEqual([])
    expect(Buffer.byteLength(body)).toBeLessThan(16_384)
  })

  it('escapes what it inserts', async () => {
    const hostile = `<img src=x onerror=alert(1)>"'&`
    const { body } = await get(
      { accept: browser },
      {
        core: {
          ...core,
          describeService: () => ({
            name: 'quittance',
            version: hostile,
            description: '',
            features: {},
            limitations: [],
          }),
          checkReadiness: async () => ({ status: 'unready', checks: { [`gas:${hostile}`]: 'ok' } }),
        },
      },
    )
    expect(body).not.toContain('<img')
    expect(body).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;')
    expect(body).toContain('Not ready: see /ready')
  })

  it('shows the URL that it was reached under, and never a host that is none', async () => {
    const shown = async (host: string) => (await get({ accept: browser, host })).body
    expect(await shown('pay.example:8443')).toContain('http://pay.example:8443')
    const forged = await shown(`x'"><script>alert(1)</script>`)
    expect(forged).not.toContain('alert(1)')
    expect(forged).toContain('http://localhost:8080')
  })

  it('says whether a key is needed, and where no network is configured', async () => {
    const guarded = await get({ accept: browser }, { core, apiKeyRequired: true })
    expect(guarded.body).toContain('This instance requires an API key')
    const bare = await get({ accept: browser }, {})
    expect(bare.body).toContain('No API key is required')
    expect(bare.body).toContain('None is configured')
  })

  it('tells callers nothing that only operators may know', async () => {
    const { body } = await get({})
    expect(body).not.toMatch(/problem|balance|signer|host/)
  })

  it.each(['/favicon.svg', '/favicon.ico'])('has an icon at %s', async (url) => {
    const { statusCode, headers, body } = await testApp().inject(url)
    expect(statusCode).toBe(200)
    expect(headers['content-type']).toBe('image/svg+xml; charset=utf-8')
    expect(headers['cache-control']).toBe('public, max-age=86400')
    expect(body).toMatch(/^<svg /)
  })
})

describe('the Accept header', () => {
  it.each([
    [browser, true],
    ['text/html', true],
    ['TEXT/HTML; charset=utf-8', true],
    ['text/html;q=0.9, application/json;q=0.9', true],
    ['application/json;q=0.9, text/html;q=0.8', false],
    ['text/*', false],
    ['text/html;q=x', false],
    ['', false],
    [`${'a/b,'.repeat(100_000)}text/html`, false],
  ])('%.60s asks for a page: %s', (accept, isPage) => {
    expect(acceptsHtml(accept)).toBe(isPage)
  })
})
