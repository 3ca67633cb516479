import type { Sealers } from '../platform/sealer.js'
import type { AccountStore, AuditLog } from '../ports/accountStore.js'
import type { Settlement } from '../ports/settlementJournal.js'
import { migrationsFolder } from './openStores.js'
import { createAccountStore } from './postgres/accounts/accountStore.js'
import { createAuditLog } from './postgres/accounts/auditLog.js'
import { type ResealResult, resealSecrets } from './postgres/accounts/resealSecrets.js'
import { migrateNamed } from './postgres/database/connectionProblem.js'
import { type SettlementSearch, searchSettlements } from './postgres/journal/settlementOverview.js'
import { readSettlement, settlementColumns } from './postgres/journal/settlementRow.js'
import { openAdminDatabase } from './postgres/openAdminDatabase.js'
import type { StoreSettings } from './stores.js'

interface OpenAccounts {
  readonly accounts: AccountStore
  readonly audit: AuditLog
  readonly settlements: {
    /** Newest first. */
    search(search: SettlementSearch): Promise<readonly Settlement[]>
    find(id: string): Promise<Settlement | null>
  }
  reseal(): Promise<ResealResult>
  close(): Promise<void>
}

/** Migrates the database. Throws `NoDataError` when it was never used by the service. */
export const openAccounts = async (
  settings: Pick<StoreSettings, 'databaseUrl' | 'dataFolder' | 'isSandbox' | 'tiers'>,
  openSealers: () => Promise<Sealers>,
): Promise<OpenAccounts> => {
  const { pool, close } = await openAdminDatabase(settings, { creates: false })
  try {
    await migrateNamed(pool, migrationsFolder, settings.databaseUrl)
  } catch (error) {
    await close()
    throw error
  }
  const reseal = async (): Promise<ResealResult> => {
    const { sealerFor, ...marks } = await openSealers()
    const sealers = { keys: sealerFor('api-key'), webhookSecrets: sealerFor('webhook-secret') }
    return await resealSecrets(pool, { ...sealers, ...marks })
  }
  const find = async (id: string): Promise<Settlement | null> => {
    const { rows } = await pool.query(`select ${settlementColumns} from settlements s where s.id = $1`, [id])
    return rows[0] === undefined ? null : readSettlement(rows[0])
  }
  return {
    accounts: createAccountStore(pool, undefined, settings.tiers),
    audit: createAuditLog(pool),
    settlements: { search: (search) => searchSettlements(pool, search), find },
    reseal,
    close,
  }
}
