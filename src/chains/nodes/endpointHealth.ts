import { createFailureLog } from '../../failureLog.js'
import { describeError } from '../../platform/scrub.js'
import type { LogEvent, Logger } from '../../ports/logger.js'
import { type Endpoint, readRateLimit } from './endpoint.js'

export interface HealthTime {
  /** Not affected by changes of the system clock. */
  monotonicMs(): number
  unixSeconds(): number
}

interface Head {
  readonly number: bigint
  /** Unix seconds, from the block. */
  readonly timestamp: number
  readonly reportedAtMs: number
}

export interface Proof {
  readonly chain: string
  /** Timestamp in Unix seconds, from the block. */
  readonly head: { readonly number: bigint; readonly timestamp: number }
}

export interface ChainIdentity {
  readonly network: string
  readonly chain: string
  readonly prove: (endpoint: Endpoint) => Promise<Proof>
}

export interface EndpointFailure {
  /** Without secrets. */
  readonly message: string
  readonly at: Date
}

export interface EndpointHealth {
  readonly endpoint: Endpoint
  /** Host name, numbered where several endpoints share one. */
  readonly name: string
  isProven(): boolean
  findWrongChain(): string | null
  /** Since the start; null: none. */
  findLastFailure(): EndpointFailure | null
  isPaused(): boolean
  /** Backing off because it sent Retry-After. */
  isRateLimited(): boolean
  /** No failure for a minute: eligible to be pinned again. */
  isStable(): boolean
  isDue(): boolean
  findHead(): Head | null
  findBlockSeconds(): number | null
  /** Measures probes only, because they are comparable across endpoints. */
  findLatencyMs(): number | null
  /** After this time without a response another endpoint may be asked too. */
  getTimeoutMs(): number
  onAnswer(startedAtMs: number): void
  onFailure(startedAtMs: number, error: unknown): void
  onTimeout(): void
  /** Concurrent callers share one request. Never throws. */
  probe(): Promise<void>
}

const smoothing = 0.2
const minTimeoutMs = 100
const maxTimeoutMs = 1_000
const timeoutFactor = 4

const firstPauseMs = 1_000
const maxPauseMs = 30_000
const stableAfterMs = 60_000

const maxFailureLength = 200

export const createEndpointHealth = ({
  endpoint,
  name,
  identity,
  logger,
  time,
}: {
  readonly endpoint: Endpoint
  readonly name: string
  readonly identity: ChainIdentity
  readonly logger: Logger
  readonly time: HealthTime
}): EndpointHealth => {
  const logFields = { network: identity.network, host: name }
  const logOf = (event: LogEvent) =>
    createFailureLog({ logger, event, recovered: 'rpc.recovered', now: time.monotonicMs })
  const outages = logOf('rpc.failed')
  const rateLimits = logOf('rpc.rate_limited')
  let isProven = false
  let wrongChain: string | null = null
  let lastFailure: EndpointFailure | null = null
  let failures = 0
  let failedAtMs = Number.NEGATIVE_INFINITY
  let timedOutAtMs = Number.NEGATIVE_INFINITY
  let pausedUntilMs = Number.NEGATIVE_INFINITY
  let isRateLimited = false
  let head: Head | null = null
  let blockSeconds: number | null = null
  let latencyMs: number | null = null
  let averageMs: number | null = null
  let pendingProbe: Promise<void> | null = null

  const isPaused = () => time.monotonicMs() < pausedUntilMs

  const onFailure = (startedAtMs: number, error: unknown) => {
    // Requests started before a known failure belong to the same incident and count once.
    if (startedAtMs < failedAtMs) return
    failures += 1
    failedAtMs = time.monotonicMs()
    lastFailure = {
      message: describeError(error).message.slice(0, maxFailureLength),
      at: new Date(time.unixSeconds() * 1_000),
    }
    const rateLimit = readRateLimit(error)
    const pauseMs = Math.min(
      rateLimit?.retryAfterMs ?? firstPauseMs * 2 ** Math.min(failures - 1, 10),
      maxPauseMs,
    )
    pausedUntilMs = failedAtMs + pauseMs
    isRateLimited = rateLimit !== null && rateLimit.retryAfterMs !== null
    // It may come back serving another chain.
    if (rateLimit === null) isProven = false
    const failure = { ...logFields, error, pauseMs }
    if (rateLimit === null) outages.failed(name, failure)
    else rateLimits.failed(name, failure)
  }

  const onRecovery = () => {
    outages.succeeded(name)
    rateLimits.succeeded(name)
  }

  const onChain = (reportedChain: string) => {
    const isOurs = reportedChain === identity.chain
    if (!isOurs && wrongChain !== reportedChain) {
      logger.error({ ...logFields, chain: reportedChain }, 'rpc.wrong_chain_id')
    }
    if (isOurs && wrongChain !== null) logger.info(logFields, 'rpc.chain_id_matches_again')
    wrongChain = isOurs ? null : reportedChain
    isProven = isOurs
  }

  const onHead = ({ number, timestamp }: Proof['head']) => {
    const reported = { number, timestamp, reportedAtMs: time.monotonicMs() }
    if (head !== null && number > head.number) {
      blockSeconds = Math.max(0, reported.timestamp - head.timestamp) / Number(number - head.number)
    }
    head = reported
  }

  const runProbe = async () => {
    const startedAtMs = time.monotonicMs()
    try {
      const proof = await identity.prove(endpoint)
      onChain(proof.chain)
      onHead(proof.head)
      onRecovery()
      latencyMs = smooth(latencyMs, time.monotonicMs() - startedAtMs)
    } catch (error) {
      onFailure(startedAtMs, error)
    }
  }

  return {
    endpoint,
    name,
    isProven: () => isProven,
    findWrongChain: () => wrongChain,
    findLastFailure: () => lastFailure,
    isPaused,
    isRateLimited: () => isPaused() && isRateLimited,
    isStable: () => time.monotonicMs() - Math.max(failedAtMs, timedOutAtMs) >= stableAfterMs,
    isDue: () => !isProven && wrongChain === null && !isPaused() && pendingProbe === null,
    findHead: () => head,
    findBlockSeconds: () => blockSeconds,
    findLatencyMs: () => latencyMs,
    getTimeoutMs: () =>
      Math.min(Math.max((averageMs ?? maxTimeoutMs) * timeoutFactor, minTimeoutMs), maxTimeoutMs),
    onAnswer: (startedAtMs) => {
      averageMs = smooth(averageMs, time.monotonicMs() - startedAtMs)
      if (startedAtMs < failedAtMs || failures === 0) return
      failures = 0
      onRecovery()
    },
    onFailure,
    onTimeout: () => {
      timedOutAtMs = time.monotonicMs()
    },
    probe: () => {
      pendingProbe ??= runProbe().finally(() => {
        pendingProbe = null
      })
      return pendingProbe
    },
  }
}

const smooth = (before: number | null, measured: number): number =>
  before === null ? measured : before + smoothing * (measured - before)

export const systemTime: HealthTime = {
  monotonicMs: () => performance.now(),
  unixSeconds: () => Date.now() / 1_000,
}
