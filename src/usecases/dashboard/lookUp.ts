import type { AccountStore } from '../../ports/accountStore.js'
import type { Sealer } from '../../ports/sealer.js'
import type { MailKeys } from './mailKeys.js'
import { readEmail } from './readEmail.js'
import { areKeysShown, type Registration } from './registration.js'
import type { DashboardUseCases } from './useCases.js'
import { viewKey } from './viewKey.js'

/** What looking up keys needs. */
export interface LookUpDependencies {
  readonly accounts: AccountStore
  readonly sealer: Sealer
  readonly mode: Registration['mode']
  /** Null unless the mode is `verified`. */
  readonly mailKeys: MailKeys | null
}

/** Finds the keys of an address. */
export const createLookUp = (dependencies: LookUpDependencies): DashboardUseCases['lookUp'] => {
  const { accounts, sealer, mode, mailKeys } = dependencies
  return async (text, viewer) => {
    const email = readEmail(text)
    const found = await accounts.listByEmail(email)
    if (mailKeys === null) {
      const opener = areKeysShown(mode, viewer) ? sealer : null
      return { email, keys: found.map((keyed) => viewKey(keyed, opener)) }
    }
    mailKeys(found)
    // Even how many there are would tell that there are any.
    return { email, keys: [] }
  }
}
