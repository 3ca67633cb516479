import { DatabaseError } from 'pg'
import { createMicroBatcher } from '../../../concurrency/microBatcher.js'
import { databaseUnavailable } from './databaseErrors.js'

export type RunBatch<Input, Output> = (inputs: readonly Input[]) => Promise<readonly Output[]>

interface Call<Input, Output> {
  readonly input: Input
  readonly since: number
  resolve(output: Output): void
  reject(error: unknown): void
}

// One running and one in transit; more would make the batches small.
const maxInFlight = 2
const maxInputs = 200
// After this long in the queue the database is considered unavailable.
const maxWaitMs = 5_000

/**
 * Batches concurrent calls into shared statements. When Postgres rejects a batch, each input is retried
 * alone, so that only the faulty one fails.
 */
export const coalesce = <Input, Output>(
  run: RunBatch<Input, Output>,
): ((input: Input) => Promise<Output>) => {
  const runFor = async (calls: readonly Call<Input, Output>[]): Promise<void> => {
    try {
      const outputs = await run(calls.map(({ input }) => input))
      for (const [index, call] of calls.entries()) {
        const output = outputs[index]
        if (output === undefined) call.reject(new Error('The statement returned fewer rows than inputs'))
        else call.resolve(output)
      }
    } catch (error) {
      if (calls.length > 1 && error instanceof DatabaseError && wasRolledBack(error)) {
        for (const call of calls) await runFor([call])
        return
      }
      for (const call of calls) call.reject(error)
    }
  }

  const batcher = createMicroBatcher<Call<Input, Output>>({
    maxItems: () => maxInputs,
    maxInFlight,
    run: async (calls) => {
      const latest = performance.now() - maxWaitMs
      const timely = calls.filter(({ since }) => since >= latest)
      for (const call of calls) if (call.since < latest) call.reject(databaseUnavailable())
      if (timely.length > 0) await runFor(timely)
    },
  })

  return (input) =>
    new Promise((resolve, reject) => {
      batcher.add({ input, since: performance.now(), resolve, reject })
    })
}

/** Whether the server rejected the statement. A connection loss or a shutdown may have followed a commit. */
const wasRolledBack = ({ code }: DatabaseError): boolean => code !== undefined && !/^(08|57P|58)/.test(code)

// After this long in the queue the database is considered unavailable.
const maxQueuedMs = 5_000

/** Runs the work of one key one after the other; different keys run at once. Rejects what waited too long. */
export const createKeyQueue = () => {
  const last = new Map<string, Promise<unknown>>()

  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const since = performance.now()
    const run = async (): Promise<T> => {
      if (performance.now() - since > maxQueuedMs) throw databaseUnavailable()
      return await work()
    }
    const earlier = last.get(key)
    const current = earlier === undefined ? run() : earlier.then(run)
    const ended = current
      .catch(() => undefined)
      .then(() => {
        if (last.get(key) === ended) last.delete(key)
      })
    last.set(key, ended)
    return current
  }
}
