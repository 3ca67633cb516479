import type { Clock } from '../../ports/clock.js'
import type { Quotas } from '../../ports/quotas.js'
import type { DashboardUseCases } from './useCases.js'

export const createReadUsage =
  (quotas: Quotas, clock: Clock): DashboardUseCases['readUsage'] =>
  async ({ id }) => {
    const days = await quotas.listDays(id, 7, clock.now())
    return { days: 7, usage: days.map(({ date, count }) => ({ date, count })) }
  }
