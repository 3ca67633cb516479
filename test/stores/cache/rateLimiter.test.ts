import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../../src/ports/clock.js'
import { createMemoryRateLimiter, type MemoryRateLimiter } from '../../../src/stores/cache/rateLimiter.js'
import {
  bucket,
  countPlainly,
  describeRateLimiter,
  questions,
  strip,
} from '../../contracts/rateLimiterContract.js'

describeRateLimiter('the limiter in memory', {
  open: async () => {
    const clock = createTestClock()
    const limiter = createMemoryRateLimiter({ clock })
    return {
      limiter,
      now: async () => clock.now(),
      reach: async (moment) => clock.set(moment),
      close: () => limiter.close(),
    }
  },
  propertyRuns: 300,
})

describe('the in-memory limiter and its clock', () => {
  it('ends a window exactly at its reset', async () => {
    const { limiter, clock } = open()
    await limiter.take([bucket({ limit: 1, windowMs: 1_000 })])
    clock.pass(999)
    expect((await limiter.take([bucket({ limit: 1, windowMs: 1_000 })])).isAllowed).toBe(false)
    clock.pass(1)
    expect((await limiter.take([bucket({ limit: 1, windowMs: 1_000 })])).isAllowed).toBe(true)
  })

  it('does not extend a window if the clock is set back', async () => {
    const { limiter, clock } = open()
    await limiter.take([bucket({ limit: 1, windowMs: 1_000 })])
    clock.pass(-3_600_000)
    const answer = await limiter.take([bucket({ limit: 1, windowMs: 1_000 })])
    expect(answer.isAllowed).toBe(true)
    expect(answer.windows[0]?.resetsAt).toEqual(new Date(clock.now().getTime() + 1_000))
  })

  it('matches a reference model for any sequence of time steps', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(questions, fc.nat(90_000)), { maxLength: 40 }), async (steps) => {
        const { limiter, clock } = open()
        const model = createTimedModel(clock)
        for (const [question, pauseMs] of steps) {
          expect(strip(await limiter.take(question))).toEqual(model(question))
          clock.pass(pauseMs)
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('the storage of the in-memory limiter', () => {
  it('stores no bucket for requests of cost 0', async () => {
    const { limiter } = open()
    await limiter.take([bucket({ key: 'refused', limit: 0 })])
    await limiter.take([bucket({ key: 'free', cost: 0 })])
    await limiter.take([bucket({ key: 'fits', limit: 9 }), bucket({ key: 'does not', limit: 0 })])
    expect(limiter.countBuckets()).toBe(0)
  })

  it('drops ended buckets of every window length', async () => {
    const { limiter, clock } = open()
    await fill(limiter, 30, { windowMs: 1_000 })
    await fill(limiter, 30, { windowMs: 60_000, limit: 1 })
    await fill(limiter, 30, { windowMs: 3_600_000 })
    clock.pass(60_000)
    await limiter.take([bucket({ key: 'newcomer' })])
    expect(limiter.countBuckets()).toBe(31)
  })

  it('drops more buckets than it adds per request', async () => {
    const { limiter, clock } = open()
    await fill(limiter, 1_000, { windowMs: 1_000 })
    clock.pass(1_000)
    await fill(limiter, 20, { windowMs: 1_000, prefix: 'newcomer' })
    expect(limiter.countBuckets()).toBe(20)
  })

  it('drops ended buckets of all levels', async () => {
    const { limiter, clock } = open()
    await fill(limiter, 9, { windowMs: 1_000 })
    await fill(limiter, 3, { windowMs: 1_000, key: 'stranger 4 of 1000' })
    clock.pass(1_000)
    await limiter.take([bucket({ key: 'newcomer' })])
    expect(limiter.countBuckets()).toBe(1)
  })

  it('keeps a restarted bucket while old ones are being dropped', async () => {
    const { limiter, clock } = open()
    await fill(limiter, 1_000, { windowMs: 1_000 })
    clock.pass(1_000)
    const again = bucket({ key: 'stranger 900 of 1000', windowMs: 1_000, limit: 1 })
    await limiter.take([again])
    await fill(limiter, 20, { windowMs: 1_000, prefix: 'newcomer' })
    expect(limiter.countBuckets()).toBe(21)
    expect((await limiter.take([again])).isAllowed).toBe(false)
  })

  it('never stores more than the maximum number of buckets', async () => {
    const { limiter } = open({ maxBuckets: 50 })
    await fill(limiter, 500, { limit: 2 })
    await fill(limiter, 500, { limit: 1, prefix: 'exhausted' })
    expect(limiter.countBuckets()).toBe(50)
    await limiter.take(['a', 'b', 'c'].map((key) => bucket({ key })))
    expect(limiter.countBuckets()).toBe(50)
  })

  it('works with a maximum below the number of buckets of one request', async () => {
    const { limiter } = open({ maxBuckets: 1 })
    const question = ['a', 'b', 'c'].map((key) => bucket({ key, limit: 1 }))
    expect((await limiter.take(question)).isAllowed).toBe(true)
    expect((await limiter.take(question)).isAllowed).toBe(false)
  })

  it('evicts the buckets that end first if all are equally used', async () => {
    const { limiter, clock } = open({ maxBuckets: 2 })
    const [early, late] = [bucket({ key: 'early' }), bucket({ key: 'late' })]
    await limiter.take([early])
    clock.pass(1)
    await limiter.take([late])
    await limiter.take([bucket({ key: 'newcomer' })])
    expect(await remaining(limiter, early)).toBe(5)
    expect(await remaining(limiter, late)).toBe(4)
  })

  it('evicts the bucket that ends first across window lengths', async () => {
    const { limiter } = open({ maxBuckets: 3 })
    const lengths = [60_000, 1_000, 3_600_000].map((windowMs) => bucket({ windowMs }))
    await limiter.take(lengths)
    await limiter.take([bucket({ key: 'newcomer' })])
    expect(await Promise.all(lengths.map((each) => remaining(limiter, each)))).toEqual([4, 5, 4])
  })

  it('keeps an exhausted bucket during a flood of new clients', async () => {
    const { limiter } = open({ maxBuckets: 50 })
    const spent = bucket({ key: 'spent', limit: 3 })
    await fill(limiter, 3, { limit: 3, key: 'spent' })
    await fill(limiter, 1_000, { limit: 3 })
    expect((await limiter.take([spent])).isAllowed).toBe(false)
  })

  it('keeps an exhausted bucket during a flood after many others were dropped', async () => {
    const { limiter, clock } = open({ maxBuckets: 50 })
    await fill(limiter, 50, { limit: 1, windowMs: 1_000 })
    clock.pass(1_000)
    await fill(limiter, 3, { limit: 3, key: 'spent' })
    await fill(limiter, 1_000, { limit: 3 })
    expect((await limiter.take([bucket({ key: 'spent', limit: 3 })])).isAllowed).toBe(false)
  })

  it('keeps a bucket that rejected a large cost like an exhausted one', async () => {
    const { limiter } = open({ maxBuckets: 50 })
    await limiter.take([bucket({ key: 'spender', limit: 10, cost: 1 })])
    await limiter.take([bucket({ key: 'spender', limit: 10, cost: 10 })])
    await fill(limiter, 1_000, { limit: 10 })
    expect(await remaining(limiter, bucket({ key: 'spender', limit: 10 }))).toBe(9)
  })

  it('evicts new clients before a half used bucket during a flood', async () => {
    const { limiter } = open({ maxBuckets: 50 })
    await limiter.take([bucket({ key: 'regular', limit: 10, cost: 5 })])
    await fill(limiter, 1_000, { limit: 10 })
    expect(await remaining(limiter, bucket({ key: 'regular', limit: 10 }))).toBe(5)
  })

  it('still limits new clients when it is full of exhausted buckets', async () => {
    const { limiter } = open({ maxBuckets: 40 })
    await fill(limiter, 40, { limit: 1, prefix: 'attacker' })
    const newcomers = ['a', 'b'].map((key) => bucket({ key, limit: 2 }))
    for (let round = 0; round < 2; round += 1) for (const each of newcomers) await limiter.take([each])
    for (const each of newcomers) expect((await limiter.take([each])).isAllowed).toBe(false)
  })

  it('is empty after close', async () => {
    const { limiter } = open()
    await fill(limiter, 10, {})
    await limiter.close()
    expect(limiter.countBuckets()).toBe(0)
  })
})

interface TestClock extends Clock {
  set(moment: Date): void
  pass(ms: number): void
}

const createTestClock = (): TestClock => {
  let nowMs = Date.UTC(2026, 0, 1)
  return {
    now: () => new Date(nowMs),
    sleep: () => Promise.reject(new Error('The limiter in memory does not sleep')),
    set(moment) {
      nowMs = moment.getTime()
    },
    pass(ms) {
      nowMs += ms
    },
  }
}

const open = (options: { maxBuckets?: number } = {}): { limiter: MemoryRateLimiter; clock: TestClock } => {
  const clock = createTestClock()
  return { limiter: createMemoryRateLimiter({ clock, ...options }), clock }
}

const fill = async (
  limiter: MemoryRateLimiter,
  times: number,
  {
    prefix = 'stranger',
    key,
    ...fields
  }: { prefix?: string; key?: string; limit?: number; windowMs?: number },
): Promise<void> => {
  for (let time = 0; time < times; time += 1) {
    const name = key ?? `${prefix} ${time} of ${fields.windowMs}`
    await limiter.take([bucket({ key: name, ...fields })])
  }
}

const remaining = async (limiter: MemoryRateLimiter, question: ReturnType<typeof bucket>): Promise<number> =>
  (await limiter.take([{ ...question, cost: 0 }])).windows[0]?.remaining ?? Number.NaN

/** Reference model: a counter per window, started by the first draw and reset at its end. */
const createTimedModel = (clock: Clock) => {
  const used = new Map<string, number>()
  const endsAtMs = new Map<string, number>()
  return (windows: ReturnType<typeof bucket>[]): ReturnType<typeof countPlainly> => {
    const nowMs = clock.now().getTime()
    for (const [name, ms] of endsAtMs) {
      if (ms > nowMs) continue
      endsAtMs.delete(name)
      used.delete(name)
    }
    const answer = countPlainly(used, windows)
    for (const { key, windowMs } of windows) {
      const name = JSON.stringify([key, windowMs])
      if ((used.get(name) ?? 0) > 0 && !endsAtMs.has(name)) endsAtMs.set(name, nowMs + windowMs)
    }
    return answer
  }
}
