import { signWebhook } from '../usecases/webhooks/sendWebhook.js'
import type { ListedEvent } from './followEvents.js'

const deadlineMs = 10_000

/** Posts the event as a webhook message: the same body and headers. Returns what the receiver did, as a sentence. */
export const forwardEvent = async (
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
