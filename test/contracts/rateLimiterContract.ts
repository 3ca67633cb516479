import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LimitWindow, RateLimiter } from '../../src/ports/rateLimiter.js'

/** An empty limiter, with the clock of its windows. */
interface LimiterHarness {
  readonly limiter: RateLimiter
  now(): Promise<Date>
  /** Resolves when the limiter's clock reaches the moment. */
  reach(moment: Date): Promise<void>
  close(): Promise<void>
}

export const describeRateLimiter = (
  name: string,
  { open, propertyRuns }: { open: () => Promise<LimiterHarness>; propertyRuns: number },
): void => {
  describe(name, () => {
    let harness: LimiterHarness
    let limiter: RateLimiter
    beforeEach(async () => {
      harness = await open()
      limiter = harness.limiter
    })
    afterEach(() => harness.close())

    const remainingOf = async (windows: readonly LimitWindow[]): Promise<readonly number[]> => {
      const answer = await limiter.take(windows.map((each) => ({ ...each, cost: 0 })))
      return answer.windows.map(({ remaining }) => remaining)
    }
    const takeTimes = async (times: number, windows: readonly LimitWindow[]): Promise<void> => {
      for (let time = 0; time < times; time += 1) await limiter.take(windows)
    }

    describe('a refund', () => {
      it('gives back what was taken, and no more', async () => {
        const windows = [bucket({ limit: 10, cost: 7 })]
        const taken = await limiter.take(windows)
        await limiter.refund(windows, taken)
        expect(await remainingOf(windows)).toEqual([10])
        await limiter.refund(windows, taken)
        expect(await remainingOf(windows)).toEqual([10])
      })

      it('allows what an exhausted window refused', async () => {
        const windows = [bucket({ limit: 1 })]
        const taken = await limiter.take(windows)
        expect((await limiter.take(windows)).isAllowed).toBe(false)
        await limiter.refund(windows, taken)
        expect((await limiter.take(windows)).isAllowed).toBe(true)
      })

      it('does not touch a later window of the same key', async () => {
        const windows = [bucket({ limit: 2, windowMs: 1_000 })]
        const free = [bucket({ limit: 2, windowMs: 1_000, cost: 0 })]
        const taken = await limiter.take(windows)
        let [later, left] = [taken, taken]
        do {
          // Once more where a busy machine let the later window end as well.
          await harness.reach(new Date(resetOf(later.windows)))
          later = await limiter.take(windows)
          await limiter.refund(windows, taken)
          left = await limiter.take(free)
        } while (resetOf(left.windows) !== resetOf(later.windows))
        expect(left.windows).toMatchObject([{ remaining: 1 }])
      })
    })

    describe('one window', () => {
      it('allows its limit of requests, and refuses the next', async () => {
        const answers = []
        for (let request = 0; request < 4; request += 1)
          answers.push(await limiter.take([bucket({ limit: 3 })]))
        expect(answers.map(({ isAllowed }) => isAllowed)).toEqual([true, true, true, false])
        expect(answers.map(({ windows }) => windows[0]?.remaining)).toEqual([2, 1, 0, 0])
        expect(answers.map(({ refusedBy }) => refusedBy)).toEqual([null, null, null, 0])
      })

      it('refuses everything if its limit is 0', async () => {
        expect(await limiter.take([bucket({ limit: 0 })])).toMatchObject({ isAllowed: false, refusedBy: 0 })
      })

      it('consumes the cost of the request', async () => {
        expect(await limiter.take([bucket({ limit: 10, cost: 7 })])).toMatchObject({
          isAllowed: true,
          windows: [{ remaining: 3 }],
        })
      })

      it('allows a smaller cost after it refused a larger one', async () => {
        await limiter.take([bucket({ limit: 10, cost: 7 })])
        expect((await limiter.take([bucket({ limit: 10, cost: 4 })])).isAllowed).toBe(false)
        expect((await limiter.take([bucket({ limit: 10, cost: 3 })])).isAllowed).toBe(true)
      })

      it('refuses a cost above its limit even if unused', async () => {
        expect(await limiter.take([bucket({ limit: 10, cost: 11 })])).toMatchObject({
          isAllowed: false,
          windows: [{ remaining: 10 }],
        })
      })

      it('allows a cost of 0 without consuming, even if nothing remains', async () => {
        await limiter.take([bucket({ limit: 1 })])
        expect(await limiter.take([bucket({ limit: 1, cost: 0 })])).toMatchObject({
          isAllowed: true,
          windows: [{ remaining: 0 }],
        })
      })

      it('counts exactly up to the largest safe integer', async () => {
        const limit = Number.MAX_SAFE_INTEGER
        await limiter.take([bucket({ limit, cost: limit - 1 })])
        expect((await limiter.take([bucket({ limit, cost: 2 })])).isAllowed).toBe(false)
        expect((await limiter.take([bucket({ limit, cost: limit })])).isAllowed).toBe(false)
        expect(await limiter.take([bucket({ limit, cost: 1 })])).toMatchObject({
          isAllowed: true,
          windows: [{ remaining: 0 }],
        })
      })

      it('never reports less than 0 remaining after its limit is lowered, and allows more after it is raised', async () => {
        await takeTimes(5, [bucket({ limit: 5 })])
        expect(await limiter.take([bucket({ limit: 3 })])).toMatchObject({
          isAllowed: false,
          windows: [{ remaining: 0 }],
        })
        expect(await limiter.take([bucket({ limit: 7 })])).toMatchObject({
          isAllowed: true,
          windows: [{ remaining: 1 }],
        })
      })

      it('allows exactly its limit of concurrent requests', async () => {
        const answers = await Promise.all(
          Array.from({ length: 60 }, () => limiter.take([bucket({ limit: 20 })])),
        )
        expect(answers.filter(({ isAllowed }) => isAllowed)).toHaveLength(20)
      })
    })

    describe('the window', () => {
      it('starts with the first hit', async () => {
        const before = await harness.now()
        const { windows } = await limiter.take([bucket({ windowMs: 60_000 })])
        const after = await harness.now()
        const startedAtMs = resetOf(windows) - 60_000
        expect(startedAtMs).toBeGreaterThanOrEqual(before.getTime())
        expect(startedAtMs).toBeLessThanOrEqual(after.getTime())
      })

      it('is not extended by later or refused hits', async () => {
        const first = await limiter.take([bucket({ limit: 2 })])
        await harness.reach(new Date((await harness.now()).getTime() + 5))
        const second = await limiter.take([bucket({ limit: 2 })])
        const refused = await limiter.take([bucket({ limit: 2 })])
        expect(refused.isAllowed).toBe(false)
        expect([second, refused].map(({ windows }) => resetOf(windows))).toEqual(
          Array(2).fill(resetOf(first.windows)),
        )
      })

      it.each([
        ['refused', { limit: 1, cost: 2 }],
        ['free', { limit: 1, cost: 0 }],
      ])('is not started by a request that is %s', async (_, question) => {
        const unstarted = await limiter.take([bucket(question)])
        await harness.reach(new Date((await harness.now()).getTime() + 5))
        const first = await limiter.take([bucket({ limit: 1 })])
        expect(resetOf(first.windows)).toBeGreaterThan(resetOf(unstarted.windows))
      })

      it('ends exactly at its reset, and the next one starts unused', async () => {
        const question = [bucket({ limit: 2, windowMs: 250 })]
        const first = await limiter.take(question)
        const resetsAt = new Date(resetOf(first.windows))
        let askedAt = await harness.now()
        let answer = await limiter.take(question)
        while (resetOf(answer.windows) === resetsAt.getTime()) {
          expect(askedAt.getTime()).toBeLessThan(resetsAt.getTime())
          expect(answer.windows[0]?.remaining).toBe(0)
          await harness.reach(new Date(Math.min(askedAt.getTime() + 50, resetsAt.getTime())))
          askedAt = await harness.now()
          answer = await limiter.take(question)
        }
        expect(answer).toMatchObject({ isAllowed: true, windows: [{ remaining: 1 }] })
        expect(resetOf(answer.windows)).toBeGreaterThanOrEqual(resetsAt.getTime() + 250)
      })
    })

    describe('several windows', () => {
      const minute = (limit: number): LimitWindow => bucket({ key: 'caller', limit, windowMs: 60_000 })
      const hour = (limit: number): LimitWindow => bucket({ key: 'caller', limit, windowMs: 3_600_000 })

      it('are returned in request order', async () => {
        await limiter.take([bucket({ key: 'b', limit: 20, cost: 5 })])
        const answer = await limiter.take([
          bucket({ key: 'a', limit: 10 }),
          bucket({ key: 'b', limit: 20 }),
          bucket({ key: 'c', limit: 30, cost: 3 }),
        ])
        expect(answer.windows.map(({ remaining }) => remaining)).toEqual([9, 14, 27])
      })

      it.each([
        ['the first', [1, 9, 9], 0],
        ['the middle one', [9, 1, 9], 1],
        ['the last', [9, 9, 1], 2],
      ])('are all unchanged if %s refuses', async (_, limits, refusedBy) => {
        const question = limits.map((limit, index) => bucket({ key: `bucket ${index}`, limit }))
        await limiter.take(question)
        const before = await remainingOf(question)
        expect(await limiter.take(question)).toMatchObject({ isAllowed: false, refusedBy })
        expect(await remainingOf(question)).toEqual(before)
      })

      it('report the first that refuses', async () => {
        const question = ['a', 'b', 'c'].map((key) => bucket({ key, limit: key === 'a' ? 9 : 1 }))
        await limiter.take(question)
        expect((await limiter.take(question)).refusedBy).toBe(1)
      })

      it('are separate for one key limited per minute and per hour', async () => {
        await limiter.take([minute(10)])
        expect(await remainingOf([minute(10), hour(10)])).toEqual([9, 10])
        await takeTimes(3, [minute(10), hour(3)])
        expect(await limiter.take([minute(10), hour(3)])).toMatchObject({ isAllowed: false, refusedBy: 1 })
      })

      it('consume twice if one is listed twice', async () => {
        const answer = await limiter.take([minute(5), minute(5)])
        expect(answer.windows.map(({ remaining }) => remaining)).toEqual([3, 3])
      })

      it('refuse as a whole if one is listed twice and only one fits', async () => {
        expect(await limiter.take([minute(1), minute(1)])).toMatchObject({ isAllowed: false, refusedBy: 1 })
        expect(await remainingOf([minute(1)])).toEqual([1])
      })

      it('count what is not refusable beyond a limit, and refuse others by it', async () => {
        const windows = [bucket({ key: 'a', limit: 1 }), bucket({ key: 'b', limit: 5 })]
        const forced = windows.map((each) => ({ ...each, isUnrefusable: true }))
        for (const _ of [1, 2, 3]) expect((await limiter.take(forced)).isAllowed).toBe(true)
        expect(await limiter.take(windows)).toMatchObject({ isAllowed: false, refusedBy: 0 })
        expect(await remainingOf(windows)).toEqual([0, 2])
      })

      it('can be empty, which is allowed', async () => {
        expect(await limiter.take([])).toEqual({ isAllowed: true, refusedBy: null, windows: [] })
      })
    })

    describe('keys', () => {
      it.each([
        ['an empty one and a blank one', ['', ' ']],
        ['ones that differ in letter case', ['ip:2001:DB8::', 'ip:2001:db8::']],
        ['ones with separators', ['1:60000', '1', ':1', '60000:1']],
        ['ones with line breaks and NUL', ['a', 'a\r\n', 'a\n', 'a\0', 'a\0b']],
        ['ones outside ASCII', ['ключ', 'кључ', '🔑', '🔒']],
        ['ones that exist on Object.prototype', ['__proto__', 'constructor', 'toString']],
        ['ones of 10,000 letters', [`${'x'.repeat(10_000)}1`, `${'x'.repeat(10_000)}2`]],
      ])('are separate: %s', async (_, keys) => {
        for (const key of keys) expect((await limiter.take([bucket({ key, limit: 1 })])).isAllowed).toBe(true)
        for (const key of keys)
          expect((await limiter.take([bucket({ key, limit: 1 })])).isAllowed).toBe(false)
      })
    })

    describe('an invalid cost, limit or window', () => {
      it.each([
        { cost: -1 },
        { cost: 0.5 },
        { cost: Number.NaN },
        { cost: Number.POSITIVE_INFINITY },
        { cost: 2 ** 53 },
        { limit: Number.NaN },
        { limit: -1 },
        { limit: Number.POSITIVE_INFINITY },
        { windowMs: 0 },
        { windowMs: -1 },
        { windowMs: Number.NaN },
      ])('is an error that consumes nothing: %o', async (fault) => {
        const good = bucket({ key: 'good', limit: 5 })
        await expect(limiter.take([good, bucket(fault)])).rejects.toThrow(RangeError)
        expect(await remainingOf([good])).toEqual([5])
      })
    })

    it('is not degraded while its store is available', async () => {
      await limiter.take([bucket({})])
      expect(limiter.isDegraded()).toBe(false)
    })

    it('matches a simple model for any sequence of requests', async () => {
      let run = 0
      await fc.assert(
        fc.asyncProperty(fc.array(questions, { minLength: 1, maxLength: 30 }), async (sequence) => {
          run += 1
          const used = new Map<string, number>()
          for (const question of sequence) {
            const windows = question.map((window) => ({ ...window, key: `run ${run}, ${window.key}` }))
            const answer = await limiter.take(windows)
            expect(strip(answer)).toEqual(countPlainly(used, windows))
          }
        }),
        { numRuns: propertyRuns },
      )
    })
  })
}

export const bucket = (fields: Partial<LimitWindow>): LimitWindow => ({
  key: 'caller',
  limit: 5,
  windowMs: 3_600_000,
  ...fields,
})

/** Requests over few windows, with costs that often do not fit. */
export const questions: fc.Arbitrary<LimitWindow[]> = fc.array(
  fc.record({
    key: fc.constantFrom('a', 'b', 'c'),
    limit: fc.nat(8),
    windowMs: fc.constantFrom(60_000, 3_600_000),
    cost: fc.nat(4),
  }),
  { maxLength: 4 },
)

/** A result without times. */
interface PlainAnswer {
  readonly refusedBy: number | null
  readonly remaining: readonly number[]
}

/** The model: counts a request only if all of its windows allow it. */
export const countPlainly = (used: Map<string, number>, windows: readonly LimitWindow[]): PlainAnswer => {
  const nameOf = ({ key, windowMs }: LimitWindow): string => JSON.stringify([key, windowMs])
  const counted = new Map(used)
  let refusedBy: number | null = null
  for (const [index, window] of windows.entries()) {
    const sum = (counted.get(nameOf(window)) ?? 0) + (window.cost ?? 1)
    if (sum > window.limit) refusedBy ??= index
    counted.set(nameOf(window), sum)
  }
  if (refusedBy === null) for (const [name, sum] of counted) used.set(name, sum)
  const remaining = windows.map((window) => Math.max(0, window.limit - (used.get(nameOf(window)) ?? 0)))
  return { refusedBy, remaining }
}

export const strip = (answer: Awaited<ReturnType<RateLimiter['take']>>): PlainAnswer => {
  expect(answer.isAllowed).toBe(answer.refusedBy === null)
  return { refusedBy: answer.refusedBy, remaining: answer.windows.map(({ remaining }) => remaining) }
}

const resetOf = (windows: readonly { readonly resetsAt: Date }[]): number =>
  windows[0]?.resetsAt.getTime() ?? Number.NaN
