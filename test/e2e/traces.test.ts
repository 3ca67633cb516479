import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { settleResult } from '../../src/protocol/results.js'
import { openScene } from '../chains/evm/scene.js'
import { observe } from '../deploy/observe.js'
import { type Collector, type ReceivedSpan, startCollector } from '../support/collector.js'
import { reconcileUntil } from '../support/coreClient.js'
import { useScene } from '../support/useScene.js'
import { createLoopbackFetch, startWebhookReceiver } from '../support/webhookReceiver.js'
import { accountOf } from '../usecases/webhooks/support.js'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'

/** Names of a trace below a span, as a tree; equal ones once. */
const drawTree = (spans: readonly ReceivedSpan[], parent: ReceivedSpan): object => {
  const children = spans.filter(({ parentSpanId }) => parentSpanId === parent.spanId)
  return Object.fromEntries(children.map((child) => [child.name, drawTree(spans, child)]))
}

describe('traces of a service with a collector', () => {
  const scene = useScene(openScene)
  let collector: Collector
  beforeAll(async () => {
    collector = await startCollector()
  })
  afterEach(() => collector.answer('take'))
  afterAll(() => collector.stop())

  const open = async (parts: Partial<Parameters<typeof scene.open>[0]> = {}) => {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
    const service = await scene.open({ ...parts, environment })
    return { ...service, ...(await observe(service.core, scene.database.url)) }
  }

  it('show a settlement with its statements, its calls of nodes and its outcome', async () => {
    const { app, core, signers } = await open()
    const { body, payer, payTo } = await scene.plan()
    const answer = await app.inject({
      method: 'POST',
      url: '/settle',
      payload: body,
      headers: { traceparent: `00-${traceId}-${spanId}-01` },
    })
    const { transaction, settlementId } = settleResult.parse(answer.json())
    await app.close()
    await core.close()
    const spans = await collector.waitForTrace('POST /settle')
    const [root] = spans.filter(({ name }) => name === 'POST /settle')
    if (root === undefined) throw new Error('There is no root')
    expect(root).toMatchObject({
      traceId,
      parentSpanId: spanId,
      kind: 2,
      status: {},
      attributes: { 'http.route': '/settle', 'http.response.status_code': '200' },
    })
    expect(drawTree(spans, root)).toMatchObject({
      settle: {
        eth_call: {},
        claim: {},
        send: { record: {}, eth_sendRawTransaction: {} },
        confirm: {},
        close: {},
      },
    })
    expect(spans.find(({ name }) => name === 'settle')).toMatchObject({
      attributes: {
        'quittance.network': scene.chain.network,
        'quittance.scheme': 'exact',
        'quittance.payer': payer,
        'quittance.payee': payTo,
        'quittance.is_settled': true,
        'quittance.transaction': transaction,
        'quittance.settlement_id': settlementId,
      },
    })
    const statements = spans.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql')
    expect(statements.some(({ attributes }) => attributes['db.operation.name'] === 'WITH')).toBe(true)
    expect(spans.filter(({ status }) => status.code === 2)).toEqual([])
    // Each span has a parent in the trace, except the root.
    const ids = new Set(spans.map((span) => span.spanId))
    expect(spans.filter((span) => span !== root && !ids.has(span.parentSpanId ?? ''))).toEqual([])
    // Neither bytes of the payment nor keys.
    const text = JSON.stringify(spans, (_, value) => (typeof value === 'bigint' ? String(value) : value))
    expect(text).not.toContain(body.paymentPayload.payload.signature.slice(2, 40))
    for (const { privateKey } of signers) expect(text).not.toContain(privateKey.slice(2))
  })

  it('show a refused node as the failure of its call', async () => {
    const node = await scene.openProxy()
    const { app, core } = await open({ rpcUrls: [node.url] })
    const { body } = await scene.plan()
    node.setFault('*', { kind: 'refuse' })
    await app.inject({ method: 'POST', url: '/verify', payload: body })
    await app.close()
    await core.close()
    const spans = await collector.waitForTrace('POST /verify')
    expect(spans.filter(({ status }) => status.code === 2).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['eth_call', 'verify', 'POST /verify']),
    )
  })

  it('hold nothing that a caller wrote in place of names and addresses', async () => {
    const { app, core } = await open()
    const { body } = await scene.plan()
    const payTo = 'ada@example.com'
    const payload = { ...body, paymentRequirements: { ...body.paymentRequirements, payTo } }
    const headers = { authorization: 'Bearer qtn_sk_of-a-caller', cookie: 'a-cookie' }
    await app.inject({ method: 'POST', url: '/verify?token=in-a-query', payload, headers })
    await app.inject({ method: 'POST', url: '/verify', payload })
    await app.inject('/ada@example.com/in-a-path')
    await app.close()
    await core.close()
    await collector.waitForTrace('GET other')
    const text = JSON.stringify(collector.spans, (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    for (const secret of ['ada@example.com', 'of-a-caller', 'a-cookie', 'in-a-query', 'in-a-path']) {
      expect(text).not.toContain(secret)
    }
  })

  it('continue at the receiver of a webhook, in a trace of their own', async () => {
    const receiver = await startWebhookReceiver()
    const service = await open({ webhookTransport: createLoopbackFetch() })
    await service.core.useCases.webhooks.setWebhook(accountOf('shop'), receiver.url)
    await service.settle((await scene.plan()).body, 'shop')
    await service.run('deliverWebhooks')
    await service.core.close()
    const [delivery] = await collector.waitForTrace('deliver webhook')
    expect(delivery).toMatchObject({ attributes: { 'server.address': new URL(receiver.url).host } })
    expect(receiver.received[0]?.headers.traceparent).toBe(`00-${delivery?.traceId}-${delivery?.spanId}-01`)
    await receiver.close()
  })

  it('link what resolves a settlement later to the request that opened it', async () => {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, SETTLE_WAIT_SECONDS: '1' }
    const service = await scene.open({ environment })
    const { app } = await observe(service.core, scene.database.url)
    await scene.chain.control.setAutomine(false)
    const { body } = await scene.plan()
    const headers = { traceparent: `00-${'c'.repeat(32)}-${spanId}-01` }
    const answer = await app.inject({ method: 'POST', url: '/settle', payload: body, headers })
    const pending = z.looseObject({ settlementId: z.string() }).parse(answer.json())
    await scene.chain.control.setAutomine(true)
    await scene.chain.control.mine()
    await reconcileUntil(service, pending, 'confirmed')
    await app.close()
    await service.core.close()
    const resolved = await collector.waitForTrace('resolve')
    expect(resolved.find(({ name }) => name === 'resolve')?.links).toMatchObject([
      { traceId: 'c'.repeat(32) },
    ])
  })

  it.each(['refuse', 'hang'] as const)('delay nothing while the collector would %s', async (how) => {
    collector.answer(how)
    const { settle, core } = await open()
    expect(await settle((await scene.plan()).body)).toMatchObject({ success: true })
    await core.close()
  })

  it('do not exist for probes', async () => {
    const { app, core } = await open()
    for (const url of ['/health', '/ready', '/metrics']) await app.inject(url)
    await app.inject('/tiers')
    await app.close()
    await core.close()
    await collector.waitForTrace('GET /tiers')
    expect(collector.spans.filter(({ name }) => /health|ready|metrics/.test(name))).toEqual([])
  })
})

describe('a service without a collector', () => {
  const scene = useScene(openScene)

  it('has no tracer', async () => {
    const { core } = await scene.open()
    expect(core.tracer).toBeNull()
  })
})
