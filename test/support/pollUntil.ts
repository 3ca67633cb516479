// Not the global one, which a test may stop.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'

/** The one limit of every wait in a test: longer than a busy machine needs for anything. */
export const waitLimitMs = 60_000
const longestPauseMs = 25

type Ask<T> = () => T | null | undefined | false | Promise<T | null | undefined | false>

/**
 * Asks until the answer is neither null, undefined nor false. An error of `ask` ends the wait. At the limit the error says
 * what was last seen: the answer, and what `show` returns.
 */
export const pollUntil = <T>(ask: Ask<T>, what: string, show?: () => unknown): Promise<T> =>
  pollWithin(waitLimitMs, { ask, what, ...(show === undefined ? {} : { show }) })

/** For programs without the limits of a test: `pollUntil` with a limit of the caller. */
export const pollWithin = async <T>(
  limitMs: number,
  { ask, what, show }: { readonly ask: Ask<T>; readonly what: string; readonly show?: () => unknown },
): Promise<T> => {
  const deadline = performance.now() + limitMs
  // Most of what tests wait for is there at once or after long.
  for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const answer = await ask()
    if (answer !== null && answer !== undefined && answer !== false) return answer
    if (performance.now() > deadline) {
      const seen = inspect(show === undefined ? answer : await show(), { depth: 6 })
      throw new Error(`Waited ${limitMs / 1_000} s for ${what}; last seen: ${seen}`)
    }
    await sleep(pauseMs)
  }
}
