import { DatabaseError } from 'pg'
import { databaseUnavailable } from './mapDatabaseErrors.js'

/** Runs one statement for several inputs and answers one output for each, in order. */
export type RunTogether<Input, Output> = (inputs: readonly Input[]) => Promise<readonly Output[]>

interface Call<Input, Output> {
  readonly input: Input
  readonly since: number
  resolve(output: Output): void
  reject(error: unknown): void
}

// One that runs and one that is on its way: more would take small bites.
const maxUnderWay = 2
const maxInputs = 200
// Who waited so long stood behind a database that does not answer, and is not to stand in a second such line.
const maxWaitMs = 5_000

/**
 * Lets calls share statements: at once when few are under way, else what came meanwhile goes together. Each commit
 * and each round trip then serves many, and a lone call waits for nobody.
 *
 * A statement that the database refuses is asked again for each input by itself: nothing of it was done, and only
 * who is at fault should hear of it.
 */
export const coalesce = <Input, Output>(
  run: RunTogether<Input, Output>,
): ((input: Input) => Promise<Output>) => {
  let waiting: Call<Input, Output>[] = []
  let underWay = 0

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

  const refuseLate = () => {
    const latest = performance.now() - maxWaitMs
    const late = waiting.filter(({ since }) => since < latest)
    if (late.length > 0) waiting = waiting.filter(({ since }) => since >= latest)
    for (const call of late) call.reject(databaseUnavailable())
  }

  const start = () => {
    if (underWay >= maxUnderWay) return
    refuseLate()
    if (waiting.length === 0) return
    const calls = waiting.slice(0, maxInputs)
    waiting = waiting.slice(maxInputs)
    underWay += 1
    void runFor(calls).finally(() => {
      underWay -= 1
      start()
    })
  }

  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, since: performance.now(), resolve, reject })
      // Whoever comes in the same moment comes along.
      queueMicrotask(start)
    })
}

/** Whether the server said so itself, and goes on: one that shuts down may have committed before. */
const wasUndone = ({ code }: DatabaseError): boolean => code !== undefined && !/^(08|57P|58)/.test(code)
