import type { ReadinessCheck } from '../../ports/readinessCheck.js'
import type { Readiness } from '../../protocol/results.js'

/** Tells whether the service can do its work, and what is missing by name. */
export const createCheckReadiness = (checks: readonly ReadinessCheck[]) => async (): Promise<Readiness> => {
  const answers = await Promise.all(
    checks.map(async (check) => {
      const answer = await check.ask().catch(() => 'unreachable')
      return { check, answer }
    }),
  )
  const isReady = answers.every(({ check, answer }) => check.accepts.includes(answer))
  return {
    status: isReady ? 'ready' : 'unready',
    checks: Object.fromEntries(answers.map(({ check, answer }) => [check.name, answer])),
  }
}
