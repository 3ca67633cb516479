import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'

/** The one limit of every wait in a test: longer than a busy machine needs for anything. */
export const waitLimitMs = 60_000
const longestPauseMs = 25

/**
 * Asks until the answer is neither null, undefined nor false. An error of `ask` ends the wait. At the limit the error says
 * what was last seen: the answer, and what `show` returns.
 */
export const pollUntil = async <T>(
  ask: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  what: string,
  show?: () => unknown,
): Promise<T> => {
  const deadline = performance.now() + waitLimitMs
  // Most of what tests wait for is there at once or after long.
  for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const answer = await ask()
    if (answer !== null && answer !== undefined && answer !== false) return answer
    if (performance.now() > deadline) {
      const seen = inspect(show === undefined ? answer : await show(), { depth: 6 })
      throw new Error(`Waited ${waitLimitMs / 1_000} s for ${what}; last seen: ${seen}`)
    }
    await sleep(pauseMs)
  }
}
