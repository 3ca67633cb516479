import { z } from 'zod'
import { createWebhookSecret, signWebhook } from '../../usecases/webhooks/endpoint.js'
import { FeedRefusedError, followEvents, type ListedEvent } from './followEvents.js'
import { ListenUsageError, readListenOptions, usage } from './options.js'

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

const shown = z.looseObject({
  id: z.string().optional(),
  network: z.string().optional(),
  amount: z.string().optional(),
  payer: z.string().optional(),
  transaction: z.string().optional(),
  errorReason: z.string().optional(),
})

/** One line: time, type, and what identifies the payment. Without control characters: data holds text of callers. */
export const printEvent = ({ type, timestamp, data }: ListedEvent): string => {
  const { id, network, amount, payer, transaction, errorReason } = shown.safeParse(data).data ?? {}
  const parts = [
    ...[timestamp, type, errorReason, network, amount === undefined ? undefined : `amount ${amount}`],
    ...[payer === undefined ? undefined : `payer ${payer}`, transaction, id],
  ]
  return parts
    .filter((part) => part !== undefined && part !== '')
    .join('  ')
    .replaceAll(/\p{C}/gu, '')
}

const deadlineMs = 10_000

/** Posts the event as a webhook message: the same body and headers. Returns what the receiver did, as a sentence. */
const forwardEvent = async (
  event: ListedEvent,
  { url, secret }: { readonly url: string; readonly secret: string },
): Promise<string> => {
  const { id, type, timestamp, data } = event
  const body = JSON.stringify({ id, type, timestamp, data })
  const timestampSeconds = Math.floor(Date.now() / 1_000)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'quittance-webhooks',
        'webhook-id': id,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': signWebhook([secret], { id, timestampSeconds, body }),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(deadlineMs),
    })
    await response.body?.cancel()
    return `${url} answered ${response.status}`
  } catch (error) {
    const { cause } = error instanceof Error ? error : { cause: undefined }
    const code = cause instanceof Error && 'code' in cause ? `: ${String(cause.code)}` : ''
    return `${url} did not answer${code}`
  }
}
