import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Core } from '../../src/compose.js'
import { canonicalNetwork } from '../../src/protocol/network.js'
import { differenceKinds } from '../../src/protocol/reconciliation.js'
import { paymentBodyWith } from '../http/support/payment.js'
import { openCore } from '../support/core.js'
import { readCodeSpans, readTable } from '../support/markdown.js'
import { useTestDatabase } from '../support/postgres.js'
import { readText } from '../support/readText.js'
import { type Observed, observe } from './observe.js'
import { readSamples } from './scrape.js'

const page = readText('docs/reference/metrics.md')
const documented = new Map(
  readTable(page, 'Bound').map(({ Label: label = '', Values: values = '' }) => [
    readCodeSpans(label)[0] ?? '',
    readCodeSpans(values),
  ]),
)

describe('the labels of metrics', () => {
  const database = useTestDatabase({ isSandbox: true })
  let core: Core
  let service: Observed
  let floods = 0
  beforeAll(async () => {
    core = await openCore({ databaseUrl: database.url, environment: { SANDBOX: 'true' } })
    service = await observe(core, database.url)
  })
  afterAll(() => core.close())

  /** Requests of the same kinds as those before, with values that nobody sent before. */
  const flood = async () => {
    const random = () => randomBytes(8).toString('hex')
    const number = () => randomBytes(5).readUIntBE(0, 5)
    for (let round = 0; round < 8; round += 1) {
      const urls = [`/${random()}`, `/${random()}/${random()}?${random()}=1`, `/%${random()}`, '/%']
      const known = [`/v1/settlements/${randomUUID()}`, `/v1/settlements/${random()}`, `/health?${random()}`]
      for (const url of [...urls, ...known]) await service.app.inject(url)
      for (const method of ['PROPFIND', 'MKCOL', 'PUT', 'TRACE', 'DELETE', 'OPTIONS'] as const) {
        await service.app.inject({ method: 'GET', url: `/${random()}`, ...Object({ method }) })
      }
      const bodies = [
        paymentBodyWith({ network: `eip155:${number()}` }),
        paymentBodyWith({ network: `${random()}:${random()}` }),
        paymentBodyWith({ scheme: random() }),
        paymentBodyWith({ network: 'base-sepolia', scheme: random() }),
        { [random()]: random() },
      ]
      for (const payload of bodies) {
        for (const url of ['/verify', '/settle', '/v1/stream/open', '/v1/accepts']) {
          await service.app.inject({ method: 'POST', url, payload, headers: { 'x-request-id': random() } })
        }
      }
    }
    // The last request of a flood: a page that has it has all others.
    await service.app.inject('/tiers')
    floods += 1
    const labels = { method: 'GET', endpoint: '/tiers', status: '200' }
    const series = await service.scrapeUntil(['facilitator_requests_total', labels], floods)
    return { series: [...series.keys()].sort(), samples: await readOurSamples() }
  }

  const readOurSamples = async () =>
    readSamples((await service.app.inject('/metrics')).body).filter(({ name }) =>
      /^(?:quittance|facilitator)_/.test(name),
    )

  it('are those of the table, and each metric has the ones that its row names', async () => {
    const rows = readTable(page, 'Metric').map(({ Metric: name = '', Labels: labels = '' }) => ({
      name: readCodeSpans(name)[0] ?? '',
      labels: readCodeSpans(labels),
    }))
    const registered = core.metrics.registry.getMetricsAsArray().flatMap((metric) => {
      const labels = 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames : []
      return [{ name: metric.name, labels: labels.filter((label) => label !== 'le') }]
    })
    const byName = (left: { name: string }, right: { name: string }) => (left.name < right.name ? -1 : 1)
    expect(registered.sort(byName)).toEqual(rows.sort(byName))
    const used = new Set([...rows.flatMap(({ labels }) => labels), 'le'])
    expect([...documented.keys()].sort()).toEqual([...used].sort())
  })

  it('stay within their bounds, whatever callers send, and other values make no other series', async () => {
    // The page counts requests for itself.
    await service.scrape()
    const { series } = await flood()
    const after = await flood()
    expect(after.series).toEqual(series)

    const kinds = core.useCases.core.listSupported().kinds
    const networks = core.listNetworks()
    const routes = service.app.listRoutes().map(({ path }) => path.replaceAll(/\{(\w+)\}/g, ':$1'))
    const allowed: Readonly<Record<string, readonly string[]>> = {
      endpoint: [...routes, '*', 'other'],
      network: [...kinds.map(({ network }) => canonicalNetwork(network)), 'other'],
      scheme: [...kinds.map(({ scheme }) => scheme), 'other'],
      kind: differenceKinds,
      background_job: core.jobs.map(({ name }) => name),
      signer: networks.flatMap(({ signers }) => signers.map(({ signer }) => signer)),
      host: networks.flatMap(({ endpoints }) => endpoints.map(({ host }) => host)),
      // RFC 9110: three digits, of which the first is 1 to 5.
      status: Array.from({ length: 500 }, (_, at) => String(100 + at)),
    }
    const seen = after.samples.flatMap(({ labels }) => Object.entries(labels))
    const outside = seen.filter(
      ([label, value]) => label !== 'le' && !(allowed[label] ?? documented.get(label) ?? []).includes(value),
    )
    expect(outside).toEqual([])
    for (const label of ['method', 'endpoint', 'status', 'network', 'scheme', 'result']) {
      expect(seen.some(([name]) => name === label)).toBe(true)
    }
    const buckets = new Set(seen.filter(([label]) => label === 'le').map(([, value]) => value))
    expect(buckets.size).toBe(15)
  })
})
