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

/**
 * Anyone can register a project under any address, so a key only reveals itself: other keys are masked. A further key
 * of the project does not reveal the primary one, which may have more scopes.
 */
export const createListKeys =
  ({ accounts, sealer, mode }: ListKeysDependencies): DashboardUseCases['listKeys'] =>
  async ({ id, email, key }, viewer) => {
    const isShown = areKeysShown(mode, viewer)
    const found = await accounts.listByEmail(email)
    return {
      email,
      keys: found.map((keyed) => {
        const current = keyed.account.id === id
        return { ...viewKey(keyed, (current && key.isPrimary) || isShown ? sealer : null), current }
      }),
    }
  }
