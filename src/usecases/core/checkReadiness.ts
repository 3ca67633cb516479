import type { Clock } from '../../ports/clock.js'
import type { ReadinessCheck } from '../../ports/readinessCheck.js'
import type { Readiness } from '../../protocol/results.js'
import { cacheFor } from '../cacheFor.js'

const maxAgeMs = 1_000

/** At most once a second for all callers: /ready has no limits. */
export const createCheckReadiness = (
  checks: readonly ReadinessCheck[],
  clock: Clock,
): (() => Promise<Readiness>) => cacheFor(clock, maxAgeMs, () => runChecks(checks))

/** Concurrently; a failed check is reported as `unreachable`. */
const runChecks = async (checks: readonly ReadinessCheck[]): Promise<Readiness> => {
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
