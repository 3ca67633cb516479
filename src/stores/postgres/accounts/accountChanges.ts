import { randomUUID } from 'node:crypto'
import { Client, type Pool } from 'pg'
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

/** Uses a dedicated connection and reconnects without limit. */
export const listenForAccountChanges = (pool: Pool, logger: Logger): AccountChanges => {
  const stopped = new AbortController()
  const listeners: ((accountId: string) => void)[] = []
  let currentSince = Number.NEGATIVE_INFINITY
  let isListening = true

  /** Rejects when the connection fails or our own notification cannot be sent. */
  const listen = async (client: Client): Promise<void> => {
    let pulse = { id: randomUUID(), sentAt: performance.now() }
    client.on('notification', ({ payload = '' }) => {
      if (payload === pulse.id) currentSince = pulse.sentAt
      else for (const listener of listeners) listener(payload)
    })
    await client.connect()
    await client.query(`listen ${channel}`)
    if (!isListening) logger.info({}, 'accounts.listener_restored')
    isListening = true
    do {
      pulse = { id: randomUUID(), sentAt: performance.now() }
      await client.query('select pg_notify($1, $2)', [channel, pulse.id])
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
    },
  }
}
