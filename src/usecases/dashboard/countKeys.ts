import type { AccountStore } from '../../ports/accountStore.js'
import type { DashboardUseCases } from './useCases.js'

/** Counts the keys that are in use. */
export const createCountKeys =
  (accounts: AccountStore): DashboardUseCases['countKeys'] =>
  () =>
    accounts.count()
