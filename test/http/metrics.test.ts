import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/errors.js'
import { createMetrics } from '../../src/platform/metrics.js'
import type { MeasuredNetwork } from '../../src/platform/networkGauges.js'
import { Secret } from '../../src/platform/secret.js'
import { differenceKinds } from '../../src/protocol/reconciliation.js'
import { createMemoryRateLimiter } from '../../src/stores/cache/rateLimiter.js'
import { pausedError } from '../../src/usecases/core/verify/pauses.js'
import { createManualClock } from '../support/manualClock.js'
import { type TestAppOptions, testApp, testMetrics } from './support/app.js'
import { paymentBody, paymentBodyWith } from './support/payment.js'

const measured = (parts: TestAppOptions = {}) => {
  const metrics = testMetrics()
  const app = testApp({ ...parts, metrics })
  return {
    app,
    metrics,
    /** The lines of a metric, without its name. */
    lines: async (name: string) =>
      (await metrics.registry.metrics())
        .split('\n')
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .map((line) => line.slice(name.length).trimStart()),
  }
}

describe('GET /metrics', () => {
  it('returns Prometheus text', async () => {
    const { app } = measured()
    const response = await app.inject('/metrics')
    expect(response.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    for (const name of [
      'facilitator_requests_total',
      'facilitator_request_duration_seconds',
      'facilitator_verify_total',
      'facilitator_settle_total',
      'facilitator_active_requests',
    ]) {
      expect(response.body).toContain(`# HELP ${name} `)
    }
  })

  it('counts requests by method, route pattern and status', async () => {
    const { app, lines } = measured()
    await app.inject('/health')
    await app.inject('/v1/settlements/9401b76e-f466-496f-8524-886a61ebf067')
    await app.inject({ method: 'POST', url: '/verify', payload: {} })
    expect(await lines('facilitator_requests_total')).toEqual([
      '{method="GET",endpoint="/health",status="200"} 1',
      '{method="GET",endpoint="/v1/settlements/:id",status="404"} 1',
      '{method="POST",endpoint="/verify",status="400"} 1',
    ])
    expect(await lines('facilitator_active_requests')).toEqual(['0'])
  })

  it('creates no labels for unknown paths and methods', async () => {
    const { app, lines } = measured()
    for (const url of ['/a', '/b?c=d', '/%', '/wp-admin/1', `/v1/settlements/${'x'.repeat(300)}`])
      await app.inject(url)
    await app.inject({ method: 'PROPFIND', url: '/a' })
    expect(await lines('facilitator_requests_total')).toEqual([
      '{method="GET",endpoint="other",status="404"} 3',
      '{method="GET",endpoint="other",status="400"} 2',
      '{method="other",endpoint="other",status="404"} 1',
    ])
  })

  it('counts verifications by result and canonical network name', async () => {
    const answers = [
      async () => ({ isValid: true }),
      async () => ({ isValid: false }),
      async () => {
        throw new AppError('VERIFICATION_FAILED', 'no')
      },
    ]
    const { app, lines } = measured({
      core: { verifyPayment: async () => await (answers.shift() ?? fail)() },
    })
    const body = paymentBodyWith({ network: 'base-sepolia' })
    for (const payload of [paymentBody(), body, body])
      await app.inject({ method: 'POST', url: '/verify', payload })
    expect(await lines('facilitator_verify_total')).toEqual([
      '{network="eip155:84532",scheme="exact",result="valid"} 1',
      '{network="eip155:84532",scheme="exact",result="invalid"} 1',
      '{network="eip155:84532",scheme="exact",result="error"} 1',
    ])
  })

  it('counts settlements by result returned to the caller', async () => {
    const result = { success: false, transaction: '', network: 'n' }
    const answers = [
      { result: { ...result, success: true }, isReplayed: false },
      { result: { ...result, success: true }, isReplayed: true },
      { result: { ...result, errorReason: 'settlement_pending' }, isReplayed: false },
      { result: { ...result, errorReason: 'insufficient_funds' }, isReplayed: false },
    ]
    const { app, lines } = measured({ core: { settlePayment: async () => answers.shift() ?? fail() } })
    for (let round = 0; round < 5; round += 1)
      await app.inject({ method: 'POST', url: '/settle', payload: paymentBody() })
    expect(await lines('facilitator_settle_total')).toEqual(
      ['confirmed', 'replayed', 'pending', 'failed', 'error'].map(
        (label) => `{network="eip155:84532",scheme="exact",result="${label}"} 1`,
      ),
    )
  })

  it('counts what callers and operators decide as refused, not as an error of the service', async () => {
    const target = { kind: 'network', network: 'eip155:84532' } as const
    const errors = [
      new AppError('QUOTA_EXCEEDED', 'no'),
      new AppError('PAYLOAD_MISMATCH', 'no'),
      pausedError({ target, reason: 'Maintenance' }),
    ]
    for (const error of errors) {
      const refuse = async () => {
        throw error
      }
      const { app, lines } = measured({ core: { verifyPayment: refuse, settlePayment: refuse } })
      for (const url of ['/verify', '/settle']) {
        await app.inject({ method: 'POST', url, payload: paymentBody() })
      }
      const counted = ['{network="eip155:84532",scheme="exact",result="refused"} 1']
      expect(await lines('facilitator_verify_total')).toEqual(counted)
      expect(await lines('facilitator_settle_total')).toEqual(counted)
    }
  })

  it('creates no labels for unknown networks and schemes (A26)', async () => {
    const { app, lines } = measured()
    for (let round = 0; round < 200; round += 1) {
      const payload = paymentBodyWith({ network: `eip155:${round}`, scheme: `scheme-${round}` })
      for (const url of ['/verify', '/settle']) await app.inject({ method: 'POST', url, payload })
    }
    expect(await lines('facilitator_verify_total')).toEqual([
      '{network="other",scheme="other",result="valid"} 200',
    ])
    expect(await lines('facilitator_settle_total')).toEqual([
      '{network="other",scheme="other",result="confirmed"} 200',
    ])
  })
})

describe('the nightly reconciliation in GET /metrics', () => {
  it('has each kind of difference on its own: undelivered events do not hide lost money', async () => {
    const { metrics, lines } = measured()
    const name = 'quittance_reconciliation_differences'
    expect(await lines(name)).toEqual([])
    const run = { unchecked: 3, finishedAt: '2026-01-02T01:00:00.000Z' }
    metrics.setLastReconciliation({ ...run, counts: [{ kind: 'event_undelivered', count: 7 }] })
    const first = await lines(name)
    expect(first).toHaveLength(differenceKinds.length)
    expect(first.filter((line) => !line.endsWith(' 0'))).toEqual(['{kind="event_undelivered"} 7'])
    metrics.setLastReconciliation({ ...run, counts: [{ kind: 'payment_missing', count: 1 }] })
    expect((await lines(name)).filter((line) => !line.endsWith(' 0'))).toEqual(['{kind="payment_missing"} 1'])
    expect(await lines('quittance_reconciliation_unchecked')).toEqual(['3'])
    expect(await lines('quittance_reconciliation_finished_timestamp_seconds')).toEqual([
      String(Date.parse(run.finishedAt) / 1_000),
    ])
  })
})

describe('networks in GET /metrics', () => {
  const network = 'eip155:84532'
  const node = { host: 'a.example', isUp: true, head: 123n, latencyMs: 40 }
  const ours = { signer: '0xabc', balance: 10n ** 18n, settlementsLeft: 77 }

  const open = () => {
    let networks: readonly MeasuredNetwork[] = []
    const metrics = createMetrics({ kinds: [], measuresProcess: false, listNetworks: () => networks })
    return async (now: readonly MeasuredNetwork[]) => {
      networks = now
      const page = await metrics.registry.metrics()
      return page.split('\n').filter((line) => /^quittance_(network|signer|rpc)_/.test(line))
    }
  }

  it('are shown with current signer balances and endpoint health', async () => {
    const read = open()
    const serving = { network, isServing: true, signers: [ours], endpoints: [node] }
    expect(await read([serving])).toEqual([
      `quittance_network_serving{network="${network}"} 1`,
      `quittance_signer_settles_left{network="${network}",signer="0xabc"} 77`,
      `quittance_signer_balance{network="${network}",signer="0xabc"} 1000000000000000000`,
      `quittance_rpc_endpoint_up{network="${network}",host="a.example"} 1`,
      `quittance_rpc_endpoint_head{network="${network}",host="a.example"} 123`,
      `quittance_rpc_endpoint_latency_seconds{network="${network}",host="a.example"} 0.04`,
    ])
    const away = { host: 'a.example', isUp: false, head: null, latencyMs: null }
    expect(await read([{ network, isServing: false, signers: [], endpoints: [away] }])).toEqual([
      `quittance_network_serving{network="${network}"} 0`,
      `quittance_rpc_endpoint_up{network="${network}",host="a.example"} 0`,
    ])
  })
})

describe('settlement metrics outside of requests', () => {
  const networks = ['eip155:84532', 'eip155:8453']

  it('start at zero, so that alerts detect the first increase', async () => {
    const { lines, metrics } = measured()
    for (const name of ['quittance_settlements_reorged_total', 'quittance_settlements_lost_total']) {
      expect(await lines(name)).toEqual(networks.map((network) => `{network="${network}"} 0`))
    }
    metrics.countReorged('eip155:8453')
    metrics.countLost('eip155:8453')
    metrics.countLost('eip155:8453')
    expect(await lines('quittance_settlements_reorged_total')).toContain('{network="eip155:8453"} 1')
    expect(await lines('quittance_settlements_lost_total')).toContain('{network="eip155:8453"} 2')
  })

  it('count webhook attempts by outcome', async () => {
    const { lines, metrics } = measured()
    metrics.countWebhook('delivered')
    metrics.countWebhook('delivered')
    metrics.countWebhook('waiting')
    expect(await lines('quittance_webhook_attempts_total')).toEqual([
      '{outcome="delivered"} 2',
      '{outcome="waiting"} 1',
      '{outcome="failed"} 0',
    ])
  })

  it('show the latest count of open settlements, and zero when there are none', async () => {
    const { lines, metrics } = measured()
    const network = 'eip155:8453'
    metrics.setOpenSettlements([
      { network, state: 'pending', count: 3, oldestSeconds: 12.5 },
      { network: 'gone:1', state: 'claimed', count: 1, oldestSeconds: 4 },
      { network: 'gone:2', state: 'claimed', count: 2, oldestSeconds: 9 },
    ])
    expect(await lines('quittance_settlements_open')).toEqual([
      '{network="eip155:84532",state="claimed"} 0',
      '{network="eip155:84532",state="pending"} 0',
      '{network="eip155:8453",state="claimed"} 0',
      '{network="eip155:8453",state="pending"} 3',
      '{network="other",state="claimed"} 3',
    ])
    const ages = await lines('quittance_settlements_open_oldest_seconds')
    expect(ages).toContain('{network="eip155:8453",state="pending"} 12.5')
    expect(ages).toContain('{network="other",state="claimed"} 9')
    metrics.setOpenSettlements([])
    expect((await lines('quittance_settlements_open')).filter((line) => !line.endsWith(' 0'))).toEqual([])
  })
})

it('metrics of streams show the latest count, and zero when there are none', async () => {
  const { lines, metrics } = measured()
  const network = 'eip155:8453'
  metrics.setOpenStreams([{ network, state: 'closing', count: 2, oldestSeconds: 90 }])
  const nonZero = async (name: string) => (await lines(name)).filter((line) => !line.endsWith(' 0'))
  expect(await nonZero('quittance_streams_open')).toEqual(['{network="eip155:8453",state="closing"} 2'])
  expect(await nonZero('quittance_streams_unchanged_seconds')).toEqual([
    '{network="eip155:8453",state="closing"} 90',
  ])
  metrics.setOpenStreams([])
  expect(await nonZero('quittance_streams_open')).toEqual([])
})

it('metrics of channels show what can be claimed, with one label for networks that are not configured', async () => {
  const { lines, metrics } = measured()
  const total = { token: '0xaa', amount: 1_500n, oldestSeconds: 90, withdrawing: 7n }
  metrics.setUnclaimedChannels([
    { ...total, network: 'eip155:8453' },
    { ...total, network: 'eip155:1', amount: 2n },
    { ...total, network: 'eip155:2', amount: 3n },
  ])
  expect(await lines('quittance_channels_unclaimed')).toEqual([
    '{network="eip155:8453",asset="0xaa"} 1500',
    '{network="other",asset="other"} 5',
  ])
  expect(await lines('quittance_channels_unclaimed_oldest_seconds')).toContain(
    '{network="eip155:8453",asset="0xaa"} 90',
  )
  expect(await lines('quittance_channels_withdrawal_unclaimed')).toEqual([
    '{network="eip155:8453",asset="0xaa"} 7',
    '{network="other",asset="other"} 14',
  ])
  metrics.setUnclaimedChannels([])
  expect(await lines('quittance_channels_unclaimed')).toEqual([])
  expect(await lines('quittance_channels_withdrawal_unclaimed')).toEqual([])
})

it('metrics of holds show what is held, and the first deadline of a network', async () => {
  const { lines, metrics } = measured()
  const [network, asset] = ['eip155:8453', '0xa']
  const [soon, late] = [new Date(1_000_000), new Date(2_000_000)]
  metrics.setOpenHolds([
    { network, asset, count: 2, amount: 700n, nearestDeadline: soon, failing: 1 },
    { network, asset: '0xb', count: 1, amount: 5n, nearestDeadline: late, failing: 0 },
  ])
  expect(await lines('quittance_holds_open')).toEqual(['{network="eip155:8453"} 3'])
  expect(await lines('quittance_holds_amount')).toEqual([
    '{network="eip155:8453",asset="0xa"} 700',
    '{network="eip155:8453",asset="0xb"} 5',
  ])
  expect(await lines('quittance_holds_nearest_deadline_timestamp_seconds')).toEqual([
    '{network="eip155:8453"} 1000',
  ])
  expect(await lines('quittance_holds_action_failing')).toEqual(['{network="eip155:8453"} 1'])
  metrics.setOpenHolds([])
  expect(await lines('quittance_holds_action_failing')).toEqual([])
  expect(await lines('quittance_holds_nearest_deadline_timestamp_seconds')).toEqual([])
})

describe('GET /metrics without limits', () => {
  it('is computed once a second, however many callers ask (A58)', async () => {
    const metrics = testMetrics()
    let scrapes = 0
    const scrape = metrics.registry.metrics.bind(metrics.registry)
    metrics.registry.metrics = async () => {
      scrapes += 1
      return await scrape()
    }
    const clock = createManualClock()
    const app = testApp({
      metrics,
      limits: { limiter: createMemoryRateLimiter({ clock }), clock, table: [] },
    })
    const responses = await Promise.all(Array.from({ length: 200 }, () => app.inject('/metrics')))
    expect(responses.every(({ statusCode, body }) => statusCode === 200 && body.length > 0)).toBe(true)
    await clock.advance(999)
    await app.inject('/metrics')
    expect(scrapes).toBe(1)
    await clock.advance(1)
    await app.inject('/metrics')
    expect(scrapes).toBe(2)
  })

  it('needs METRICS_TOKEN where it is set, and no other route does', async () => {
    const app = testApp({ metricsToken: new Secret('a-token-for-the-scraper') })
    const ask = async (authorization?: string) =>
      await app.inject({ url: '/metrics', headers: authorization === undefined ? {} : { authorization } })
    for (const wrong of [undefined, 'Bearer a-token-for-the-scrapes', 'a-token-for-the-scraper']) {
      const response = await ask(wrong)
      expect(response.statusCode).toBe(401)
      expect(response.json().code).toBe('UNAUTHORIZED')
    }
    expect((await ask('Bearer a-token-for-the-scraper')).statusCode).toBe(200)
    expect((await app.inject('/health')).statusCode).toBe(200)
  })
})

const fail = (): never => {
  throw new Error('no more responses')
}
