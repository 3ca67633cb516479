import type { AccountStore } from '../../ports/accountStore.js'
import type { Sealer } from '../../ports/sealer.js'
import type { DashboardUseCases } from '../dashboard.js'
import { maskedApiKey } from './apiKey.js'
import type { RegistrationMode } from './registration.js'
import { viewKey } from './viewKey.js'

/** What listing keys needs. */
export interface ListKeysParts {
  readonly accounts: AccountStore
  readonly sealer: Sealer
  readonly registration: RegistrationMode
}

/** Lists the keys of the address that the account belongs to. */
export const createListKeys =
  ({ accounts, sealer, registration }: ListKeysParts): DashboardUseCases['listKeys'] =>
  async ({ id, email }) => {
    const found = await accounts.listByEmail(email)
    return {
      email,
      keys: found.map((keyed) => {
        const current = keyed.account.id === id
        const key = viewKey(keyed, sealer)
        // Anyone may have named the address while registration was open: only its mail tells its other keys.
        const isShown = current || registration === 'open'
        return { ...key, apiKey: isShown ? key.apiKey : maskedApiKey, current }
      }),
    }
  }
