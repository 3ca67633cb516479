import type { Quotas } from '../../ports/quotas.js'

const dayMs = 86_400_000

/** Stands in until settlements are counted: every month and every day is without use. */
export const unmeteredQuotas: Quotas = {
  readUse: async (_accountId, now) => ({
    monthStartsAt: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())),
    used: 0,
  }),
  listDays: async (_accountId, days, now) =>
    Array.from({ length: days }, (_none, index) => ({
      date: new Date(now.getTime() - (days - 1 - index) * dayMs).toISOString().slice(0, 10),
      count: 0,
    })),
}
