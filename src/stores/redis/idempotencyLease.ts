import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import type { IdempotencyState, IdempotencyStore, IdempotentRequest } from '../../ports/idempotencyStore.js'
import { type Reason, readReason } from '../../protocol/reasons.js'
import type { Circuit } from './client.js'

interface IdempotencyLeaseOptions {
  /** A client from `openRedis`: its timeouts bound each request. */
  readonly redis: Redis
  /** While open, Redis is bypassed and `record` decides alone. */
  readonly circuit: Circuit
  /** Durable store; authoritative, because Redis data can be lost at any time. */
  readonly record: IdempotencyStore
  readonly keyPrefix?: string
  readonly leaseMs?: number
}

// Not longer than the heartbeat timeout of instances: a lease must not hide a request that can be taken over.
const defaultLeaseMs = 9_000
const renewalsPerLease = 3

// Most retries arrive within minutes; later ones are served by the durable store.
const outcomeTtlMs = 3_600_000

const entry = z.union([
  z.object({ fingerprint: z.string(), state: z.literal('running'), run: z.string() }),
  z.object({
    fingerprint: z.string(),
    state: z.literal('failed'),
    run: z.string(),
    reason: z.string().nullable().default(null),
  }),
  z.object({ fingerprint: z.string(), state: z.literal('answered'), run: z.string(), response: z.unknown() }),
])
type Entry = z.infer<typeof entry>

type Outcome =
  | { readonly state: 'answered'; readonly response: unknown }
  | { readonly state: 'failed'; readonly reason: Reason }

const takeScript = `
local held = redis.call('GET', KEYS[1])
if not held then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return held
`

// Only the run that holds the key may change it; ARGV[1] is its UUID.
const updateScript = `
local held = redis.call('GET', KEYS[1])
if not held or not string.find(held, ARGV[1], 1, true) then return 0 end
if ARGV[2] == '' then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
`

interface Run {
  readonly id: string
  readonly renewal: NodeJS.Timeout
}

/** Redis saves latency only: the durable store decides every run, and stores outcomes before Redis does. */
export const createIdempotencyLease = ({
  redis,
  circuit,
  record,
  keyPrefix = 'quittance:idempotency:',
  leaseMs = defaultLeaseMs,
}: IdempotencyLeaseOptions): IdempotencyStore => {
  const runs = new Map<string, Run>()

  /** Null if Redis is unavailable, as opposed to a null reply. */
  const runCommand = async (command: () => Promise<unknown>): Promise<{ readonly reply: unknown } | null> => {
    if (circuit.isOpen()) return null
    try {
      return { reply: await command() }
    } catch (error) {
      circuit.trip(error)
      return null
    }
  }

  const nameOf = ({ caller, key }: IdempotentRequest): string => `${keyPrefix}${caller}:${key}`
  const write = (name: string, run: string, changed: Entry | null, lifeMs: number) =>
    runCommand(() =>
      redis.eval(updateScript, 1, name, run, changed === null ? '' : JSON.stringify(changed), lifeMs),
    )

  const startRenewal = (request: IdempotentRequest, id: string): void => {
    const name = nameOf(request)
    const renewal = setInterval(
      () => void write(name, id, runningEntry(request, id), leaseMs),
      leaseMs / renewalsPerLease,
    )
    renewal.unref()
    runs.set(name, { id, renewal })
  }

  const endRun = async (request: IdempotentRequest, outcome: Outcome | null): Promise<void> => {
    const name = nameOf(request)
    const run = runs.get(name)
    if (run === undefined) return
    runs.delete(name)
    clearInterval(run.renewal)
    const { fingerprint } = request
    const changed = outcome === null ? null : { ...outcome, fingerprint, run: run.id }
    await write(name, run.id, changed, outcomeTtlMs)
  }

  /** On failure the key is deleted: Redis must not publish an outcome that is not durable. */
  const finish = async (
    request: IdempotentRequest,
    work: Promise<void>,
    outcome: Outcome | null,
  ): Promise<void> => {
    try {
      await work
    } catch (error) {
      await endRun(request, null)
      throw error
    }
    await endRun(request, outcome)
  }

  /** `free`: no entry; the lease is now ours. `unknown`: Redis is unavailable or the entry is invalid. */
  const takeLease = async (request: IdempotentRequest, id: string): Promise<Entry | 'free' | 'unknown'> => {
    const ours = JSON.stringify(runningEntry(request, id))
    const taken = await runCommand(() => redis.eval(takeScript, 1, nameOf(request), ours, leaseMs))
    if (taken === null) return 'unknown'
    if (taken.reply === null) return 'free'
    const parsed = entry.safeParse(parseJson(taken.reply))
    return parsed.success ? parsed.data : 'unknown'
  }

  const begin = async (request: IdempotentRequest): Promise<IdempotencyState> => {
    const id = randomUUID()
    const known = await takeLease(request, id)
    if (known === 'unknown') return await record.begin(request)
    if (known !== 'free') return toAnswer(known, request) ?? (await record.begin(request))
    const earlier = runs.get(nameOf(request))
    if (earlier !== undefined) {
      // The request is running in this process, but Redis lost its entry.
      await write(nameOf(request), id, runningEntry(request, earlier.id), leaseMs)
      return await record.begin(request)
    }
    startRenewal(request, id)
    try {
      const answer = await record.begin(request)
      if (answer.state !== 'started') await endRun(request, null)
      return answer
    } catch (error) {
      await endRun(request, null)
      throw error
    }
  }

  return {
    begin,
    isMismatch: record.isMismatch,
    answer: (request, response) =>
      finish(request, record.answer(request, response), { state: 'answered', response }),
    fail: (request, reason) => finish(request, record.fail(request, reason), { state: 'failed', reason }),
    release: (request) => finish(request, record.release(request), null),
    forget: (request) => finish(request, record.forget(request), null),
    purge: record.purge,
  }
}

const runningEntry = ({ fingerprint }: IdempotentRequest, run: string): Entry => ({
  fingerprint,
  state: 'running',
  run,
})

/** Null: the durable store decides, because a run whose end Redis missed has ended. */
const toAnswer = (known: Entry, { fingerprint }: IdempotentRequest): IdempotencyState | null => {
  if (known.fingerprint !== fingerprint) return { state: 'mismatch' }
  switch (known.state) {
    case 'answered':
      return { state: 'answered', response: known.response }
    case 'failed':
      return { state: 'failed', reason: readReason(known.reason) }
    case 'running':
      return null
  }
}

const parseJson = (reply: unknown): unknown => {
  try {
    return JSON.parse(String(reply))
  } catch {
    return null
  }
}
