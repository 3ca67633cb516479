import { systemClock } from '../../src/platform/clock.js'
import { createConcurrencyLimits } from '../../src/usecases/core/limits.js'
import {
  createSettleAuthorization,
  type SettleAuthorization,
  type SettleAuthorizationDependencies,
} from '../../src/usecases/core/settle/settleAuthorization.js'
import { noSpendingLimits } from './noSpendingLimits.js'
import { waitLimitMs } from './pollUntil.js'

/** Without budgets and limits. */
export const createUnlimitedSettle = (
  dependencies: Pick<SettleAuthorizationDependencies, 'registry' | 'journal' | 'holdFunds' | 'logger'> &
    Partial<Pick<SettleAuthorizationDependencies, 'pauses'>>,
): SettleAuthorization =>
  createSettleAuthorization({
    ...dependencies,
    limits: noSpendingLimits,
    concurrency: createConcurrencyLimits({ settlesAtOncePerPayer: 0, settlesAtOncePerCaller: 0 }),
    clock: systemClock,
    waitMs: waitLimitMs,
  })
