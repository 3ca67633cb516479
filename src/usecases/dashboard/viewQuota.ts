import type { Account } from '../../ports/accountStore.js'
import type { QuotaUse } from '../../ports/quotas.js'
import type { Quota } from '../../protocol/accounts.js'
import { startOfMonth, startOfNextMonth } from '../../protocol/month.js'
import { tiers } from '../../protocol/tiers.js'

export const viewQuota = ({ tier }: Pick<Account, 'tier'>, { used, monthStartsAt }: QuotaUse): Quota => ({
  limit: tiers[tier].monthlyQuota,
  period: 'monthly',
  used,
  tier,
  feeRate: tiers[tier].feeRate,
  resetsAt: startOfNextMonth(monthStartsAt).toISOString(),
})

export const unusedMonth = (now: Date): QuotaUse => ({
  monthStartsAt: startOfMonth(now),
  used: 0,
})
