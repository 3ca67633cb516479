import { createSharedPlaces } from '../../concurrency/slots.js'
import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { EventFeed, FeedEvent } from '../../ports/webhookOutbox.js'
import type { EventPage } from '../../protocol/webhooks.js'
import type { EventsQuery, WebhookUseCases } from '../useCases.js'

export interface ReadEventsDependencies {
  readonly feed: EventFeed
  readonly clock: Clock
}

const pollMs = 1_000
/** Waiting requests, per process. */
const maxWaiting = 500
const maxWaitingPerCustomer = 4

/** A waiting request polls; between polls it holds no database connection. */
export const createReadEvents = ({ feed, clock }: ReadEventsDependencies): WebhookUseCases['readEvents'] => {
  const waiting = new Map<string, number>()
  const places = createSharedPlaces(maxWaiting)

  const read = async (
    accountId: string,
    after: bigint,
    { limit, settlementId }: EventsQuery,
  ): Promise<EventPage> => {
    const found = await feed.read(accountId, { after, limit: limit + 1, settlementId })
    if (found === null) {
      throw new AppError('INVALID_REQUEST', 'cursor: is not known here; start again without a cursor')
    }
    return viewPage(found, { after, limit })
  }

  const reserve = (customer: string, holders: readonly string[]): (() => void) => {
    const own = waiting.get(customer) ?? 0
    const release = own >= maxWaitingPerCustomer ? null : places.take(holders)
    if (release === null) {
      throw new AppError('RATE_LIMITED', 'Too many requests wait for events', { retryAfterSeconds: 5 })
    }
    waiting.set(customer, own + 1)
    return () => {
      release()
      const left = (waiting.get(customer) ?? 1) - 1
      if (left === 0) waiting.delete(customer)
      else waiting.set(customer, left)
    }
  }

  return async ({ id, customer }, query, { holders, abandoned }) => {
    const { cursor, waitSeconds } = query
    if (cursor === 'latest') {
      const { position, isEnd } = await feed.skip(id)
      return { events: [], cursor: position.toString(), hasMore: !isEnd }
    }
    const after = BigInt(cursor)
    const first = await read(id, after, query)
    if (first.events.length > 0 || waitSeconds === 0) return first
    const release = reserve(customer, holders)
    try {
      const endsAt = clock.now().getTime() + waitSeconds * 1_000
      for (;;) {
        const leftMs = endsAt - clock.now().getTime()
        if (leftMs <= 0 || !(await clock.sleep(Math.min(pollMs, leftMs), abandoned))) return first
        const page = await read(id, after, query)
        if (page.events.length > 0) return page
      }
    } finally {
      release()
    }
  }
}

const viewPage = (
  found: readonly FeedEvent[],
  { after, limit }: { readonly after: bigint; readonly limit: number },
): EventPage => {
  const shown = found.slice(0, limit)
  return {
    events: shown.map(({ id, type, createdAt, data }) => ({
      id,
      type,
      timestamp: createdAt.toISOString(),
      data,
    })),
    cursor: (shown.at(-1)?.position ?? after).toString(),
    hasMore: found.length > limit,
  }
}
