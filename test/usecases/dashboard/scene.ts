import { createAddressBlocks } from '../../../src/platform/addressBlocks.js'
import { createSealers } from '../../../src/platform/sealer.js'
import { Secret } from '../../../src/platform/secret.js'
import type { AccountStore, Mailer } from '../../../src/ports/accountStore.js'
import type { Clock } from '../../../src/ports/clock.js'
import type { Logger } from '../../../src/ports/logger.js'
import type { Quotas } from '../../../src/ports/quotas.js'
import { createMemoryRateLimiter } from '../../../src/stores/cache/rateLimiter.js'
import { createAccountStore } from '../../../src/stores/postgres/accounts/accountStore.js'
import { createAuditLog } from '../../../src/stores/postgres/accounts/auditLog.js'
import { createAccountSettlements } from '../../../src/stores/postgres/journal/accountSettlements.js'
import type { Registration } from '../../../src/usecases/dashboard/apiKey.js'
import { createDashboard } from '../../../src/usecases/dashboard/index.js'
import type { MailboxCapSettings } from '../../../src/usecases/dashboard/register.js'
import type { DashboardUseCases, KeyHolder } from '../../../src/usecases/dashboard/useCases.js'
import { createManualClock } from '../../support/manualClock.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import type { SuiteDatabase } from '../../support/postgres.js'

export const now = new Date('2026-11-21T12:00:00Z')

/** Quotas with configurable usage. */
const quotasOf = (used: number): Quotas => ({
  readUse: async () => ({ monthStartsAt: new Date('2026-11-01T00:00:00Z'), used }),
  listDays: async (_id, days) =>
    Array.from({ length: days }, (_none, index) => ({ date: `2026-11-${15 + index}`, count: index })),
})

export const apiKeySealer = createSealers(new Secret('s'.repeat(32))).sealerFor('api-key')

interface SceneOptions {
  readonly used?: number
  /** Default `open`. */
  readonly registration?: Registration
  readonly logger?: Logger
  readonly webhookUrl?: string
  readonly accounts?: AccountStore
  readonly mailer?: Mailer
  readonly quotas?: Quotas
  readonly clock?: Clock
  readonly caps?: Partial<MailboxCapSettings>
}

export const openDashboard = (database: SuiteDatabase, options: SceneOptions = {}): DashboardUseCases => {
  const clock = options.clock ?? createManualClock(now)
  return createDashboard({
    accounts: options.accounts ?? createAccountStore(database.pool),
    quotas: options.quotas ?? quotasOf(options.used ?? 0),
    sealer: apiKeySealer,
    blocks: createAddressBlocks(),
    limiter: createMemoryRateLimiter({ clock }),
    registration: options.registration ?? { mode: 'open' },
    mailer: options.mailer ?? null,
    audit: createAuditLog(database.pool),
    mailboxCaps: { projectsPerMailbox: 0, mailboxesPerDomain: 0, publicMailDomains: [], ...options.caps },
    keyEnvironment: 'live',
    clock,
    logger: options.logger ?? createMemoryLogger(),
    settlements: createAccountSettlements(database.pool),
    journal: createMemoryJournal(),
    findWebhookUrl: async () => options.webhookUrl ?? null,
  }).useCases
}

/** Authenticates a key from an address and a site. */
export const useKey = (
  dashboard: DashboardUseCases,
  apiKey: string,
  from: { readonly address?: string; readonly refererHost?: string | null } = {},
): Promise<KeyHolder> =>
  dashboard.authenticate({ apiKey, address: '203.0.113.7', refererHost: null, ...from })
