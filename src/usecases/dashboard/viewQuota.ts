import type { Account } from '../../ports/accountStore.js'
import type { QuotaUse } from '../../ports/quotas.js'
import type { Quota } from '../../protocol/accounts.js'
import { tiers } from '../../protocol/tiers.js'

/** What an account's tier leaves of the month. */
export const viewQuota = ({ tier }: Pick<Account, 'tier'>, { used, monthStartsAt }: QuotaUse): Quota => ({
  limit: tiers[tier].monthlyQuota,
  period: 'monthly',
  used,
  tier,
  feeRate: tiers[tier].feeRate,
  resetsAt: new Date(Date.UTC(monthStartsAt.getUTCFullYear(), monthStartsAt.getUTCMonth() + 1)).toISOString(),
})

/** The month that a moment lies in, with nothing used. */
export const unusedMonth = (now: Date): QuotaUse => ({
  monthStartsAt: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())),
  used: 0,
})
