import type { AccountStore } from '../../ports/accountStore.js'
import type { Sealer } from '../../ports/sealer.js'
import type { DashboardUseCases } from '../dashboard.js'
import type { MailKeys } from './mailKeys.js'
import { readEmail } from './readEmail.js'
import { viewKey } from './viewKey.js'

/** What looking up keys needs. */
export interface LookUpParts {
  readonly accounts: AccountStore
  readonly sealer: Sealer
  /** Null: whoever asks is shown the keys. */
  readonly mailKeys: MailKeys | null
}

/** Finds the keys of an address. */
export const createLookUp = ({ accounts, sealer, mailKeys }: LookUpParts): DashboardUseCases['lookUp'] => {
  return async (text) => {
    const email = readEmail(text)
    const found = await accounts.listByEmail(email)
    if (mailKeys === null) return { email, keys: found.map((keyed) => viewKey(keyed, sealer)) }
    mailKeys(found)
    // Even how many there are would tell that there are any.
    return { email, keys: [] }
  }
}
