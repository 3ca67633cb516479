import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import type { IdempotencyAnswer, IdempotencyStore, IdempotentRequest } from '../../ports/idempotencyStore.js'
import type { Circuit } from './circuit.js'

/** What stands in front of the durable record of idempotency keys. */
export interface IdempotencyLeaseOptions {
  /** A client of `openRedis`: its deadlines bound what a request waits for. */
  readonly redis: Redis
  /** Open: nobody asks Redis, and the durable record decides alone. */
  readonly circuit: Circuit
  /** What decides; it survives every restart, and Redis may be lost at any moment. */
  readonly record: IdempotencyStore
  readonly keyPrefix?: string
  readonly leaseMs?: number
}

// No longer than the database takes a silent process for alive: a lease must not hide a request that can be taken over.
const defaultLeaseMs = 9_000
const renewalsPerLease = 3

// Retries come within minutes; what comes later is answered by the durable record.
const keepOutcomeMs = 3_600_000

const entry = z.union([
  z.object({ fingerprint: z.string(), state: z.enum(['running', 'failed']), run: z.string() }),
  z.object({ fingerprint: z.string(), state: z.literal('answered'), run: z.string(), response: z.unknown() }),
])
type Entry = z.infer<typeof entry>

/** How a run ended, as later requests with its key are told. */
type Outcome = { readonly state: 'answered'; readonly response: unknown } | { readonly state: 'failed' }

const take = `
local held = redis.call('GET', KEYS[1])
if not held then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return held
`

// Only the run that holds the key may change it, another one may have begun since; its id is a UUID of ours.
const changeOwn = `
local held = redis.call('GET', KEYS[1])
if not held or not string.find(held, ARGV[1], 1, true) then return 0 end
if ARGV[2] == '' then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
`

/** What this process holds of a key. */
interface Run {
  readonly id: string
  readonly renewal: NodeJS.Timeout
}

/**
 * Idempotency keys in Redis, in front of the durable record: a key that is at work or answered is told from here
 * without asking the database, by every instance. Whoever gets the lease still asks the record, which decides; a
 * Redis that fails, forgets or goes back in time costs speed and never an answer. The outcome stands in the record
 * before it stands here.
 */
export const createIdempotencyLease = ({
  redis,
  circuit,
  record,
  keyPrefix = 'quittance:idempotency:',
  leaseMs = defaultLeaseMs,
}: IdempotencyLeaseOptions): IdempotencyStore => {
  const runs = new Map<string, Run>()

  /** Asks Redis; what it answers is told apart from that it could not be asked. */
  const ask = async (command: () => Promise<unknown>): Promise<{ readonly reply: unknown } | null> => {
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
    ask(() => redis.eval(changeOwn, 1, name, run, changed === null ? '' : JSON.stringify(changed), lifeMs))

  const hold = (request: IdempotentRequest, id: string): void => {
    const name = nameOf(request)
    const renewal = setInterval(
      () => void write(name, id, atWork(request, id), leaseMs),
      leaseMs / renewalsPerLease,
    )
    renewal.unref()
    runs.set(name, { id, renewal })
  }

  /** Ends what this process holds; its key then tells the outcome, or is free. */
  const letGo = async (request: IdempotentRequest, outcome: Outcome | null): Promise<void> => {
    const name = nameOf(request)
    const run = runs.get(name)
    if (run === undefined) return
    runs.delete(name)
    clearInterval(run.renewal)
    const { fingerprint } = request
    const changed = outcome === null ? null : { ...outcome, fingerprint, run: run.id }
    await write(name, run.id, changed, keepOutcomeMs)
  }

  /** Only what has been written down durably is told; after a failure the durable record is asked again. */
  const end = async (
    request: IdempotentRequest,
    work: Promise<void>,
    outcome: Outcome | null,
  ): Promise<void> => {
    try {
      await work
    } catch (error) {
      await letGo(request, null)
      throw error
    }
    await letGo(request, outcome)
  }

  /** What Redis knows of the key. `free`: nothing, and the lease is ours now. `unknown`: it cannot be asked. */
  const lease = async (request: IdempotentRequest, id: string): Promise<Entry | 'free' | 'unknown'> => {
    const ours = JSON.stringify(atWork(request, id))
    const asked = await ask(() => redis.eval(take, 1, nameOf(request), ours, leaseMs))
    if (asked === null) return 'unknown'
    if (asked.reply === null) return 'free'
    const parsed = entry.safeParse(parseJson(asked.reply))
    return parsed.success ? parsed.data : 'unknown'
  }

  const begin = async (request: IdempotentRequest): Promise<IdempotencyAnswer> => {
    const id = randomUUID()
    const known = await lease(request, id)
    if (known === 'unknown') return await record.begin(request)
    if (known !== 'free') return toAnswer(known, request)
    const earlier = runs.get(nameOf(request))
    if (earlier !== undefined) {
      // It is at work in this process, and Redis had forgotten it.
      await write(nameOf(request), id, atWork(request, earlier.id), leaseMs)
      return await record.begin(request)
    }
    hold(request, id)
    try {
      const answer = await record.begin(request)
      if (answer.state !== 'started') await letGo(request, null)
      return answer
    } catch (error) {
      await letGo(request, null)
      throw error
    }
  }

  return {
    begin,
    answer: (request, response) =>
      end(request, record.answer(request, response), { state: 'answered', response }),
    fail: (request) => end(request, record.fail(request), { state: 'failed' }),
    release: (request) => end(request, record.release(request), null),
    forget: (request) => end(request, record.forget(request), null),
    purge: record.purge,
  }
}

const atWork = ({ fingerprint }: IdempotentRequest, run: string): Entry => ({
  fingerprint,
  state: 'running',
  run,
})

const toAnswer = (known: Entry, { fingerprint }: IdempotentRequest): IdempotencyAnswer => {
  if (known.fingerprint !== fingerprint) return { state: 'mismatch' }
  return known.state === 'answered' ? { state: 'answered', response: known.response } : { state: known.state }
}

const parseJson = (reply: unknown): unknown => {
  try {
    return JSON.parse(String(reply))
  } catch {
    return null
  }
}
