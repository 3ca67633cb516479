import type { AccountStore } from '../../ports/accountStore.js'
import type { Sealer } from '../../ports/sealer.js'
import { areKeysShown, type Registration } from './registration.js'
import type { DashboardUseCases } from './useCases.js'
import { viewKey } from './viewKey.js'

export interface ListKeysDependencies {
  readonly accounts: AccountStore
  readonly sealer: Sealer
  readonly mode: Registration['mode']
}

/** Anyone can register a project under any address, so a key only reveals itself: other keys are masked. */
export const createListKeys =
  ({ accounts, sealer, mode }: ListKeysDependencies): DashboardUseCases['listKeys'] =>
  async ({ id, email }, viewer) => {
    const isShown = areKeysShown(mode, viewer)
    const found = await accounts.listByEmail(email)
    return {
      email,
      keys: found.map((keyed) => {
        const current = keyed.account.id === id
        return { ...viewKey(keyed, current || isShown ? sealer : null), current }
      }),
    }
  }
