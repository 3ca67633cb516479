import type { Account } from '../../ports/accountStore.js'
import type { QuotaUse } from '../../ports/quotas.js'
import type { Quota } from '../../protocol/accounts.js'
import { startOfMonth, startOfNextMonth } from '../../protocol/month.js'
import { getTier, type Tiers } from '../../protocol/tiers.js'

export const viewQuota = (
  { tier }: Pick<Account, 'tier'>,
  { used, monthStartsAt }: QuotaUse,
  tiers: Tiers,
): Quota => ({
  limit: getTier(tiers, tier).monthlyQuota,
  period: 'monthly',
  used,
  tier,
  feeRate: getTier(tiers, tier).feeRate,
  resetsAt: startOfNextMonth(monthStartsAt).toISOString(),
})

export const unusedMonth = (now: Date): QuotaUse => ({
  monthStartsAt: startOfMonth(now),
  used: 0,
})
