import { randomUUID } from 'node:crypto'
import type { Clock } from '../../src/ports/clock.js'
import type {
  LeasedDelivery,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookOutbox,
} from '../../src/ports/webhookOutbox.js'

interface MemoryOutbox extends WebhookOutbox {
  /** Inserts an event, as the journal does when a settlement changes. */
  write(accountId: string, data?: unknown): WebhookDelivery
  get(id: string): WebhookDelivery
}

type Row = WebhookDelivery & { readonly lease: string | null }

/** Fulfills the contract of the port without a database. */
export const createMemoryOutbox = (clock: Clock): MemoryOutbox => {
  const rows = new Map<string, Row>()
  const endpoints = new Map<string, WebhookEndpoint & { previousUntil: Date }>()
  const later = (milliseconds: number) => new Date(clock.now().getTime() + milliseconds)
  const change = (id: string, changes: Partial<Row>) => {
    const row = rows.get(id)
    if (row !== undefined) rows.set(id, { ...row, ...changes })
  }
  const holds = ({ id, lease }: LeasedDelivery) => rows.get(id)?.lease === lease
  const endWaiting = (accountId: string) => {
    for (const row of rows.values()) {
      if (row.accountId === accountId && row.state === 'waiting')
        change(row.id, { state: 'failed', dueAt: null })
    }
  }
  const findEndpoint = (accountId: string): WebhookEndpoint | null => {
    const found = endpoints.get(accountId)
    if (found === undefined) return null
    const { previousUntil, sealedSecrets, ...rest } = found
    return { ...rest, sealedSecrets: sealedSecrets.slice(0, previousUntil > clock.now() ? 2 : 1) }
  }
  const get = (id: string): WebhookDelivery => {
    const row = rows.get(id)
    if (row === undefined) throw new Error('There is no such delivery')
    return row
  }

  const put = (accountId: string, type: string, data: unknown): WebhookDelivery => {
    const id = randomUUID()
    const row: Row = {
      id,
      accountId,
      type,
      data,
      createdAt: clock.now(),
      state: 'waiting',
      attempts: 0,
      dueAt: clock.now(),
      lastStatus: null,
      lastError: null,
      lastAttemptAt: null,
      lease: null,
    }
    rows.set(id, row)
    return row
  }

  return {
    get,
    write: (accountId, data = { id: 'settlement-1' }) => put(accountId, 'settlement.confirmed', data),
    enqueue: async ({ accountId, type, data }) => {
      const endpoint = findEndpoint(accountId)
      if (endpoint !== null && !endpoint.isGone) put(accountId, type, data)
    },
    findEndpoint: async (accountId) => findEndpoint(accountId),
    setEndpoint: async (accountId, endpoint) => {
      if (endpoint === null) {
        endpoints.delete(accountId)
        endWaiting(accountId)
        return
      }
      const { url, sealedSecret } = endpoint
      endpoints.set(accountId, {
        accountId,
        url,
        sealedSecrets: [sealedSecret],
        isGone: false,
        previousUntil: clock.now(),
      })
    },
    rotateSecret: async (accountId, sealedSecret, overlapMs) => {
      const found = endpoints.get(accountId)
      if (found === undefined) return false
      const sealedSecrets = [sealedSecret, ...found.sealedSecrets.slice(0, 1)]
      endpoints.set(accountId, { ...found, sealedSecrets, previousUntil: later(overlapMs) })
      return true
    },
    leaseDue: async ({ limit, limitPerAccount, except, only, after = '', leaseMs }) => {
      const queues = new Map<string, Row[]>()
      for (const row of rows.values()) {
        const isChosen = !except.includes(row.accountId) && (only?.includes(row.accountId) ?? true)
        if (row.dueAt === null || row.dueAt > clock.now() || !isChosen) continue
        queues.set(row.accountId, [...(queues.get(row.accountId) ?? []), row])
      }
      const accounts = [...queues.keys()].sort()
      const turns = [...accounts.filter((id) => id > after), ...accounts.filter((id) => id <= after)]
      const taken: LeasedDelivery[] = []
      for (let place = 0; place < limitPerAccount; place += 1) {
        for (const accountId of turns) {
          const row = queues.get(accountId)?.[place]
          const endpoint = findEndpoint(accountId)
          if (row === undefined || endpoint === null || taken.length >= limit) continue
          const lease = randomUUID()
          change(row.id, { lease, dueAt: later(leaseMs) })
          taken.push({ ...row, lease, endpoint })
        }
      }
      return taken
    },
    finish: async (taken, outcome) => {
      if (holds(taken)) {
        change(taken.id, {
          state: outcome.state,
          attempts: get(taken.id).attempts + 1,
          lease: null,
          dueAt: outcome.state === 'waiting' ? later(outcome.retryInMs) : null,
          lastStatus: outcome.status,
          lastError: outcome.error,
          lastAttemptAt: clock.now(),
        })
      }
      const endpoint = endpoints.get(taken.accountId)
      if (outcome.state !== 'failed' || !outcome.isGone || endpoint?.url !== taken.endpoint.url) return
      endpoints.set(taken.accountId, { ...endpoint, isGone: true })
      endWaiting(taken.accountId)
    },
    returnToQueue: async (taken) => {
      if (holds(taken)) change(taken.id, { lease: null, dueAt: clock.now() })
    },
    list: async (accountId, { limit, before }) => {
      const own = [...rows.values()].filter((row) => row.accountId === accountId).toReversed()
      const last = own.findIndex(({ id }) => id === before)
      return before !== undefined && last < 0 ? [] : own.slice(last + 1).slice(0, limit)
    },
    redeliver: async (accountId, deliveryId) => {
      const row = rows.get(deliveryId)
      if (row?.accountId !== accountId) return null
      // A delivery in progress is not sent concurrently.
      const isUnderWay = row.lease !== null && row.dueAt !== null && row.dueAt > clock.now()
      change(deliveryId, { state: 'waiting', attempts: 0, ...(isUnderWay ? {} : { dueAt: clock.now() }) })
      return get(deliveryId)
    },
    purge: async () => undefined,
  }
}
