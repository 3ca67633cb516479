import type { SpendingLimits } from '../../src/usecases/core/spendingLimits.js'

export const noSpendingLimits: SpendingLimits = {
  spend: async () => () => undefined,
  countFailure: async () => undefined,
}
