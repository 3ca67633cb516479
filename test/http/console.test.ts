import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { chooseForm, readConsoleFiles } from '../../src/http/consoleFiles.js'
import { errorResponses } from '../../src/http/plugins/errorResponses.js'
import { consoleRoutes } from '../../src/http/routes/console.js'
import { silentLogger } from '../../src/platform/logger.js'
import { testApp } from './support/app.js'

const files = readConsoleFiles()
const scriptName = [...(files?.assets.keys() ?? [])].find((name) => /^console-.*\.js$/.test(name)) ?? ''
const scriptUrl = `/console/assets/${scriptName}`

describe('GET /console', () => {
  it.each(['/console', '/console/', '/console/payments', '/console/payments/any?status=failed'])(
    'is the page at %s, under a policy that allows only what this service serves',
    async (url) => {
      const { statusCode, headers, body } = await testApp().inject(url)
      expect(statusCode).toBe(200)
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      )
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
      })
      expect(body).not.toMatch(/<script>|<style|\sstyle="|\son\w+=/i)
      const targets = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, target]) => target)
      expect(targets).toContain(scriptUrl)
      expect(targets.filter((target) => !/^\/(?!\/)/.test(target ?? ''))).toEqual([])
      expect(headers['set-cookie']).toBeUndefined()
    },
  )

  it('is not sent again to a browser that has it', async () => {
    const app = testApp()
    const { headers } = await app.inject('/console')
    const again = await app.inject({ url: '/console', headers: { 'if-none-match': String(headers.etag) } })
    expect([again.statusCode, again.body]).toEqual([304, ''])
  })

  it('is 404 with what to do where it was not built', async () => {
    const app = fastify()
    await app.register(errorResponses, { logger: silentLogger })
    const useCases = { listNetworks: () => [] }
    await app.register(consoleRoutes, { useCases, files: readConsoleFiles('/nowhere') })
    for (const url of ['/console', scriptUrl]) {
      const response = await app.inject(url)
      expect(response.statusCode).toBe(404)
      expect(response.json()).toEqual({
        code: 'NOT_FOUND',
        message: 'The console is not built: run npm run build',
      })
    }
  })
})

describe('GET /console/assets', () => {
  const plain = files?.assets.get(scriptName)?.forms.get('identity')

  it.each([
    ['br', 'gzip, deflate, br, zstd', brotliDecompressSync],
    ['gzip', 'gzip, br;q=0', gunzipSync],
    [undefined, 'identity', (bytes: Buffer) => bytes],
    [undefined, undefined, (bytes: Buffer) => bytes],
  ])('answers %s to Accept-Encoding: %s, to be kept for ever', async (coding, accept, decode) => {
    const headers = accept === undefined ? {} : { 'accept-encoding': accept }
    const response = await testApp().inject({ url: scriptUrl, headers })
    expect(response.statusCode).toBe(200)
    expect(response.headers['content-encoding']).toBe(coding)
    expect(response.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
      'x-content-type-options': 'nosniff',
    })
    expect(decode(response.rawPayload).equals(plain ?? Buffer.alloc(0))).toBe(true)
  })

  it('reads a bounded part of Accept-Encoding', () => {
    const asset = files?.assets.get(scriptName)
    if (asset === undefined) throw new Error('The console is not built')
    expect(chooseForm(asset, `${'a,'.repeat(100_000)}br`)[0]).toBe('identity')
  })

  it.each(['.inputs.json', '..%2Findex.html', '%2e%2e%2findex.html', 'console.js', 'constructor'])(
    'has no file %s',
    async (name) => {
      const response = await testApp().inject(`/console/assets/${name}`)
      expect(response.statusCode).toBe(404)
      expect(response.json().code).toBe('NOT_FOUND')
    },
  )

  it('have a script of at most 80 kB, compressed', () => {
    const read = (name: string, form: 'gzip' | 'identity') =>
      files?.assets.get(name)?.forms.get(form) ?? Buffer.alloc(0)
    const shared = [
      ...read(scriptName, 'identity')
        .toString()
        .matchAll(/from"\.\/([^"]+\.js)"/g),
    ].map(([, name]) => name ?? '')
    const sizes = [scriptName, ...shared].map((name) => read(name, 'gzip').length)
    expect(Math.min(...sizes)).toBeGreaterThan(100)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(10_000)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(80_000)
    // The page names all of them, so that the browser asks for them at once.
    for (const name of [scriptName, ...shared]) {
      expect(files?.index.bytes.toString()).toContain(`/console/assets/${name}"`)
    }
  })

  it('have the licenses of the packages in the script', async () => {
    const { body } = await testApp().inject('/console/assets/licenses.txt')
    for (const name of ['preact', 'uplot']) expect(body).toMatch(new RegExp(`^${name}$`, 'm'))
    expect(body).toContain('Permission is hereby granted')
  })
})

describe('GET /console/networks.json', () => {
  it('names networks and tokens', async () => {
    const tokens = [{ asset: '0xabc', symbol: 'USDC', decimals: 6 }]
    const app = testApp({
      core: {
        listNetworks: () => [
          { network: 'eip155:84532', isTestnet: true, tokens },
          { network: 'tron:nile', isTestnet: true, tokens: [] },
          { network: 'eip155:31337', isTestnet: true, tokens: [] },
        ],
      },
    })
    const response = await app.inject('/console/networks.json')
    expect(response.headers['cache-control']).toBe('no-store')
    expect(response.json()).toEqual({
      networks: [
        { network: 'eip155:84532', name: 'Base Sepolia', isTestnet: true, tokens },
        { network: 'tron:nile', name: 'Tron Nile', isTestnet: true, tokens: [] },
        { network: 'eip155:31337', name: 'eip155:31337', isTestnet: true, tokens: [] },
      ],
    })
  })
})
