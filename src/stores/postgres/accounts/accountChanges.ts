import { randomUUID } from 'node:crypto'
import { Client, Pool } from 'pg'
import { sleep, withTimeout } from '../../../concurrency/deadline.js'
import type { Logger } from '../../../ports/logger.js'

/** Account changes by any instance, over LISTEN/NOTIFY. */
export interface AccountChanges {
  /**
   * False when notifications of recently committed changes may not have arrived yet. Nothing is sent to prove it until it is
   * asked, so that the first answer after some idle seconds is false.
   */
  isCurrent(): boolean
  onChange(listener: (accountId: string) => void): void
  /** What changed before may have been missed: a connection was lost, and another one listens. Also at the start. */
  onRestart(listener: () => void): void
  close(): Promise<void>
}

const channel = 'account_changed'
const pulseMs = 1_000
const reconnectMs = 500
// Notifications arrive in commit order: receiving our own proves that all earlier ones have arrived.
// Bounds how long a silently dropped connection goes unnoticed.
const maxFreshMs = 2_000
const defaultIdleAfterMs = 10_000
// Firewalls forget a connection without traffic. All instances receive every pulse, so that an idle one sends its own only
// where none has arrived for so long, or up to half as long again, by chance: then one of them sends for all.
const idlePulseMs = 30_000

/** Resolves when nothing was heard for `quietMs`, or on abort; `findHeardAt`: in terms of `performance.now()`. */
export const sleepUntilQuiet = async (
  findHeardAt: () => number,
  quietMs: number,
  signal: AbortSignal,
): Promise<void> => {
  for (;;) {
    const leftMs = findHeardAt() + quietMs - performance.now()
    if (leftMs <= 0 || !(await sleep(leftMs, signal))) return
  }
}

/** Uses two dedicated connections and reconnects without limit. It is idle when it was not asked for `idleAfterMs`. */
export const listenForAccountChanges = (
  pool: Pool,
  logger: Logger,
  idleAfterMs = defaultIdleAfterMs,
): AccountChanges => {
  const stopped = new AbortController()
  // Not sent by the listener itself: behind a pooler in transaction mode it would receive its own notifications and
  // none of others. There it receives nothing, so that nothing is cached.
  const pulses = new Pool({ ...pool.options, max: 1, query_timeout: maxFreshMs })
  pulses.on('error', () => undefined)
  pulses.on('connect', (client) => void client.on('error', () => undefined))
  const listeners: ((accountId: string) => void)[] = []
  const restartListeners: (() => void)[] = []
  let currentSince = Number.NEGATIVE_INFINITY
  let isListening = true
  let askedAt = Number.NEGATIVE_INFINITY
  let idling = new AbortController()
  /** When the last notification of any instance arrived. */
  let heardAt = Number.NEGATIVE_INFINITY

  const isIdle = (): boolean => performance.now() - askedAt > idleAfterMs

  /** Until the connection ends, it is asked again, or a pulse is due all the same. */
  const idle = async (lost: Promise<never>): Promise<void> => {
    idling = new AbortController()
    const wake = () => idling.abort()
    stopped.signal.addEventListener('abort', wake, { once: true })
    try {
      const quietMs = idlePulseMs * (1 + Math.random() / 2)
      await Promise.race([sleepUntilQuiet(() => heardAt, quietMs, idling.signal), lost])
    } finally {
      stopped.signal.removeEventListener('abort', wake)
      wake()
    }
  }

  /** Rejects when the connection fails, or our own notifications cannot be sent or do not arrive. */
  const listen = async (client: Client): Promise<void> => {
    let pulse = { id: randomUUID(), sentAt: performance.now() }
    let receivedAt = performance.now()
    let isFirst = true
    const lost = new Promise<never>((_, reject) => {
      client.once('end', () => reject(new Error('The connection ended')))
    })
    lost.catch(() => undefined)
    client.on('notification', ({ payload = '' }) => {
      heardAt = performance.now()
      if (payload !== pulse.id) {
        for (const listener of listeners) listener(payload)
        return
      }
      // What was read before this connection listened may have changed since.
      if (isFirst) for (const listener of restartListeners) listener()
      isFirst = false
      currentSince = pulse.sentAt
      receivedAt = performance.now()
      if (!isListening) logger.info({}, 'accounts.listener_restored')
      isListening = true
    })
    await client.connect()
    await client.query(`listen ${channel}`)
    do {
      pulse = { id: randomUUID(), sentAt: performance.now() }
      await pulses.query('select pg_notify($1, $2)', [channel, pulse.id])
      if (performance.now() - receivedAt > maxFreshMs) throw new Error('No notification arrives')
      const isArrived = (): boolean => currentSince === pulse.sentAt
      if (!(await sleep(pulseMs, stopped.signal))) return
      if (!isIdle() || !isArrived()) continue
      await idle(lost)
      receivedAt = performance.now()
    } while (!stopped.signal.aborted)
  }

  const listenWithReconnect = async (): Promise<void> => {
    do {
      const client = new Client({ ...pool.options, query_timeout: maxFreshMs })
      client.on('error', () => undefined)
      try {
        await listen(client)
      } catch (error) {
        if (isListening && !stopped.signal.aborted) logger.warn({ error }, 'accounts.listener_lost')
        isListening = false
      } finally {
        currentSince = Number.NEGATIVE_INFINITY
        // A silent peer never acknowledges the end of the connection.
        await withTimeout(client.end(), maxFreshMs).catch(() => undefined)
      }
    } while (await sleep(reconnectMs, stopped.signal))
  }

  const running = listenWithReconnect()
  return {
    isCurrent: () => {
      askedAt = performance.now()
      idling.abort()
      return askedAt - currentSince < maxFreshMs
    },
    onChange: (listener) => void listeners.push(listener),
    onRestart: (listener) => void restartListeners.push(listener),
    close: async () => {
      stopped.abort()
      await running
      await pulses.end()
    },
  }
}
