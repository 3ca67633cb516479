import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { CreditCounter } from '../ports/creditStore.js'
import type { PoolState } from '../ports/operatorOverview.js'
import type { SettlementCounter } from '../ports/settlementOverview.js'
import type { WebhookCounter } from '../ports/webhookOutbox.js'
import { differenceKinds, type KindCount } from '../protocol/reconciliation.js'
import { createBufferedCounter } from './bufferedCounter.js'
import { createDatabaseMetrics, type DatabaseMetrics } from './databaseMetrics.js'
import { type MeasuredNetwork, registerNetworkGauges } from './networkGauges.js'
import { createWorkMetrics, type WorkMetrics } from './workMetrics.js'

export interface MeasuredKind {
  readonly scheme: string
  readonly network: string
}

type VerifyLabel = 'valid' | 'invalid' | 'aborted' | 'refused' | 'error'

type SettleLabel = 'confirmed' | 'pending' | 'failed' | 'replayed' | 'refused' | 'error'

/** `endpoint` is the route pattern, never a path. */
interface MeasuredRequest {
  readonly method: string
  readonly endpoint: string
  readonly status: number
  readonly durationSeconds: number
}

interface MeasuredOpen {
  readonly network: string
  readonly state: string
  readonly count: number
  readonly oldestSeconds: number
}

interface MeasuredHolds {
  readonly network: string
  readonly asset: string
  readonly count: number
  readonly amount: bigint
  readonly nearestDeadline: Date
  readonly failing: number
}

interface MeasuredReconciliation {
  readonly counts: readonly KindCount[]
  readonly unchecked: number
  /** ISO 8601; before the first run ended, when it was started. */
  readonly finishedAt: string
}

interface MeasuredUnclaimed {
  readonly network: string
  readonly token: string
  /** Smallest units. */
  readonly amount: bigint
  readonly oldestSeconds: number
  /** Smallest units. */
  readonly withdrawing: bigint
}

export interface Metrics extends CreditCounter, SettlementCounter, WebhookCounter, WorkMetrics {
  readonly registry: Registry
  countRequestStarted(): void
  countRequestEnded(request: MeasuredRequest): void
  countVerify(kind: MeasuredKind, result: VerifyLabel): void
  countSettle(kind: MeasuredKind, result: SettleLabel): void
  /** Replaces all values; pairs that are not listed become 0. */
  setOpenSettlements(open: readonly MeasuredOpen[]): void
  /** As for settlements. */
  setOpenStreams(open: readonly MeasuredOpen[]): void
  /** Replaces all values. */
  setUnclaimedChannels(totals: readonly MeasuredUnclaimed[]): void
  setOpenHolds(holds: readonly MeasuredHolds[]): void
  setLastReconciliation(run: MeasuredReconciliation): void
  setPauses(count: number): void
}

interface MetricsSettings {
  /** Registered kinds; other schemes and networks are counted as `other`. */
  readonly kinds: readonly MeasuredKind[]
  /** Node process metrics; default true. */
  readonly measuresProcess?: boolean
  /** Called on every scrape. Names come from the configuration, never from callers. */
  readonly listNetworks?: () => readonly MeasuredNetwork[]
  /** What the stores have measured since they were opened; default: nothing. */
  readonly database?: DatabaseMetrics
  /** Called on every scrape. */
  readonly listPools?: () => readonly PoolState[]
  /** Called on every scrape: whether this instance limits on its own because Redis is down. */
  readonly isLimiterDegraded?: () => boolean
  /** Called on every scrape: whether `/ready` answers 200. It has its own deadline. */
  readonly isReady?: () => Promise<boolean>
}

const openStates = ['claimed', 'pending']
const openStreamStates = ['active', 'paused', 'closing']
const webhookOutcomes = ['delivered', 'waiting', 'failed'] as const
/** Others have one label. */
export const knownMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
// From below 1 ms (a rejected body) to 25 s (a settle that waits for its receipt).
const durationBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 40]

/** Label values are bounded, so that callers cannot create unlimited time series. */
export const createMetrics = ({
  kinds,
  measuresProcess = true,
  listNetworks = () => [],
  database = createDatabaseMetrics(),
  listPools = () => [],
  isLimiterDegraded = () => false,
  isReady = async () => true,
}: MetricsSettings): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  registerNetworkGauges(registry, listNetworks)
  database.register(registry, listPools)
  if (measuresProcess) collectDefaultMetrics({ register: registry })

  const requests = createBufferedCounter({
    name: 'facilitator_requests_total',
    help: 'HTTP requests that were responded to',
    labelNames: ['method', 'endpoint', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'facilitator_request_duration_seconds',
    help: 'Time from receiving a request to the end of its response',
    labelNames: ['method', 'endpoint'],
    buckets: durationBuckets,
    registers,
  })
  const verifies = createBufferedCounter({
    name: 'facilitator_verify_total',
    help: 'Verifications by result',
    labelNames: ['network', 'scheme', 'result'],
    registers,
  })
  const settles = new Counter({
    name: 'facilitator_settle_total',
    help: 'Settlements by result returned to the caller',
    labelNames: ['network', 'scheme', 'result'],
    registers,
  })
  let activeRequests = 0
  new Gauge({
    name: 'facilitator_active_requests',
    help: 'HTTP requests in progress',
    registers,
    collect() {
      this.set(activeRequests)
    },
  })

  new Gauge({
    name: 'quittance_ready',
    help: 'Whether GET /ready responds 200: 1 or 0',
    registers,
    async collect() {
      this.set(Number(await isReady()))
    },
  })

  new Gauge({
    name: 'quittance_limiter_degraded',
    help: 'Whether this instance counts rate limits on its own because Redis is down: 1 or 0',
    registers,
    collect() {
      this.set(Number(isLimiterDegraded()))
    },
  })

  const open = new Gauge({
    name: 'quittance_settlements_open',
    help: 'Open settlements; claimed: nothing was sent, pending: sent',
    labelNames: ['network', 'state'],
    registers,
  })
  const oldest = new Gauge({
    name: 'quittance_settlements_open_oldest_seconds',
    help: 'Age of the oldest open settlement',
    labelNames: ['network', 'state'],
    registers,
  })
  const openStreams = new Gauge({
    name: 'quittance_streams_open',
    help: 'Open streams',
    labelNames: ['network', 'state'],
    registers,
  })
  const oldestStreams = new Gauge({
    name: 'quittance_streams_unchanged_seconds',
    help: 'Longest time since the last update of an open stream; closing: since its close',
    labelNames: ['network', 'state'],
    registers,
  })
  const unclaimed = new Gauge({
    name: 'quittance_channels_unclaimed',
    help: 'What vouchers that are kept here allow to claim, in smallest units of the token',
    labelNames: ['network', 'asset'],
    registers,
  })
  const oldestUnclaimed = new Gauge({
    name: 'quittance_channels_unclaimed_oldest_seconds',
    help: 'Longest time since a channel has something to claim that is worth its gas',
    labelNames: ['network', 'asset'],
    registers,
  })
  const withdrawing = new Gauge({
    name: 'quittance_channels_withdrawal_unclaimed',
    help: 'What of it payers may withdraw, as they have requested, in smallest units of the token',
    labelNames: ['network', 'asset'],
    registers,
  })
  const openHolds = new Gauge({
    name: 'quittance_holds_open',
    help: 'Payments that are held for accounts, and can be captured or taken back',
    labelNames: ['network'],
    registers,
  })
  const heldAmount = new Gauge({
    name: 'quittance_holds_amount',
    help: 'What of them was neither captured nor returned, in smallest units of the asset',
    labelNames: ['network', 'asset'],
    registers,
  })
  const nearestDeadline = new Gauge({
    name: 'quittance_holds_nearest_deadline_timestamp_seconds',
    help: 'The first capture deadline of the open holds; absent without one',
    labelNames: ['network'],
    registers,
  })
  const failingActions = new Gauge({
    name: 'quittance_holds_action_failing',
    help: 'Holds that could not be captured or voided before their deadline yet, as their account asks',
    labelNames: ['network'],
    registers,
  })
  const reorged = new Counter({
    name: 'quittance_settlements_reorged_total',
    help: 'Confirmed settlements whose block was removed by a reorg',
    labelNames: ['network'],
    registers,
  })
  const lost = new Counter({
    name: 'quittance_settlements_lost_total',
    help: 'Settlements that were reported as success and later failed',
    labelNames: ['network'],
    registers,
  })

  const differences = new Gauge({
    name: 'quittance_reconciliation_differences',
    help: 'Differences that the last nightly reconciliation found, or the present one has found so far',
    labelNames: ['kind'],
    registers,
  })
  const unchecked = new Gauge({
    name: 'quittance_reconciliation_unchecked',
    help: 'Settlements that the last nightly reconciliation could not compare with the chain',
    registers,
  })
  const reconciledAt = new Gauge({
    name: 'quittance_reconciliation_finished_timestamp_seconds',
    help: 'When the last nightly reconciliation ended; before the first one ended, when it was started',
    registers,
  })

  const pauses = new Gauge({
    name: 'quittance_pauses',
    help: 'Pauses of operators that this instance knows',
    registers,
  })
  const creditRepairs = new Counter({
    name: 'quittance_credit_repairs_total',
    help: 'Recounts of a wallet that did not agree with its credit score, and corrected it',
    registers,
  })
  const webhooks = new Counter({
    name: 'quittance_webhook_attempts_total',
    help: 'Webhook delivery attempts; waiting: failed and will be retried, failed: given up',
    labelNames: ['outcome'],
    registers,
  })
  for (const outcome of webhookOutcomes) webhooks.inc({ outcome }, 0)

  const networks = new Set(kinds.map(({ network }) => network))
  const schemes = new Set(kinds.map(({ scheme }) => scheme))
  const labelNetwork = (network: string) => (networks.has(network) ? network : 'other')
  const labelKind = <Result extends string>({ scheme, network }: MeasuredKind, result: Result) => ({
    network: labelNetwork(network),
    scheme: schemes.has(scheme) ? scheme : 'other',
    result,
  })

  /** Networks that are no longer configured share the label `other`. */
  const setOpen =
    (gauges: OpenGauges, states: readonly string[]) =>
    (counts: readonly MeasuredOpen[]): void => {
      for (const gauge of [gauges.count, gauges.oldest]) {
        gauge.reset()
        for (const network of networks) for (const state of states) gauge.set({ network, state }, 0)
      }
      const ages = new Map<string, number>()
      for (const { network, state, count, oldestSeconds } of counts) {
        const labels = { network: labelNetwork(network), state }
        const key = `${labels.network} ${state}`
        const age = Math.max(ages.get(key) ?? 0, oldestSeconds)
        ages.set(key, age)
        gauges.count.inc(labels, count)
        gauges.oldest.set(labels, age)
      }
    }

  // Prometheus alerts on increase need an initial zero.
  for (const network of networks) {
    reorged.inc({ network }, 0)
    lost.inc({ network }, 0)
  }

  return {
    ...createWorkMetrics(registry, listNetworks),
    registry,
    countRequestStarted: () => {
      activeRequests += 1
    },
    countRequestEnded: ({ method, endpoint, status, durationSeconds }) => {
      const known = knownMethods.has(method) ? method : 'other'
      activeRequests -= 1
      requests.count({ method: known, endpoint, status: String(status) })
      durations.observe({ method: known, endpoint }, durationSeconds)
    },
    countVerify: (kind, result) => verifies.count(labelKind(kind, result)),
    countSettle: (kind, result) => settles.inc(labelKind(kind, result)),
    countReorged: (network) => reorged.inc({ network: labelNetwork(network) }),
    countLost: (network) => lost.inc({ network: labelNetwork(network) }),
    setLastReconciliation: (run) => {
      for (const kind of differenceKinds) differences.set({ kind }, 0)
      for (const { kind, count } of run.counts) differences.set({ kind }, count)
      unchecked.set(run.unchecked)
      reconciledAt.set(Date.parse(run.finishedAt) / 1_000)
    },
    setPauses: (count) => pauses.set(count),
    countCreditRepair: () => creditRepairs.inc(),
    countWebhook: (outcome) => webhooks.inc({ outcome }),
    setOpenSettlements: setOpen({ count: open, oldest }, openStates),
    setOpenHolds: (holds) => {
      for (const gauge of [openHolds, heldAmount, nearestDeadline, failingActions]) gauge.reset()
      const nearest = new Map<string, number>()
      for (const { network, asset, count, amount, nearestDeadline: at, failing } of holds) {
        const labels = { network: labelNetwork(network) }
        openHolds.inc(labels, count)
        failingActions.inc(labels, failing)
        heldAmount.inc({ ...labels, asset }, Number(amount))
        const seconds = Math.min(
          at.getTime() / 1_000,
          nearest.get(labels.network) ?? Number.POSITIVE_INFINITY,
        )
        nearest.set(labels.network, seconds)
        nearestDeadline.set(labels, seconds)
      }
    },
    setOpenStreams: setOpen({ count: openStreams, oldest: oldestStreams }, openStreamStates),
    setUnclaimedChannels: (totals) => {
      for (const gauge of [unclaimed, oldestUnclaimed, withdrawing]) gauge.reset()
      for (const { network, token: asset, amount, oldestSeconds, withdrawing: amountAtRisk } of totals) {
        // Tokens are configured; those of networks that no longer are share one label.
        const labels = networks.has(network) ? { network, asset } : { network: 'other', asset: 'other' }
        unclaimed.inc(labels, Number(amount))
        oldestUnclaimed.set(labels, oldestSeconds)
        withdrawing.inc(labels, Number(amountAtRisk))
      }
    },
  }
}

interface OpenGauges {
  readonly count: Gauge<'network' | 'state'>
  readonly oldest: Gauge<'network' | 'state'>
}
