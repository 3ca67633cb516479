import type { Clock } from '../../ports/clock.js'
import type { Quotas } from '../../ports/quotas.js'
import { getTier, type Tiers } from '../../protocol/tiers.js'
import type { DashboardUseCases } from './useCases.js'
import { viewQuota } from './viewQuota.js'

export interface ReadInfoDependencies {
  readonly quotas: Quotas
  readonly clock: Clock
  readonly tiers: Tiers
  findWebhookUrl(accountId: string): Promise<string | null>
}

export const createReadInfo =
  ({ quotas, clock, tiers, findWebhookUrl }: ReadInfoDependencies): DashboardUseCases['readInfo'] =>
  async (account) => {
    const [use, webhookUrl] = await Promise.all([
      quotas.readUse(account.customer, clock.now()),
      findWebhookUrl(account.id),
    ])
    const { name, monthlyQuota, rpmLimit, feeRate } = getTier(tiers, account.tier)
    return {
      tier: account.tier,
      config: { name, monthlyQuota, rpmLimit, feeRate },
      quota: viewQuota(account, use, tiers),
      email: account.email,
      project: account.project,
      status: account.status,
      createdAt: account.createdAt.toISOString(),
      webhookUrl: webhookUrl ?? '',
      allowedIPs: account.allowedIPs === null ? null : [...account.allowedIPs],
      allowedRef: account.allowedRef === null ? null : [...account.allowedRef],
    }
  }
