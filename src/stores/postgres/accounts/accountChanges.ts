import { randomUUID } from 'node:crypto'
import { Client, Pool } from 'pg'
import { sleep, withSignal } from '../../../concurrency/deadline.js'
import type { Logger } from '../../../ports/logger.js'

/** Account changes by any instance, over LISTEN/NOTIFY. */
export interface AccountChanges {
  /** False when notifications of recently committed changes may be missing. */
  isCurrent(): boolean
  onChange(listener: (accountId: string) => void): void
  close(): Promise<void>
}

const channel = 'account_changed'
const pulseMs = 500
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
  let currentSince = Number.NEGATIVE_INFINITY
  let isListening = true

  /** Rejects when the connection fails, or our own notifications cannot be sent or do not arrive. */
  const listen = async (client: Client): Promise<void> => {
    let pulse = { id: randomUUID(), sentAt: performance.now() }
    let receivedAt = performance.now()
    client.on('notification', ({ payload = '' }) => {
      if (payload !== pulse.id) {
        for (const listener of listeners) listener(payload)
        return
      }
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
    } while (await sleep(pulseMs, stopped.signal))
  }

  const running = listenWithReconnect()
  return {
    isCurrent: () => performance.now() - currentSince < maxFreshMs,
    onChange: (listener) => void listeners.push(listener),
    close: async () => {
      stopped.abort()
      await running
      await pulses.end()
    },
  }
}
