import type { IncomingMessage, ServerResponse } from 'node:http'
import { setNewest } from '../../concurrency/boundedMap.js'
import { createFailureLog } from '../../failureLog.js'
import { readClientNetworks, siteFactor } from '../../platform/clientNetwork.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import { type AcceptedKeys, findCredentialHash } from '../auth/presentedKey.js'
import { findTierEndpoint, isProbeRequest } from './readRequest.js'

interface EndedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly address: string | undefined
}

interface RefusalsOptions {
  readonly acceptedKeys: AcceptedKeys
  readonly clock: Clock
  readonly logger: Logger
}

export interface Refusals {
  /** Whether the caller was refused so often that this request is refused as well, before Fastify sees it. */
  isBarred(request: IncomingMessage, address: string | undefined): boolean
  /** Counts a response that has ended if it was marked as a refusal. */
  record(ended: EndedRequest): void
  /** Counts a probe; returns whether its address sends so many that this one has to wait. */
  countProbe(address: string | undefined): boolean
}

export const maxRefusals = 100
export const refusalsPerSecond = 20
const keysFactor = 4
const maxLogged = 10
const maxBuckets = 10_000

interface Subject {
  readonly subject: string
  readonly capacity: number
}

interface Bucket {
  /** Falls by `refusalsPerSecond`. */
  level: number
  updatedAtMs: number
}

/**
 * A leaky bucket for each caller: refusals fill it, and a caller whose bucket is full is refused for the price of a map
 * lookup. It is not locked out for a time: as the bucket leaks, requests pass again, to be judged by their own limits.
 *
 * A caller is a customer, by its accepted keys, at one address, on one of the endpoints with a count of their own or on all
 * others; or all other keys of this address; or all requests of this address without a key. So a customer whose mailbox is
 * proven is never barred for what others do behind the same NAT or proxy, and a key that this process does not know yet only
 * for wrong keys. Customers that are not proven have together four times as much as one: anyone can be many of them. Callers
 * without a key share the limits of their address in any case.
 *
 * Endpoints are kept apart because the customers of a merchant can cause its verifies: its settlements must not stop for
 * them.
 */
export const createRefusals = ({ acceptedKeys, clock, logger }: RefusalsOptions): Refusals => {
  const refused = createBuckets(clock)
  const probes = createBuckets(clock)
  const log = createFailureLog({ logger, event: 'requests.refused', recovered: null })

  const listOf = (kind: string, address: string | undefined, capacity: number): readonly Subject[] => {
    const { network, site } = readClientNetworks(address)
    const narrow = { subject: `${kind} ${network}`, capacity }
    return site === null
      ? [narrow]
      : [narrow, { subject: `${kind} ${site}`, capacity: capacity * siteFactor }]
  }

  const listSubjects = (request: IncomingMessage, address: string | undefined): readonly Subject[] => {
    const owner = acceptedKeys.find(request.headers)
    if (owner === null) {
      const kind = findCredentialHash(request.headers) === null ? 'anonymous' : 'unknown keys'
      return listOf(kind, address, maxRefusals)
    }
    const endpoint = findTierEndpoint(request)
    const { network } = readClientNetworks(address)
    const own = { subject: `${network} ${owner.customer} ${endpoint}`, capacity: maxRefusals }
    return owner.isProven
      ? [own]
      : [own, ...listOf(`unproven ${endpoint}`, address, maxRefusals * keysFactor)]
  }

  return {
    isBarred: (request, address) => {
      if (refused.isEmpty() || isProbeRequest(request)) return false
      if (!listSubjects(request, address).some(refused.isFull)) return false
      log.failed('refused', { remoteAddress: address })
      return true
    },
    record: ({ request, response, address }) => {
      if (!isRefused(response)) return
      const levels = listSubjects(request, address).map(refused.fill)
      if (Math.min(...levels) <= maxLogged) return
      markUnlogged(response)
      log.failed('refused', { remoteAddress: address })
    },
    countProbe: (address) => {
      const subjects = listOf('probes', address, maxRefusals)
      if (subjects.some(probes.isFull)) return true
      for (const subject of subjects) probes.fill(subject)
      return false
    },
  }
}

/** Leaky buckets of at most so many subjects; those that were filled longest ago are forgotten. */
const createBuckets = (clock: Clock) => {
  const buckets = new Map<string, Bucket>()

  const readLevel = (bucket: Bucket, capacity: number): number => {
    const nowMs = clock.now().getTime()
    const elapsedMs = Math.max(0, nowMs - bucket.updatedAtMs)
    const leakPerSecond = refusalsPerSecond * (capacity / maxRefusals)
    bucket.level = Math.max(0, bucket.level - (elapsedMs / 1_000) * leakPerSecond)
    bucket.updatedAtMs = nowMs
    return bucket.level
  }

  const fill = ({ subject, capacity }: Subject): number => {
    const bucket = buckets.get(subject) ?? { level: 0, updatedAtMs: clock.now().getTime() }
    setNewest(buckets, subject, bucket, maxBuckets)
    bucket.level = Math.min(capacity, readLevel(bucket, capacity) + 1)
    return bucket.level
  }

  const isFull = ({ subject, capacity }: Subject): boolean => {
    const bucket = buckets.get(subject)
    if (bucket === undefined) return false
    const level = readLevel(bucket, capacity)
    if (level === 0) buckets.delete(subject)
    return level > capacity - 1
  }

  return { fill, isFull, isEmpty: () => buckets.size === 0 }
}

const refused = new WeakSet<ServerResponse>()
const unlogged = new WeakSet<ServerResponse>()

/**
 * Marks a response that refuses the caller itself: over its own limit, with a wrong key, or on an unknown path. What another
 * party caused, such as a limit of a payer, is never marked: the mark counts against the caller.
 */
export const markRefused = (response: ServerResponse): void => {
  refused.add(response)
}

const isRefused = (response: ServerResponse): boolean => refused.has(response)

const markUnlogged = (response: ServerResponse): void => {
  unlogged.add(response)
}

export const isUnlogged = (response: ServerResponse): boolean => unlogged.has(response)
