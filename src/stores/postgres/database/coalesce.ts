import { DatabaseError } from 'pg'
import { createMicroBatcher } from '../../../concurrency/microBatcher.js'
import { databaseUnavailable } from './mapDatabaseErrors.js'

/** Runs one statement for several inputs and answers one output for each, in order. */
export type RunTogether<Input, Output> = (inputs: readonly Input[]) => Promise<readonly Output[]>

interface Call<Input, Output> {
  readonly input: Input
  readonly since: number
  resolve(output: Output): void
  reject(error: unknown): void
}

// One that runs and one on its way: with more, batches become small.
const maxInFlight = 2
const maxInputs = 200
// A call that waited this long stood behind a database that does not answer.
const maxWaitMs = 5_000

/**
 * Lets calls share statements: a call goes at once when few are under way, else together with what came meanwhile. Each
 * commit and each round trip then serves many.
 *
 * A statement that the database refuses is asked again for each input by itself: nothing of it was done, and only the
 * call at fault is to fail.
 */
export const coalesce = <Input, Output>(
  run: RunTogether<Input, Output>,
): ((input: Input) => Promise<Output>) => {
  const runFor = async (calls: readonly Call<Input, Output>[]): Promise<void> => {
    try {
      const outputs = await run(calls.map(({ input }) => input))
      for (const [index, call] of calls.entries()) {
        const output = outputs[index]
        if (output === undefined) call.reject(new Error('The statement answered for fewer than it was asked'))
        else call.resolve(output)
      }
    } catch (error) {
      if (calls.length > 1 && error instanceof DatabaseError && wasUndone(error)) {
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

/** Whether the server itself refused, and runs on: one that shuts down may have committed before. */
const wasUndone = ({ code }: DatabaseError): boolean => code !== undefined && !/^(08|57P|58)/.test(code)
