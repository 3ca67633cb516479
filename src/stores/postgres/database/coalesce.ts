import { sleep } from '../../../concurrency/deadline.js'
import { createMicroBatcher } from '../../../concurrency/microBatcher.js'
import { classifyFailure, databaseUnavailable, isRolledBack, toCallerError } from './databaseErrors.js'
import { maxCallMs } from './pool.js'

/** Of one input, where the others of its batch succeed. */
export class InputFailure {
  constructor(readonly error: unknown) {}
}

/**
 * Runs one statement or transaction for many inputs. At `endsAt`, in terms of `performance.now()`, the last caller stops
 * waiting.
 */
export type RunBatch<Input, Output> = (
  inputs: readonly Input[],
  endsAt: number,
) => Promise<readonly (Output | InputFailure | undefined)[]>

interface CoalesceOptions<Input> {
  /** Of one batch; default 200. */
  readonly maxInputs?: number
  /** Default 2: one runs and one is in transit; more make the batches small. */
  readonly maxInFlight?: number
  /** Called for an input that may have been committed although its caller was told otherwise, once its statement has ended. */
  readonly onUncertain?: (input: Input) => void
}

interface Call {
  readonly since: number
  /** The caller has its answer. */
  isOver: boolean
  reject(error: unknown): void
}

interface BatchedCall<Input, Output> extends Call {
  readonly input: Input
  resolve(output: Output): void
}

// After this long in the queue the database is considered unavailable.
const maxQueuedMs = 5_000
// Far more than arrive in `maxQueuedMs` while the database answers: they are 25 batches.
const maxQueued = 5_000
// For one key, so that what is asked of one payer or network leaves places to others.
const maxQueuedOfKey = 1_000

// A statement that met a conflict has waited already: another one decides it.
const maxRepeats = 2
const maxPauseMs = 50

/**
 * Batches concurrent calls into shared statements. Where Postgres rejects the data of a batch, its halves are tried alone,
 * down to the faulty input, so that only that one fails. A database that is busy or away fails the batch as one: a repetition
 * for each input would multiply the load of a database that has too much. Callers get SERVICE_UNAVAILABLE at once when too
 * many wait, after 5 s in the queue, and after `maxCallMs` in any case; nothing is started for them afterwards.
 */
export const coalesce = <Input, Output>(
  run: RunBatch<Input, Output>,
  { maxInputs = 200, maxInFlight = 2, onUncertain = () => undefined }: CoalesceOptions<Input> = {},
): ((input: Input) => Promise<Output>) => {
  const queued = createExpiry(maxQueuedMs)
  const running = createExpiry(maxCallMs)
  let waiting = 0

  const settle = async (
    calls: readonly BatchedCall<Input, Output>[],
    repeats = maxRepeats,
  ): Promise<void> => {
    const awaited = calls.filter(({ isOver }) => !isOver)
    const newest = awaited.at(-1)
    if (newest === undefined) return
    try {
      const outputs = await run(
        awaited.map(({ input }) => input),
        newest.since + maxCallMs,
      )
      for (const [index, call] of awaited.entries()) {
        const output = outputs[index]
        if (call.isOver) onUncertain(call.input)
        if (output === undefined) call.reject(new Error('The statement returned fewer rows than inputs'))
        else if (output instanceof InputFailure) call.reject(toCallerError(output.error))
        else call.resolve(output)
      }
    } catch (error) {
      const failure = classifyFailure(error)
      if (failure === 'conflict' && repeats > 0) {
        await sleep(Math.random() * maxPauseMs)
        return await settle(awaited, repeats - 1)
      }
      if (failure === 'data' && awaited.length > 1) {
        const middle = Math.ceil(awaited.length / 2)
        await settle(awaited.slice(0, middle))
        return await settle(awaited.slice(middle))
      }
      for (const call of awaited) {
        if (!isRolledBack(error)) onUncertain(call.input)
        call.reject(toCallerError(error))
      }
    }
  }

  const batcher = createMicroBatcher<BatchedCall<Input, Output>>({
    maxItems: () => maxInputs,
    maxInFlight,
    run: async (calls) => {
      waiting -= calls.length
      queued.expire()
      for (const call of calls) {
        queued.delete(call)
        if (!call.isOver) running.add(call)
      }
      await settle(calls)
      for (const call of calls) running.delete(call)
    },
  })

  return (input) =>
    new Promise((resolve, reject) => {
      if (waiting >= maxQueued) {
        reject(databaseUnavailable())
        return
      }
      const call = { input, since: performance.now(), isOver: false, resolve, reject }
      waiting += 1
      queued.add(call)
      batcher.add(call)
    })
}

/** Rejects calls that last too long, by one timer: they expire in the order in which they began. */
const createExpiry = (limitMs: number) => {
  const calls = new Set<Call>()
  let timer: NodeJS.Timeout | null = null

  const arm = (): void => {
    const [oldest] = calls
    if (timer !== null || oldest === undefined) return
    timer = setTimeout(expire, Math.max(1, oldest.since + limitMs - performance.now()))
    timer.unref()
  }
  const expire = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    const latest = performance.now() - limitMs
    for (const call of calls) {
      if (call.since > latest) break
      calls.delete(call)
      call.isOver = true
      call.reject(databaseUnavailable())
    }
    arm()
  }

  return {
    expire,
    add: (call: Call): void => {
      calls.add(call)
      arm()
    },
    delete: (call: Call): void => {
      calls.delete(call)
    },
  }
}

/**
 * Runs the work of one key one after the other; different keys run at once. Callers wait as in `coalesce`; the work gets the
 * time at which its caller stops waiting, and should commit nothing afterwards.
 */
export const createKeyQueue = () => {
  const last = new Map<string, Promise<void>>()
  const waiting = new Map<string, number>()
  const queued = createExpiry(maxQueuedMs)
  const running = createExpiry(maxCallMs)
  let total = 0

  const count = (key: string, change: 1 | -1): void => {
    total += change
    const ofKey = (waiting.get(key) ?? 0) + change
    if (ofKey === 0) waiting.delete(key)
    else waiting.set(key, ofKey)
  }

  return <T>(key: string, work: (endsAt: number) => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      if (total >= maxQueued || (waiting.get(key) ?? 0) >= maxQueuedOfKey) {
        reject(databaseUnavailable())
        return
      }
      const call = { since: performance.now(), isOver: false, reject }
      const run = async (): Promise<void> => {
        count(key, -1)
        queued.expire()
        queued.delete(call)
        if (call.isOver) return
        running.add(call)
        try {
          resolve(await work(call.since + maxCallMs))
        } catch (error) {
          reject(error)
        }
        running.delete(call)
      }
      count(key, 1)
      queued.add(call)
      const earlier = last.get(key)
      const current = earlier === undefined ? run() : earlier.then(run)
      const ended = current.then(() => {
        if (last.get(key) === ended) last.delete(key)
      })
      last.set(key, ended)
    })
}
