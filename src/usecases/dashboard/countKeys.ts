import type { AccountStore } from '../../ports/accountStore.js'
import type { DashboardUseCases } from './useCases.js'

export const createCountKeys =
  (accounts: AccountStore): DashboardUseCases['countKeys'] =>
  () =>
    accounts.count()
