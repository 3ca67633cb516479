import type { z } from 'zod'

/** For forked processes: sends `ready`, runs the task that the parent sends, sends the result and exits. */
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
  // Exit if the parent is killed.
  process.once('disconnect', () => process.exit())
  process.send?.('ready')
}
