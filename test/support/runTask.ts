import type { z } from 'zod'

/** The life of a forked process: says `ready`, runs the one task that its parent sends, answers and ends. */
export const runTask = <Schema extends z.ZodType>(
  task: Schema,
  run: (given: z.infer<Schema>) => Promise<object>,
): void => {
  process.once('message', (message) => {
    run(task.parse(message))
      .then((answer) => process.send?.(answer))
      .then(() => process.disconnect())
      .catch((error: unknown) => {
        process.stderr.write(`${error}\n`)
        process.exit(1)
      })
  })
  // A parent that is killed must not leave this process behind.
  process.once('disconnect', () => process.exit())
  process.send?.('ready')
}
