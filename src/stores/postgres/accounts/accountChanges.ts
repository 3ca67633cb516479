import { randomUUID } from 'node:crypto'
import { Client, Pool } from 'pg'
import { sleep, withSignal } from '../../../concurrency/deadline.js'
import type { Logger } from '../../../ports/logger.js'

/** Account changes by any instance, over LISTEN/NOTIFY. */
export interface AccountChanges {
  /** False when notifications of recently committed changes may not have arrived yet. */
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

/** Uses two dedicated connections and reconnects without limit. */
export const listenForAccountChanges = (pool: Pool, logger: Logger): AccountChanges => {
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

  /** Rejects when the connection fails, or our own notifications cannot be sent or do not arrive. */
  const listen = async (client: Client): Promise<void> => {
    let pulse = { id: randomUUID(), sentAt: performance.now() }
    let receivedAt = performance.now()
    let isFirst = true
    client.on('notification', ({ payload = '' }) => {
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
    } while (await sleep(pulseMs, stopped.signal))
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
        await withSignal(client.end(), AbortSignal.timeout(maxFreshMs)).catch(() => undefined)
      }
    } while (await sleep(reconnectMs, stopped.signal))
  }

  const running = listenWithReconnect()
  return {
    isCurrent: () => performance.now() - currentSince < maxFreshMs,
    onChange: (listener) => void listeners.push(listener),
    onRestart: (listener) => void restartListeners.push(listener),
    close: async () => {
      stopped.abort()
      await running
      await pulses.end()
    },
  }
}
