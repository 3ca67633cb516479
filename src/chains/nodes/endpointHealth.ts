import type { Logger } from '../../ports/logger.js'
import type { Endpoint } from './endpoint.js'
import { readRateLimit } from './readRateLimit.js'

/** The time as health needs it. */
export interface HealthTime {
  /** Milliseconds that never go back, whatever happens to the machine's clock. */
  monotonicMs(): number
  unixSeconds(): number
}

/** The newest block that an endpoint told, and when. */
export interface Head {
  readonly number: bigint
  /** Unix seconds, as the chain says. */
  readonly timestamp: number
  readonly reportedAtMs: number
}

/** What an endpoint says when it is asked whether it is well. */
export interface Proof {
  /** The chain that it serves, in whatever words the family has for that. */
  readonly chain: string
  /** Its newest block; the time in Unix seconds, as the chain says. */
  readonly head: { readonly number: bigint; readonly timestamp: number }
}

/** How the nodes of one network are told apart from those of another, and asked how they do. */
export interface ChainIdentity {
  readonly network: string
  /** What a node of this network answers as `Proof.chain`. */
  readonly chain: string
  readonly prove: (endpoint: Endpoint) => Promise<Proof>
}

/** What is known of one endpoint, from being asked regularly and from what becomes of requests. */
export interface EndpointHealth {
  readonly endpoint: Endpoint
  /** Its host, numbered where several endpoints share one. */
  readonly name: string
  /** Whether it has proven to serve our chain, and has not failed since. */
  isProven(): boolean
  /** The chain that it serves in place of ours, or null. */
  findWrongChain(): string | null
  /** Whether it is left alone for a while, after a failure or because it gets too many requests. */
  isPaused(): boolean
  /** Whether it asked itself to be left alone until then. */
  isRateLimited(): boolean
  /** Whether it has been well for so long that one may come back to it. */
  isStable(): boolean
  /** Whether requests should make sure that it is asked again. */
  isDue(): boolean
  findHead(): Head | null
  /** The usual time between two of its blocks, in seconds; null while unknown. */
  findBlockSeconds(): number | null
  /** How long the probe usually takes: the same question to all, so that they can be compared. */
  findLatencyMs(): number | null
  /** For how long a silence is not remarkable. */
  getTimeoutMs(): number
  onAnswer(startedAtMs: number): void
  onFailure(startedAtMs: number, error: unknown): void
  /** Another endpoint answered while this one was silent. */
  onTimeout(): void
  /** Asks for chain and head; callers of the same moment share one question. Never throws. */
  probe(): Promise<void>
}

// Weight of the newest measurement.
const smoothing = 0.2
const minTimeoutMs = 100
const maxTimeoutMs = 1_000
const timeoutFactor = 4

const firstPauseMs = 1_000
const maxPauseMs = 30_000
const stableAfterMs = 60_000

/** Starts with an endpoint of which nothing is known; it counts for nothing until it has proven its chain. */
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
  const named = { network: identity.network, host: name }
  let isProven = false
  let wrongChain: string | null = null
  let failures = 0
  let failedAtMs = Number.NEGATIVE_INFINITY
  let silentAtMs = Number.NEGATIVE_INFINITY
  let restsUntilMs = Number.NEGATIVE_INFINITY
  let isRateLimited = false
  let head: Head | null = null
  let blockSeconds: number | null = null
  let latencyMs: number | null = null
  let usualMs: number | null = null
  let probing: Promise<void> | null = null

  const isPaused = () => time.monotonicMs() < restsUntilMs

  const onFailure = (startedAtMs: number, error: unknown) => {
    // What was asked before a failure that is known already belongs to the same incident.
    if (startedAtMs < failedAtMs) return
    failures += 1
    failedAtMs = time.monotonicMs()
    const busy = readRateLimit(error)
    const restMs = Math.min(busy?.retryAfterMs ?? firstPauseMs * 2 ** Math.min(failures - 1, 10), maxPauseMs)
    restsUntilMs = failedAtMs + restMs
    isRateLimited = busy !== null && busy.retryAfterMs !== null
    // What was away may come back as something else.
    if (busy === null) isProven = false
    logger.warn({ ...named, error, restMs }, busy === null ? 'rpc.timed_out' : 'rpc.rate_limited')
  }

  const noteChain = (answered: string) => {
    const isOurs = answered === identity.chain
    if (!isOurs && wrongChain !== answered) {
      logger.error({ ...named, chain: answered }, 'rpc.wrong_chain_id: the endpoint is not used')
    }
    if (isOurs && wrongChain !== null) logger.info(named, 'rpc.chain_id_matches_again')
    wrongChain = isOurs ? null : answered
    isProven = isOurs
  }

  const noteHead = ({ number, timestamp }: Proof['head']) => {
    const told = { number, timestamp, reportedAtMs: time.monotonicMs() }
    if (head !== null && number > head.number) {
      blockSeconds = Math.max(0, told.timestamp - head.timestamp) / Number(number - head.number)
    }
    head = told
  }

  const ask = async () => {
    const startedAtMs = time.monotonicMs()
    try {
      const proof = await identity.prove(endpoint)
      noteChain(proof.chain)
      noteHead(proof.head)
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
    isPaused,
    isRateLimited: () => isPaused() && isRateLimited,
    isStable: () => time.monotonicMs() - Math.max(failedAtMs, silentAtMs) >= stableAfterMs,
    isDue: () => !isProven && wrongChain === null && !isPaused() && probing === null,
    findHead: () => head,
    findBlockSeconds: () => blockSeconds,
    findLatencyMs: () => latencyMs,
    getTimeoutMs: () =>
      Math.min(Math.max((usualMs ?? maxTimeoutMs) * timeoutFactor, minTimeoutMs), maxTimeoutMs),
    onAnswer: (startedAtMs) => {
      usualMs = smooth(usualMs, time.monotonicMs() - startedAtMs)
      if (startedAtMs >= failedAtMs) failures = 0
    },
    onFailure,
    onTimeout: () => {
      silentAtMs = time.monotonicMs()
    },
    probe: () => {
      probing ??= ask().finally(() => {
        probing = null
      })
      return probing
    },
  }
}

const smooth = (before: number | null, measured: number): number =>
  before === null ? measured : before + smoothing * (measured - before)
