import type { SpendingLimits } from '../../src/usecases/core/settle/spendingLimits.js'

export const noSpendingLimits: SpendingLimits = {
  spend: async () => () => undefined,
  countFailure: async () => undefined,
}
