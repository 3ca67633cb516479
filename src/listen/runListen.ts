import { createWebhookSecret } from '../usecases/webhooks/sendWebhook.js'
import { FeedRefusedError, followEvents } from './followEvents.js'
import { forwardEvent } from './forwardEvent.js'
import { ListenUsageError, readListenOptions, usage } from './options.js'
import { printEvent } from './printEvent.js'

/** Returns the exit code. `command` is how it was called, for the usage. */
export const runListen = async (args: readonly string[], command: string): Promise<0 | 1> => {
  try {
    await listen(args, command)
    return 0
  } catch (error) {
    const message = error instanceof FeedRefusedError ? error.message : 'Listening failed'
    process.stderr.write(
      error instanceof ListenUsageError ? `${error.message}\n\n${usage(command)}\n` : `${message}\n`,
    )
    return 1
  }
}

const listen = async (args: readonly string[], command: string): Promise<void> => {
  const options = readListenOptions(args)
  if (options === null) {
    process.stdout.write(`${usage(command)}\n`)
    return
  }
  const note = (line: string) => void process.stderr.write(`${line}\n`)
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())

  const secret = options.secret ?? createWebhookSecret()
  const { forward } = options
  if (forward !== null) {
    note(`Forwarding to ${forward}`)
    if (options.secret === null) note(`Signed with ${secret}`)
  }
  note(`Listening to the events of ${options.url}. End with Ctrl-C.`)
  await followEvents(
    options,
    {
      onEvent: async (event) => {
        process.stdout.write(`${options.isJson ? JSON.stringify(event) : printEvent(event)}\n`)
        if (forward !== null) note(await forwardEvent(event, { url: forward, secret }))
      },
      onProblem: note,
    },
    stopping.signal,
  )
}
