import type { Readiness } from '../../protocol/results.js'

/** One thing that the service needs: says `ok`, another harmless word, or what is wrong. */
export interface ReadinessCheck {
  readonly name: string
  /** The answers that do not stand in the way of being ready. */
  readonly accepts: readonly string[]
  /** Answers within its own deadline; a rejection counts as `unreachable`. */
  ask(): Promise<string>
}

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
