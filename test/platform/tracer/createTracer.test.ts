import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Secret } from '../../../src/platform/secret.js'
import { createSampler, createTracer } from '../../../src/platform/tracer/createTracer.js'
import { readTracing, samplers, type TracingSettings } from '../../../src/platform/tracer/settings.js'
import { readTraceparent } from '../../../src/platform/tracer/traceContext.js'
import { type Collector, startCollector } from '../../support/collector.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { pollUntil } from '../../support/pollUntil.js'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'

describe('a traceparent', () => {
  it('is read as W3C Trace Context has it', () => {
    expect(readTraceparent(`00-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId, isSampled: true })
    expect(readTraceparent(`00-${traceId}-${spanId}-02`)).toEqual({ traceId, spanId, isSampled: false })
    expect(readTraceparent(`cc-${traceId}-${spanId}-01-what-will-be`)).toMatchObject({ isSampled: true })
  })

  it.each([
    undefined,
    '',
    `00-${traceId}-${spanId}`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `cc-${traceId}-${spanId}-01-${'x'.repeat(200)}`,
  ])('is ignored where it is %j', (header) => {
    expect(readTraceparent(header)).toBeNull()
  })
})

describe('the sampler', () => {
  const draw = (sampler: TracingSettings['sampler'], parent: boolean | null, lot = 0.5) =>
    createSampler({ sampler, ratio: 0.25 }, () => lot)(parent === null ? null : { isSampled: parent })

  it.each(samplers)('%s records nothing for a caller that it would not record without', (sampler) => {
    for (const lot of [0.1, 0.5]) {
      expect(draw(sampler, true, lot)).toBe(draw(sampler, null, lot))
    }
  })

  it.each([
    ['always_on', true],
    ['always_off', false],
    ['traceidratio', true],
    ['parentbased_always_on', false],
    ['parentbased_always_off', false],
    ['parentbased_traceidratio', false],
  ] as const)('%s records a trace that its caller does not: %j', (sampler, isRecorded) => {
    expect(draw(sampler, false, 0.1)).toBe(isRecorded)
  })

  it('with a ratio draws by lot, so that no trace id is sure to be recorded', () => {
    expect(draw('traceidratio', null, 0.24)).toBe(true)
    expect(draw('traceidratio', true, 0.25)).toBe(false)
  })
})

const variables = (url: string) => ({
  OTEL_SDK_DISABLED: 'false' as const,
  OTEL_EXPORTER_OTLP_ENDPOINT: new Secret(url),
  OTEL_TRACES_SAMPLER: 'parentbased_always_on' as const,
  OTEL_TRACES_SAMPLER_ARG: 1,
})

describe('the settings of tracing', () => {
  it('are none without a collector, and where tracing is disabled', () => {
    const { OTEL_EXPORTER_OTLP_ENDPOINT: _, ...without } = variables('http://collector:4318')
    expect(readTracing(without)).toBeNull()
    expect(readTracing({ ...variables('http://collector:4318'), OTEL_SDK_DISABLED: 'true' })).toBeNull()
  })

  it('append the path to the endpoint of all signals, and keep that of traces', () => {
    const given = variables('https://collector.example/base/?key=1')
    expect(readTracing(given)?.url.reveal()).toBe('https://collector.example/base/v1/traces?key=1')
    const own = new Secret('https://traces.example/in')
    expect(readTracing({ ...given, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own })?.url.reveal()).toBe(
      own.reveal(),
    )
  })

  it('decode headers and attributes; the name of the service precedes its attribute', () => {
    const settings = readTracing({
      ...variables('http://collector:4318'),
      OTEL_EXPORTER_OTLP_HEADERS: new Secret('Authorization=Bearer%20t, x-team = pay'),
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=test%2C1',
      OTEL_SERVICE_NAME: 'payments',
    })
    expect(settings?.headers.authorization?.reveal()).toBe('Bearer t')
    expect(settings?.headers['x-team']?.reveal()).toBe('pay')
    expect(settings?.resource).toMatchObject({
      'service.name': 'payments',
      'deployment.environment.name': 'test,1',
    })
    expect(JSON.stringify(settings)).not.toContain('Bearer')
  })
})

describe('a tracer', () => {
  let collector: Collector
  beforeEach(async () => {
    collector = await startCollector()
  })
  afterEach(() => collector.stop())

  const open = (url = collector.url) => {
    const logger = createMemoryLogger()
    const settings = readTracing({
      ...variables(url),
      OTEL_EXPORTER_OTLP_HEADERS: new Secret('authorization=Bearer%20collector-token'),
    })
    if (settings === null) throw new Error('Tracing is off')
    const tracer = createTracer(settings, logger)
    const start = (name: string) => {
      const root = tracer.startRoot({ name, kind: 'server' })
      if (root === null) throw new Error('It is not recorded')
      return root
    }
    return { tracer, start, logger }
  }

  it('sends spans with their parents, failures, links and attributes, and its headers', async () => {
    const { tracer } = open()
    const root = tracer.startRoot({
      name: 'POST /settle',
      kind: 'server',
      attributes: { text: 'x'.repeat(1_000), count: 3, share: 0.5, isTrue: true },
      traceparent: `00-${traceId}-${spanId}-01`,
      link: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) },
    })
    const child = root?.startChild({ name: 'claim', kind: 'internal' })
    child?.end({ error: Object.assign(new Error('a message with a secret'), { code: 'NOT_FOUND' }) })
    child?.end()
    root?.end()
    await tracer.close()
    expect(collector.spans).toMatchObject([
      {
        name: 'claim',
        kind: 1,
        parentSpanId: root?.context.spanId,
        status: { code: 2, message: 'NOT_FOUND' },
      },
      {
        name: 'POST /settle',
        kind: 2,
        traceId,
        parentSpanId: spanId,
        status: {},
        links: [{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }],
        attributes: { text: 'x'.repeat(200), count: '3', share: 0.5, isTrue: true },
      },
    ])
    for (const { startTimeUnixNano, endTimeUnixNano } of collector.spans) {
      expect(endTimeUnixNano).toBeGreaterThanOrEqual(startTimeUnixNano)
    }
    expect(collector.headers[0]).toMatchObject({ authorization: 'Bearer collector-token' })
    expect(collector.resources[0]).toMatchObject({ 'service.name': 'quittance' })
  })

  it('records nothing below what has ended, and at most 500 spans of a trace', async () => {
    const { tracer, start } = open()
    const root = start('root')
    const open_ = root.startChild({ name: 'still open', kind: 'internal' })
    const children = Array.from({ length: 600 }, () => root.startChild({ name: 'child', kind: 'client' }))
    expect(children.filter((child) => child !== null)).toHaveLength(498)
    for (const child of children) child?.end()
    root.end()
    expect(root.startChild({ name: 'late', kind: 'internal' })).toBeNull()
    expect(open_?.startChild({ name: 'late', kind: 'internal' })).toBeNull()
    open_?.end()
    await tracer.close()
    expect(collector.spans).toHaveLength(499)
  })

  it.each(['refuse', 'hang'] as const)(
    'drops what finds no place while the collector would %s',
    async (how) => {
      collector.answer(how)
      const { tracer, start, logger } = open()
      for (let count = 0; count < 5_000; count += 1) start('request').end()
      await pollUntil(() => collector.countRequests() > 0, 'an export')
      await tracer.close()
      expect(collector.spans).toEqual([])
      // One request at a time, and the rest of the queue when it closes.
      expect(collector.countRequests()).toBeLessThan(8)
      const [failed] = logger.lines.filter(({ message }) => message === 'traces.export_failed')
      expect(failed?.level).toBe('warn')
      expect(JSON.stringify(logger.lines)).not.toContain('collector-token')
    },
  )

  it('costs nothing but spans where there is no collector, and says so once', async () => {
    await collector.stop()
    const { tracer, start, logger } = open()
    for (let count = 0; count < 600; count += 1) start('request').end()
    await pollUntil(() => logger.lines.length > 0, 'the failure to be logged')
    await tracer.close()
    const failures = logger.lines.filter(({ message }) => message === 'traces.export_failed')
    expect(failures[0]?.fields).toMatchObject({ problem: 'ECONNREFUSED', failures: 1, dropped: 512 })
    expect(failures.length).toBeLessThanOrEqual(2)
  })
})
