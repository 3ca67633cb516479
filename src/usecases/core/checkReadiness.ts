import type { ReadinessCheck } from '../../ports/readinessCheck.js'
import type { Readiness } from '../../protocol/results.js'

/** Runs all checks concurrently; a failed check is reported as `unreachable`. */
export const createCheckReadiness = (checks: readonly ReadinessCheck[]) => async (): Promise<Readiness> => {
  const results = await Promise.all(
    checks.map(async (check) => {
      const result = await check.probe().catch(() => 'unreachable')
      return { check, result }
    }),
  )
  const isReady = results.every(({ check, result }) => check.accepts.includes(result))
  return {
    status: isReady ? 'ready' : 'unready',
    checks: Object.fromEntries(results.map(({ check, result }) => [check.name, result])),
  }
}
