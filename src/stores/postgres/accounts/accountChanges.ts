import { randomUUID } from 'node:crypto'
import { Client, type Pool } from 'pg'
import { sleep, withSignal } from '../../../concurrency/deadline.js'
import type { Logger } from '../../../ports/logger.js'

/** Tells of changes to accounts, whichever instance made them. */
export interface AccountChanges {
  /** Whether every change that was committed until moments ago has been told here. */
  isCurrent(): boolean
  /** Calls with the account's id. */
  onChange(listener: (accountId: string) => void): void
  close(): Promise<void>
}

const channel = 'account_changed'
const pulseMs = 500
// Notifications arrive in the order of their commits: our own, come back, proves all before it. A connection
// that is cut without a word is noticed after this long.
const maxFreshMs = 2_000

/** Listens on a connection of its own, and opens it again for as long as it takes. */
export const listenForAccountChanges = (pool: Pool, logger: Logger): AccountChanges => {
  const stopped = new AbortController()
  const listeners: ((accountId: string) => void)[] = []
  let currentSince = Number.NEGATIVE_INFINITY
  let isListening = true

  /** Rejects when the connection is of no use any more. */
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

  const listenAgainAndAgain = async (): Promise<void> => {
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
        // A peer that has fallen silent does not say goodbye.
        await withSignal(client.end(), AbortSignal.timeout(maxFreshMs)).catch(() => undefined)
      }
    } while (await sleep(pulseMs, stopped.signal))
  }

  const running = listenAgainAndAgain()
  return {
    isCurrent: () => performance.now() - currentSince < maxFreshMs,
    onChange: (listener) => void listeners.push(listener),
    close: async () => {
      stopped.abort()
      await running
    },
  }
}
