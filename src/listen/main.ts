import { createWebhookSecret } from '../usecases/webhooks/signWebhook.js'
import { FeedRefusedError, followEvents } from './followEvents.js'
import { forwardEvent } from './forwardEvent.js'
import { ListenUsageError, readListenOptions, usage } from './options.js'
import { printEvent } from './printEvent.js'

const listen = async (): Promise<void> => {
  const options = readListenOptions(process.argv.slice(2))
  if (options === null) {
    process.stdout.write(`${usage}\n`)
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

listen().catch((error: unknown) => {
  const isOurs = error instanceof ListenUsageError || error instanceof FeedRefusedError
  process.stderr.write(`${isOurs ? error.message : 'Listening failed'}\n`)
  process.exitCode = 1
})
