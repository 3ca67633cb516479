import type { ServerResponse } from 'node:http'
import type { SendRefusal } from './preparedRefusals.js'

export interface DelayedRefusals {
  /** Sends the refusal after the delay, and closes the connection. */
  add(response: ServerResponse, send: SendRefusal): void
}

interface Delayed {
  readonly response: ServerResponse
  readonly send: SendRefusal
  readonly dueAtMs: number
}

// Beyond this number the oldest are sent early: what waits takes memory.
const maxWaiting = 1_000

/**
 * A connection costs more to accept than a refusal to send, so that closing it alone slows no client down: one that waits
 * for its answer sends the next request only after the delay.
 */
export const createDelayedRefusals = (delayMs: number): DelayedRefusals => {
  const waiting = new Set<Delayed>()
  let isScheduled = false

  const schedule = (inMs: number): void => {
    isScheduled = true
    setTimeout(sendDue, inMs).unref()
  }

  const sendOldest = (oldest: Delayed): void => {
    waiting.delete(oldest)
    oldest.send(oldest.response, { closes: true })
  }

  const sendDue = (): void => {
    isScheduled = false
    const nowMs = performance.now()
    for (const delayed of waiting) {
      if (delayed.dueAtMs > nowMs) {
        schedule(delayed.dueAtMs - nowMs)
        return
      }
      sendOldest(delayed)
    }
  }

  return {
    add: (response, send) => {
      if (delayMs === 0) {
        send(response, { closes: true })
        return
      }
      const [oldest] = waiting
      if (waiting.size >= maxWaiting && oldest !== undefined) sendOldest(oldest)
      const delayed = { response, send, dueAtMs: performance.now() + delayMs }
      waiting.add(delayed)
      response.req.socket.once('close', () => waiting.delete(delayed))
      if (!isScheduled) schedule(delayMs)
    },
  }
}
