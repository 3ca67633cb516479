import type { Clock } from '../../ports/clock.js'
import type { Quotas } from '../../ports/quotas.js'
import type { Tiers } from '../../protocol/tiers.js'
import type { DashboardUseCases } from './useCases.js'
import { viewQuota } from './viewQuota.js'

export const createReadQuota =
  (quotas: Quotas, clock: Clock, tiers: Tiers): DashboardUseCases['readQuota'] =>
  async (account) =>
    viewQuota(account, await quotas.readUse(account.customer, clock.now()), tiers)
