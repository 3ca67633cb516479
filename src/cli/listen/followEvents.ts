import { sleep } from '../../concurrency/deadline.js'
import { type EventPage, eventPage } from '../../protocol/webhooks.js'
import type { ListenOptions } from './options.js'

export type ListedEvent = EventPage['events'][number]

interface Follower {
  /** Awaited before the next event, and before the cursor moves on: at least once. */
  onEvent(event: ListedEvent): Promise<void>
  /** A failed request that is retried. */
  onProblem(sentence: string): void
}

/** The service refuses the key or the cursor: asking again would not help. */
export class FeedRefusedError extends Error {}

const waitSeconds = 25
const requestDeadlineMs = 40_000
const longestPauseMs = 15_000

/** Follows the feed until the signal aborts; retries while the service is away. Throws `FeedRefusedError`. */
export const followEvents = async (
  { apiKey, url, cursor: start }: Pick<ListenOptions, 'apiKey' | 'url' | 'cursor'>,
  { onEvent, onProblem }: Follower,
  stopped: AbortSignal,
): Promise<void> => {
  const read = async (query: string): Promise<EventPage> => {
    const response = await fetch(`${url}/v1/events?${query}`, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.any([stopped, AbortSignal.timeout(requestDeadlineMs)]),
      redirect: 'error',
    })
    const text = await response.text()
    if (response.ok) return eventPage.parse(JSON.parse(text))
    const sentence = `The service answered ${response.status}: ${text.slice(0, 300)}`
    if ([400, 401, 403, 404].includes(response.status)) throw new FeedRefusedError(sentence)
    throw new Error(sentence)
  }

  let cursor = start
  let pauseMs = 500
  while (!stopped.aborted) {
    try {
      const page = await read(cursor === null ? 'cursor=latest' : `cursor=${cursor}&wait=${waitSeconds}`)
      pauseMs = 500
      for (const event of page.events) {
        if (stopped.aborted) return
        await onEvent(event)
      }
      // `latest` skips in steps.
      if (cursor !== null || !page.hasMore) cursor = page.cursor
    } catch (error) {
      if (stopped.aborted) return
      if (error instanceof FeedRefusedError) throw error
      onProblem(`${describe(error)} Trying again in ${pauseMs / 1_000} s.`)
      await sleep(pauseMs, stopped)
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    }
  }
}

const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return 'The request failed.'
  const { cause } = error
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
  return `${error.message}${code}.`
}
