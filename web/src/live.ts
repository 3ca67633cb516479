import type { Answer, Result } from './api.js'
import { firstPauseMs, pause, pauseAfter } from './pause.js'
import { api, type Settlement } from './session.js'
import { createStore } from './store.js'

/** `connecting`: not live yet. `interrupted`: not live now; what happens meanwhile arrives later. */
export type LiveState = 'connecting' | 'live' | 'interrupted'

export const liveState = createStore<LiveState>('connecting')

type Change =
  | { readonly kind: 'settlement'; readonly settlement: Settlement }
  | { readonly kind: 'restarted' }
type Listener = (change: Change) => void

const listeners = new Set<Listener>()

/** `restarted`: the feed began anew, so that what was loaded before may have missed something. */
export const onChange = (listener: Listener): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

type EventListener = (type: string | null) => void

const eventListeners = new Set<EventListener>()

/** Reports the type of each event, such as `stream.closed`; null: the feed began anew. */
export const onEvent = (listener: EventListener): (() => void) => {
  eventListeners.add(listener)
  return () => eventListeners.delete(listener)
}

const notifyEvent = (type: string | null): void => {
  for (const listener of [...eventListeners]) listener(type)
}

const notify = (change: Change): void => {
  for (const listener of [...listeners]) listener(change)
}

const waitSeconds = 25
const partPauseMs = 250

/**
 * Follows the events of the account. The cursor moves only over events that were handled, so none is skipped by an outage
 * of the network or a restart of the service. Returns a function that ends it.
 */
export const followEvents = (): (() => void) => {
  const ended = new AbortController()
  void run(ended.signal)
  return () => ended.abort()
}

const run = async (signal: AbortSignal): Promise<void> => {
  let cursor: string | null = null
  let pauseMs = firstPauseMs
  liveState.set('connecting')
  while (!signal.aborted) {
    // Only the events after the newest: the past is in the lists.
    const isStart: boolean = cursor === null
    const result: Result<Answer<'/v1/events'>> = await api.get('/v1/events', {
      query: isStart ? { cursor: 'latest' } : { cursor: cursor ?? 'latest', limit: 200, wait: waitSeconds },
      timeoutMs: (waitSeconds + 15) * 1_000,
      signal,
    })
    if (signal.aborted) return
    if (!result.ok) {
      liveState.set('interrupted')
      // The service no longer knows the cursor, for example after a backup was restored.
      if (result.error.code === 'INVALID_REQUEST') cursor = null
      pauseMs = await pauseAfter(result.error, pauseMs, signal)
      continue
    }
    pauseMs = firstPauseMs
    const { events, hasMore } = result.data
    for (const { type, data } of events) {
      notifyEvent(type)
      if (type.startsWith('settlement.') && isSettlement(data))
        notify({ kind: 'settlement', settlement: data })
    }
    if (isStart && hasMore) {
      // `latest` skips a part at a time.
      await pause(partPauseMs, signal)
      continue
    }
    cursor = result.data.cursor
    if (isStart) {
      notify({ kind: 'restarted' })
      notifyEvent(null)
    }
    liveState.set('live')
  }
}

const isSettlement = (data: unknown): data is Settlement =>
  typeof data === 'object' && data !== null && 'id' in data && 'status' in data && 'network' in data
