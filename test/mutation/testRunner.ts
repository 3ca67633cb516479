import { resolve } from 'node:path'
import { createVitest } from 'vitest/node'
import { z } from 'zod'

/*
 * Runs the test files that its parent sends, one list after the other, and answers whether all passed. It keeps what it has
 * transformed, its Postgres and the migrated template: they take most of the time of a run by the command.
 */

const request = z.object({ changed: z.string().nullable(), tests: z.array(z.string()).min(1).readonly() })
export type RunRequest = z.infer<typeof request>

let hasPassed = false
// With `watch`, the sources are transformed as they are instead of being compiled once; nothing here watches them.
const vitest = await createVitest(
  'test',
  {
    watch: true,
    bail: 1,
    reporters: [
      {
        // The answer of a run lists the files of earlier ones, too; this reason is of its own files.
        onTestRunEnd: (_modules, errors, reason) => {
          hasPassed = reason === 'passed' && errors.length === 0
        },
      },
    ],
  },
  { server: { watch: null } },
)

let changedBefore: string | null = null

const run = async ({ changed, tests }: RunRequest): Promise<boolean> => {
  // What was changed for the run before is as it was by now.
  for (const file of [changedBefore, changed]) if (file !== null) vitest.invalidateFile(resolve(file))
  changedBefore = changed
  const specifications = await vitest.globTestSpecifications([...tests])
  const found = new Set(specifications.map(({ moduleId }) => moduleId))
  if (found.size < tests.length) throw new Error(`Not all of these are test files: ${tests.join(', ')}`)
  hasPassed = false
  await vitest.runTestSpecifications(specifications)
  return hasPassed
}

process.on('message', (message) => {
  void run(request.parse(message)).then((passed) => process.send?.(passed))
})
process.once('disconnect', () => void vitest.exit(true))
process.send?.('ready')
