import type { SpendingLimits } from '../../src/usecases/core/limits.js'

export const noSpendingLimits: SpendingLimits = {
  spend: async () => () => undefined,
  countFailure: async () => undefined,
}
