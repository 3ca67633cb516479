import { withSignal } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { QuotaClaim, Quotas } from '../../ports/quotas.js'
import { secondsUntilNextMonth } from '../../protocol/month.js'
import { tiers } from '../../protocol/tiers.js'
import { cacheFor } from '../cacheFor.js'

/** QUOTA_EXCEEDED where nothing is left of an account's month, as it was known a moment ago; else null. */
export type QuotaGate = (quota: QuotaClaim) => Promise<AppError | null>

export interface QuotaGateDependencies {
  readonly quotas: Quotas
  readonly clock: Clock
  readonly logger: Logger
}

const maxAgeMs = 1_000
const maxAccounts = 10_000
const deadlineMs = 500

/**
 * Keeps accounts whose month is used up from asking for more. A hint for those who move nothing: what is claimed is
 * decided by the journal alone, so a database that does not answer lets everyone pass here.
 */
export const createQuotaGate = ({ quotas, clock, logger }: QuotaGateDependencies): QuotaGate => {
  const readings = new Map<string, () => Promise<number>>()

  const readUsed = async (accountId: string): Promise<number> => {
    try {
      const reading = quotas.readUse(accountId, clock.now())
      return (await withSignal(reading, AbortSignal.timeout(deadlineMs))).used
    } catch (error) {
      logger.warn({ accountId, error }, 'quota.read_failed')
      return 0
    }
  }

  const readingOf = (accountId: string): (() => Promise<number>) => {
    const known = readings.get(accountId)
    if (known !== undefined) return known
    if (readings.size >= maxAccounts) readings.clear()
    const reading = cacheFor(clock, maxAgeMs, () => readUsed(accountId))
    readings.set(accountId, reading)
    return reading
  }

  return async ({ accountId, tier }) => {
    const { monthlyQuota } = tiers[tier]
    if (monthlyQuota < 0 || (await readingOf(accountId)()) < monthlyQuota) return null
    return new AppError('QUOTA_EXCEEDED', "This month's quota is used up", {
      retryAfterSeconds: secondsUntilNextMonth(clock.now()),
    })
  }
}
