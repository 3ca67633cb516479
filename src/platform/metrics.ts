import {
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  Registry,
} from 'prom-client'
import type { SettlementCounter } from '../ports/settlementCounter.js'
import type { WebhookCounter } from '../ports/webhookCounter.js'

/** A scheme on a network, as a label may name it. */
export interface MeasuredKind {
  readonly scheme: string
  readonly network: string
}

/** What came of a verify. */
export type VerifyLabel = 'valid' | 'invalid' | 'aborted' | 'error'

/** What came of a settle. */
export type SettleLabel = 'confirmed' | 'pending' | 'failed' | 'replayed' | 'error'

/** An answered HTTP request. `endpoint` is the pattern of a route, never a path. */
export interface MeasuredRequest {
  readonly method: string
  readonly endpoint: string
  readonly status: number
  readonly durationSeconds: number
}

/** How a network does at the moment when it is asked. */
export interface MeasuredNetwork {
  readonly network: string
  readonly isServing: boolean
  readonly signers: readonly {
    readonly signer: string
    readonly balance: bigint
    readonly settlementsLeft: number
  }[]
  readonly endpoints: readonly {
    readonly host: string
    readonly isUp: boolean
    readonly head: bigint | null
    readonly latencyMs: number | null
  }[]
}

/** How many settlements of a network are open in one state, and the age of the oldest. */
export interface MeasuredOpen {
  readonly network: string
  readonly state: 'claimed' | 'pending'
  readonly count: number
  readonly oldestSeconds: number
}

/** What the service counts, and the page that a scraper reads. */
export interface Metrics extends SettlementCounter, WebhookCounter {
  readonly registry: Registry
  countRequestStarted(): void
  countRequestEnded(request: MeasuredRequest): void
  countVerify(kind: MeasuredKind, result: VerifyLabel): void
  countSettle(kind: MeasuredKind, result: SettleLabel): void
  /** What is not named is none. */
  showOpenSettlements(open: readonly MeasuredOpen[]): void
}

/** Which labels may appear, and whether the process itself is measured. */
export interface MetricsSettings {
  /** Every kind that is registered; what a caller names beyond them counts as `other`. */
  readonly kinds: readonly MeasuredKind[]
  /** Memory, event loop and garbage collection of this process; on unless told. */
  readonly measuresProcess?: boolean
  /** Asked whenever somebody reads the page; their names come from the configuration, never from callers. */
  readonly listNetworks?: () => readonly MeasuredNetwork[]
  /** Asked as well: whether each instance counts limits for itself, because their store is down. */
  readonly isLimiterDegraded?: () => boolean
}

const openStates = ['claimed', 'pending'] as const
const webhookOutcomes = ['delivered', 'waiting', 'failed'] as const
const methods = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])
// Answers come in microseconds (a refused body) to 25 s (a settle that waits for its receipt).
const durationBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 40]

/** Creates the registry. A label's values are bounded here, so that no caller can fill the memory with new ones. */
export const createMetrics = ({
  kinds,
  measuresProcess = true,
  listNetworks = () => [],
  isLimiterDegraded = () => false,
}: MetricsSettings): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  gaugeNetworks(registry, listNetworks)
  if (measuresProcess) collectDefaultMetrics({ register: registry })

  const requests = createTally({
    name: 'facilitator_requests_total',
    help: 'Answered HTTP requests',
    labelNames: ['method', 'endpoint', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'facilitator_request_duration_seconds',
    help: 'Time from the first byte of a request to the last byte of its answer',
    labelNames: ['method', 'endpoint'],
    buckets: durationBuckets,
    registers,
  })
  const verifies = createTally({
    name: 'facilitator_verify_total',
    help: 'Verifications by what came of them',
    labelNames: ['network', 'scheme', 'result'],
    registers,
  })
  const settles = new Counter({
    name: 'facilitator_settle_total',
    help: 'Settlements by what the caller was told',
    labelNames: ['network', 'scheme', 'result'],
    registers,
  })
  let activeRequests = 0
  new Gauge({
    name: 'facilitator_active_requests',
    help: 'HTTP requests that are not answered yet',
    registers,
    collect() {
      this.set(activeRequests)
    },
  })

  new Gauge({
    name: 'quittance_limiter_degraded',
    help: 'Whether this instance counts limits for itself because Redis is down: 1 or 0',
    registers,
    collect() {
      this.set(Number(isLimiterDegraded()))
    },
  })

  const open = new Gauge({
    name: 'quittance_settlements_open',
    help: 'Settlements whose fate is open; claimed: nothing was sent, pending: sent',
    labelNames: ['network', 'state'],
    registers,
  })
  const oldest = new Gauge({
    name: 'quittance_settlements_open_oldest_seconds',
    help: 'Age of the oldest settlement whose fate is open',
    labelNames: ['network', 'state'],
    registers,
  })
  const reorged = new Counter({
    name: 'quittance_settlements_reorged_total',
    help: 'Confirmed settlements whose block was taken back by its network',
    labelNames: ['network'],
    registers,
  })
  const lost = new Counter({
    name: 'quittance_settlements_lost_total',
    help: 'Settlements that somebody was told success for and that came to nothing',
    labelNames: ['network'],
    registers,
  })

  const webhooks = new Counter({
    name: 'quittance_webhook_attempts_total',
    help: 'Attempts to deliver an event; waiting: failed and to be tried again, failed: given up',
    labelNames: ['outcome'],
    registers,
  })
  for (const outcome of webhookOutcomes) webhooks.inc({ outcome }, 0)

  const networks = new Set(kinds.map(({ network }) => network))
  const schemes = new Set(kinds.map(({ scheme }) => scheme))
  const nameNetwork = (network: string) => (networks.has(network) ? network : 'other')
  const kindLabels = ({ scheme, network }: MeasuredKind) => ({
    network: nameNetwork(network),
    scheme: schemes.has(scheme) ? scheme : 'other',
  })

  // An alarm on a rise needs the zero before it.
  for (const network of networks) {
    reorged.inc({ network }, 0)
    lost.inc({ network }, 0)
  }

  return {
    registry,
    countRequestStarted: () => {
      activeRequests += 1
    },
    countRequestEnded: ({ method, endpoint, status, durationSeconds }) => {
      const labels = { method: methods.has(method) ? method : 'other', endpoint }
      activeRequests -= 1
      requests.count({ ...labels, status: String(status) })
      durations.observe(labels, durationSeconds)
    },
    countVerify: (kind, result) => verifies.count({ ...kindLabels(kind), result }),
    countSettle: (kind, result) => settles.inc({ ...kindLabels(kind), result }),
    countReorged: (network) => reorged.inc({ network: nameNetwork(network) }),
    countLost: (network) => lost.inc({ network: nameNetwork(network) }),
    countWebhook: (outcome) => webhooks.inc({ outcome }),
    showOpenSettlements: (counts) => {
      for (const gauge of [open, oldest]) {
        gauge.reset()
        for (const network of networks) for (const state of openStates) gauge.set({ network, state }, 0)
      }
      // Networks that are not served any more share one name.
      const ages = new Map<string, number>()
      for (const { network, state, count, oldestSeconds } of counts) {
        const labels = { network: nameNetwork(network), state }
        const key = `${labels.network} ${state}`
        const age = Math.max(ages.get(key) ?? 0, oldestSeconds)
        ages.set(key, age)
        open.inc(labels, count)
        oldest.set(labels, age)
      }
    },
  }
}

/**
 * A counter for what every request counts. The library checks and hashes the labels each time, at several
 * microseconds; here that happens once for each value and reading of the page.
 */
const createTally = <Label extends string>(configuration: CounterConfiguration<Label>) => {
  const tallies = new Map<string, { readonly labels: Readonly<Record<Label, string>>; count: number }>()
  new Counter({
    ...configuration,
    collect() {
      for (const tally of tallies.values()) {
        if (tally.count > 0) this.inc(tally.labels, tally.count)
        tally.count = 0
      }
    },
  })
  return {
    count: (labels: Readonly<Record<Label, string>>): void => {
      let key = ''
      for (const name in labels) key += `${labels[name]}\n`
      const tally = tallies.get(key)
      if (tally === undefined) tallies.set(key, { labels, count: 1 })
      else tally.count += 1
    },
  }
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number | bigint | null
}

/** Gauges that are read when the page is; what is not known has no sample, rather than a zero. */
const gaugeNetworks = (registry: Registry, listNetworks: () => readonly MeasuredNetwork[]): void => {
  const gauge = (
    name: string,
    help: string,
    { labelNames, sample }: { labelNames: string[]; sample: (network: MeasuredNetwork) => readonly Sample[] },
  ) => {
    const created: Gauge = new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect: () => {
        created.reset()
        for (const { labels, value } of listNetworks().flatMap(sample)) {
          if (value !== null) created.set(labels, Number(value))
        }
      },
    })
  }
  const ofSigners = (value: (signer: MeasuredNetwork['signers'][number]) => Sample['value']) => ({
    labelNames: ['network', 'signer'],
    sample: ({ network, signers }: MeasuredNetwork) =>
      signers.map((signer) => ({ labels: { network, signer: signer.signer }, value: value(signer) })),
  })
  const ofEndpoints = (value: (endpoint: MeasuredNetwork['endpoints'][number]) => Sample['value']) => ({
    labelNames: ['network', 'host'],
    sample: ({ network, endpoints }: MeasuredNetwork) =>
      endpoints.map((endpoint) => ({ labels: { network, host: endpoint.host }, value: value(endpoint) })),
  })

  gauge('quittance_network_serving', 'Whether a network is offered: 1 or 0', {
    labelNames: ['network'],
    sample: ({ network, isServing }) => [{ labels: { network }, value: Number(isServing) }],
  })
  gauge(
    'quittance_signer_settles_left',
    'Settlements that a signer can pay for at the current price',
    ofSigners(({ settlementsLeft }) => settlementsLeft),
  )
  gauge(
    'quittance_signer_balance',
    'What a signer owns of the coin of a network, in its smallest unit',
    ofSigners(({ balance }) => balance),
  )
  gauge(
    'quittance_rpc_endpoint_up',
    'Whether an endpoint answers, serves the right chain and is at its head: 1 or 0',
    ofEndpoints(({ isUp }) => Number(isUp)),
  )
  gauge(
    'quittance_rpc_endpoint_head',
    'Number of the newest block that an endpoint told',
    ofEndpoints(({ head }) => head),
  )
  gauge(
    'quittance_rpc_endpoint_latency_seconds',
    'How long an endpoint usually takes to answer a small question',
    ofEndpoints(({ latencyMs }) => (latencyMs === null ? null : latencyMs / 1_000)),
  )
}
