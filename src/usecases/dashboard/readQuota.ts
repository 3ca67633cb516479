import type { Clock } from '../../ports/clock.js'
import type { Quotas } from '../../ports/quotas.js'
import type { DashboardUseCases } from './useCases.js'
import { viewQuota } from './viewQuota.js'

/** Tells what is left of an account's month. */
export const createReadQuota =
  (quotas: Quotas, clock: Clock): DashboardUseCases['readQuota'] =>
  async (account) =>
    viewQuota(account, await quotas.readUse(account.id, clock.now()))
