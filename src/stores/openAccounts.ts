import { join } from 'node:path'
import type { Sealers } from '../platform/sealer.js'
import type { AccountStore } from '../ports/accountStore.js'
import type { AuditLog } from '../ports/auditLog.js'
import { migrationsFolder, type StoreSettings } from './openStores.js'
import { createAccountStore } from './postgres/accounts/accountStore.js'
import { createAuditLog } from './postgres/accounts/auditLog.js'
import { type ResealResult, resealSecrets } from './postgres/accounts/resealSecrets.js'
import { migrate } from './postgres/database/migrate.js'
import { openPool } from './postgres/database/pool.js'
import { findRunningPostgres } from './postgres/embedded/findRunningPostgres.js'
import { startEmbeddedPostgres } from './postgres/embedded/startEmbeddedPostgres.js'

export interface OpenAccounts {
  readonly accounts: AccountStore
  readonly audit: AuditLog
  reseal(): Promise<ResealResult>
  close(): Promise<void>
}

/** Opens `databaseUrl`, or the embedded database: connects to a running one, else starts it. */
export const openAccounts = async (
  settings: Pick<StoreSettings, 'databaseUrl' | 'dataFolder'>,
  openSealers: () => Promise<Sealers>,
): Promise<OpenAccounts> => {
  const { url, stop } = await findDatabase(settings)
  const pool = openPool({ url, maxConnections: 2, onError: () => undefined })
  const close = async (): Promise<void> => {
    await pool.end()
    await stop()
  }
  try {
    await migrate(pool, migrationsFolder)
  } catch (error) {
    await close()
    throw error
  }
  const reseal = async (): Promise<ResealResult> => {
    const { sealerFor, ...marks } = await openSealers()
    const sealers = { keys: sealerFor('api-key'), webhookSecrets: sealerFor('webhook-secret') }
    return await resealSecrets(pool, { ...sealers, ...marks })
  }
  return { accounts: createAccountStore(pool), audit: createAuditLog(pool), reseal, close }
}

const findDatabase = async ({
  databaseUrl,
  dataFolder,
}: Pick<StoreSettings, 'databaseUrl' | 'dataFolder'>): Promise<{
  readonly url: string
  stop(): Promise<void>
}> => {
  const nothing = async (): Promise<void> => {}
  if (databaseUrl !== null) return { url: databaseUrl.reveal(), stop: nothing }
  const folder = join(dataFolder, 'postgres')
  const running = await findRunningPostgres(folder)
  if (running !== null) return { url: running, stop: nothing }
  const embedded = await startEmbeddedPostgres({ folder, log: () => undefined })
  return { url: embedded.url, stop: embedded.stop }
}
