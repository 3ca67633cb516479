import { withSignal } from '../../../concurrency/deadline.js'
import { AppError } from '../../../errors.js'
import { createFailureLog } from '../../../failureLog.js'
import type { Clock } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import type { QuotaClaim, Quotas } from '../../../ports/quotas.js'
import { secondsUntilNextMonth } from '../../../protocol/tiers.js'
import { cacheFor } from '../../cacheFor.js'

/** Returns QUOTA_EXCEEDED if the month was used up at the last (cached) read, else null. */
export type QuotaGate = (quota: QuotaClaim) => Promise<AppError | null>

interface QuotaGateDependencies {
  readonly quotas: Quotas
  readonly clock: Clock
  readonly logger: Logger
}

const maxAgeMs = 1_000
const maxAccounts = 10_000
const deadlineMs = 500

/** Early rejection for /verify. The journal decides claims, so this gate fails open if the database is down. */
export const createQuotaGate = ({ quotas, clock, logger }: QuotaGateDependencies): QuotaGate => {
  const cachedReads = new Map<string, () => Promise<number>>()
  const failures = createFailureLog({
    logger,
    event: 'quota.read_failed',
    recovered: 'quota.read_recovered',
    now: () => clock.now().getTime(),
  })

  const readUsed = async (accountId: string): Promise<number> => {
    try {
      const reading = quotas.readUse(accountId, clock.now())
      const { used } = await withSignal(reading, AbortSignal.timeout(deadlineMs))
      failures.succeeded('quotas')
      return used
    } catch (error) {
      failures.failed('quotas', { accountId, error })
      return 0
    }
  }

  const cachedReadOf = (accountId: string): (() => Promise<number>) => {
    const known = cachedReads.get(accountId)
    if (known !== undefined) return known
    if (cachedReads.size >= maxAccounts) cachedReads.clear()
    const reading = cacheFor(clock, maxAgeMs, () => readUsed(accountId))
    cachedReads.set(accountId, reading)
    return reading
  }

  return async ({ accountId, holder = accountId, tier }) => {
    const { monthlyQuota } = tier
    if (monthlyQuota < 0 || (await cachedReadOf(holder)()) < monthlyQuota) return null
    return new AppError('QUOTA_EXCEEDED', "This month's quota is used up", {
      retryAfterSeconds: secondsUntilNextMonth(clock.now()),
    })
  }
}
