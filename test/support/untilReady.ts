import type { Readiness } from '../../src/protocol/results.js'
import { pollUntil } from './pollUntil.js'

/**
 * Asks until the answer is `ready` and has the given words of checks: on a busy machine the database can miss the deadline of
 * one answer, and each answer is kept for a second.
 */
export const untilReady = async (
  checkReadiness: () => Promise<Readiness>,
  words: Readonly<Record<string, string>> = {},
): Promise<Readiness> => {
  let last: Readiness | null = null
  return await pollUntil(
    async () => {
      const readiness = await checkReadiness()
      last = readiness
      const hasWords = Object.entries(words).every(([check, word]) => readiness.checks[check] === word)
      return readiness.status === 'ready' && hasWords && readiness
    },
    'the service to be ready',
    () => last,
  )
}
