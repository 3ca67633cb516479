import type { AccountStore } from '../../ports/accountStore.js'
import type { Sealer } from '../../ports/sealer.js'
import type { MailKeys } from './mailKeys.js'
import { readEmail } from './readEmail.js'
import { areKeysShown, type Registration } from './registration.js'
import type { DashboardUseCases } from './useCases.js'
import { viewKey } from './viewKey.js'

export interface LookUpDependencies {
  readonly accounts: AccountStore
  readonly sealer: Sealer
  readonly mode: Registration['mode']
  readonly mailKeys: MailKeys | null
}

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
    // Even the number of keys would reveal whether the address is known.
    return { email, keys: [] }
  }
}
