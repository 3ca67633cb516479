import type { Logger } from '../../../ports/logger.js'
import { createAccountCache } from '../../cache/accountCache.js'
import type { StoreSettings, Stores } from '../../stores.js'
import { mapDatabaseErrors } from '../database/databaseErrors.js'
import type { Closing, Database } from '../openDatabase.js'
import { listenForAccountChanges } from './accountChanges.js'
import { createAccountStore } from './accountStore.js'
import { createAuditLog } from './auditLog.js'
import { fillMailboxes } from './registerAccount.js'
import { createSealingKeyCheck } from './sealing.js'

/** Throws an operator-facing error when the keys in the database are sealed with another secret. */
export const openAccounts = async (
  { pool }: Pick<Database, 'pool'>,
  { keyCheckValue, previousKeyCheckValue, readMailbox, tiers }: StoreSettings,
  { logger, closers }: Pick<Closing, 'closers'> & { readonly logger: Logger },
): Promise<Pick<Stores, 'accounts' | 'audit'>> => {
  const sealing = createSealingKeyCheck(pool, keyCheckValue, previousKeyCheckValue)
  await sealing.check()
  await fillMailboxes(pool, readMailbox)
  const changes = listenForAccountChanges(pool, logger)
  closers.push(() => changes.close())
  const accounts = mapDatabaseErrors(createAccountStore(pool, () => sealing.claim(), tiers))
  return { accounts: createAccountCache(accounts, changes), audit: mapDatabaseErrors(createAuditLog(pool)) }
}
