import { expect, it } from 'vitest'
import type { RateLimitResult } from '../../src/ports/rateLimiter.js'
import { createMemoryRateLimiter } from '../../src/stores/cache/rateLimiter.js'
import { createCalls } from '../../src/workers/calls.js'
import { createLinkedLimiter } from '../../src/workers/link.js'
import type { ToSupervisor } from '../../src/workers/messages.js'
import { createManualClock, drainEventLoop } from '../support/manualClock.js'

const clock = createManualClock()
const windows = [{ key: 'caller', limit: 10, windowMs: 60_000 }]

/** A worker, and the limiter of its supervisor, which answers when it is asked to. */
const createLink = () => {
  const shared = createMemoryRateLimiter({ clock })
  const calls = createCalls<readonly RateLimitResult[]>(10)
  const unanswered: ToSupervisor[] = []
  const limiter = createLinkedLimiter({
    calls,
    clock,
    workerCount: 2,
    send: (message) => void unanswered.push(message),
  })
  const answerAll = async (): Promise<void> => {
    for (let message = unanswered.shift(); message !== undefined; message = unanswered.shift()) {
      if (message.kind === 'refund') await shared.refund(message.windows, message.taken)
      if (message.kind !== 'take') continue
      const results = await Promise.all(message.takes.map((each) => shared.take(each)))
      calls.answer(message.id, results)
    }
  }
  /** What is left for all workers. */
  const countLeft = async () =>
    (await shared.take([{ key: 'caller', limit: 10, windowMs: 60_000, cost: 0 }])).windows[0]?.remaining
  return { limiter, answerAll, countLeft }
}

it('keeps what the supervisor allowed late, and what was allowed here, counted for all workers', async () => {
  const { limiter, answerAll, countLeft } = createLink()

  const taken = await limiter.take(windows)
  expect(limiter.isDegraded()).toBe(true)
  expect(taken).toMatchObject({ isAllowed: true, windows: [{ remaining: 4 }] })
  await answerAll()
  await drainEventLoop()
  await answerAll()

  expect(await countLeft()).toBe(9)
})

it('gives back what the supervisor allowed late, and what was refused here', async () => {
  const { limiter, answerAll, countLeft } = createLink()

  // It is more than the share of one worker.
  const taken = await limiter.take([{ key: 'caller', limit: 10, windowMs: 60_000, cost: 6 }])
  expect(taken.isAllowed).toBe(false)
  await answerAll()
  await drainEventLoop()
  await answerAll()

  expect(await countLeft()).toBe(10)
})

it.each(['before', 'after'])(
  'gives back a refund %s the late answer, here and for all workers',
  async (when) => {
    const { limiter, answerAll, countLeft } = createLink()

    const taken = await limiter.take(windows)
    if (when === 'before') await limiter.refund(windows, taken)
    await answerAll()
    await drainEventLoop()
    if (when === 'after') await limiter.refund(windows, taken)
    await drainEventLoop()
    await answerAll()

    expect(await countLeft()).toBe(10)
    expect(await limiter.take([{ key: 'caller', limit: 10, windowMs: 60_000, cost: 5 }])).toMatchObject({
      isAllowed: true,
    })
  },
)

it('gives back nothing for a late refusal, and nothing of what was answered in time', async () => {
  const { limiter, answerAll, countLeft } = createLink()

  const inTime = limiter.take([{ key: 'caller', limit: 10, windowMs: 60_000, cost: 8 }])
  await new Promise(setImmediate)
  await answerAll()
  expect(await inTime).toMatchObject({ isAllowed: true, windows: [{ remaining: 2 }] })
  await limiter.take([{ key: 'caller', limit: 10, windowMs: 60_000, cost: 5 }])
  await answerAll()

  expect(await countLeft()).toBe(2)
})
