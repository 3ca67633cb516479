import { describe, expect, it } from 'vitest'
import { buildApp } from '../../src/app.js'
import { coreUseCases, testApp, testMetrics } from './support/app.js'

const settings = { trustProxy: [], bodyLimitBytes: 1_048_576 }

/** Fastify prints a tree: a line's address is its own part after those of the lines that it hangs on. */
const listPrinted = (tree: string): readonly string[] => {
  const parts: string[] = []
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (\S*)(?: \((.+)\))?$/.exec(line) ?? []
    parts.splice(indent.length / 4, parts.length, part)
    const path = parts.join('').replaceAll(/:(\w+)/g, '{$1}')
    return methods === '' ? [] : methods.split(', ').map((method) => `${method} ${path}`)
  })
}

describe('every route', () => {
  it('says who may call it (A32)', async () => {
    const app = testApp()
    await app.ready()
    const listed = app.listRoutes().map(({ method, path, access }) => `${method} ${path} ${access}`)
    expect(listed.filter((line) => !line.includes(' /docs'))).toEqual([
      'OPTIONS * public',
      'POST /verify key',
      'POST /settle key',
      'GET /v1/settlements/{id} public',
      'HEAD /v1/settlements/{id} public',
      'GET /v1/settlements public',
      'HEAD /v1/settlements public',
      'GET /health public',
      'HEAD /health public',
      'GET /ready public',
      'HEAD /ready public',
      'GET /metrics public',
      'HEAD /metrics public',
      'GET /info public',
      'HEAD /info public',
      'GET /tiers public',
      'HEAD /tiers public',
      'GET /supported public',
      'HEAD /supported public',
      'GET /api/openapi.yaml public',
      'HEAD /api/openapi.yaml public',
      'GET /api/openapi.json public',
      'HEAD /api/openapi.json public',
    ])
    expect(listed.filter((line) => line.includes(' /docs') && !line.endsWith(' public'))).toEqual([])
  })

  it('is in the list: what fastify prints has nothing more', async () => {
    const app = testApp()
    await app.ready()
    const paths = listPrinted(app.printRoutes({ commonPrefix: false }))
    const listed = new Set(app.listRoutes().map(({ method, path }) => `${method} ${path}`))
    expect(paths.length).toBeGreaterThan(20)
    // Below /docs it prints a wildcard in the wrong place.
    const own = paths.filter((path) => !path.includes(' /docs/'))
    expect(own.filter((path) => !listed.has(path))).toEqual([])
  })

  it('that does not say who may call it stops the start', async () => {
    const app = buildApp({ useCases: { core: coreUseCases() }, settings, metrics: testMetrics() })
    app.get('/debug', async () => 'open to all')
    const started = app.ready().then(() => 'started')
    await expect(started).rejects.toThrow('GET /debug does not say who may call it')
  })
})
