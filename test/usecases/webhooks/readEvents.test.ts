import { expect, it } from 'vitest'
import type { AppError } from '../../../src/errors.js'
import type { EventFeed, FeedEvent } from '../../../src/ports/webhookOutbox.js'
import { createReadEvents } from '../../../src/usecases/webhooks/readEvents.js'
import { createManualClock, drainEventLoop } from '../../support/manualClock.js'

const event: FeedEvent = {
  id: 'e',
  type: 'settlement.failed',
  data: {},
  createdAt: new Date(0),
  position: 7n,
}
const query = { cursor: '3', limit: 10, waitSeconds: 20 }

const open = () => {
  const clock = createManualClock()
  const found: FeedEvent[] = []
  const asked: bigint[] = []
  const feed: EventFeed = {
    read: async (_accountId, { after }) => {
      asked.push(after)
      return [...found]
    },
    skip: async () => ({ position: 9n, isEnd: true }),
  }
  const read = createReadEvents({ feed, clock })
  const running = new AbortController()
  return {
    clock,
    found,
    asked,
    running,
    read: (id: string, holders: readonly string[] = [`address of ${id}`]) =>
      // `a 1` and `a 2` are accounts of one customer.
      read({ id, customer: id.split(' ')[0] ?? '' }, query, { holders, abandoned: running.signal }),
  }
}

it('a waiting request reads again each second, and is answered with the first event', async () => {
  const { clock, found, asked, read } = open()
  const answer = read('a')
  await drainEventLoop()
  await clock.advance(1_000)
  expect(asked).toEqual([3n, 3n])
  found.push(event)
  await clock.advance(1_000)
  expect(await answer).toMatchObject({ events: [{ id: 'e' }], cursor: '7', hasMore: false })
})

it('a waiting request ends when its time is over, with the same cursor', async () => {
  const { clock, read } = open()
  const answer = read('a')
  await drainEventLoop()
  for (let second = 0; second < 20; second += 1) await clock.advance(1_000)
  expect(await answer).toEqual({ events: [], cursor: '3', hasMore: false })
})

it('a waiting request ends when the client disconnects or the service stops', async () => {
  const { running, read } = open()
  const answer = read('a')
  await drainEventLoop()
  running.abort()
  expect(await answer).toEqual({ events: [], cursor: '3', hasMore: false })
})

it('at most 4 requests of a customer wait; one that ends makes room, and other customers are unaffected', async () => {
  const { clock, read } = open()
  const waiting = Array.from({ length: 4 }, (_, index) => read(`a ${index}`))
  await drainEventLoop()
  await expect(read('a')).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 5 })
  const other = read('b')
  await drainEventLoop()
  for (let second = 0; second < 20; second += 1) await clock.advance(1_000)
  await Promise.all([...waiting, other])
  const next = read('a')
  await drainEventLoop()
  for (let second = 0; second < 20; second += 1) await clock.advance(1_000)
  expect(await next).toMatchObject({ events: [] })
})

it('one site with many accounts never takes the last places: another client always waits', async () => {
  const { running, read } = open()
  const ofSite = Array.from({ length: 600 }, (_, index) =>
    read(`account-${Math.floor(index / 4)}`, [
      `address 2001:db8:0:${index % 16}::/64`,
      'site 2001:db8::/48',
    ]).then(
      () => 'waited',
      (error: AppError) => error.code,
    ),
  )
  await drainEventLoop()
  const good = read('good', ['address 192.0.2.1'])
  running.abort()
  expect(await good).toMatchObject({ events: [] })
  const outcomes = await Promise.all(ofSite)
  expect(outcomes.filter((outcome) => outcome === 'waited')).toHaveLength(56)
  expect(new Set(outcomes)).toEqual(new Set(['waited', 'RATE_LIMITED']))
})
