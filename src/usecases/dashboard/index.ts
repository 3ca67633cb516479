import type { AccountStore, AddressBlocks, AuditLog, Mailer, Sealer } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { Job } from '../../ports/job.js'
import type { Logger } from '../../ports/logger.js'
import type { Quotas } from '../../ports/quotas.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import type { AccountSettlements } from '../../ports/settlementOverview.js'
import { specificationTiers, type Tiers } from '../../protocol/tiers.js'
import type { KeyEnvironment, Registration } from './apiKey.js'
import { createApiKeyUseCases, createCountKeys, createListKeys, createRotateKey } from './apiKeys.js'
import { createAuthenticate, createKeyUseRecorder } from './authenticate.js'
import { createMailChange, createMailKeys, type MailChange, readEmail } from './mails.js'
import {
  createListAccountSettlements,
  createReadAudit,
  createReadInfo,
  createReadQuota,
  createReadUsage,
  type ReadInfoDependencies,
} from './readAccount.js'
import { createLookUp, createRegister, type MailboxCapSettings, readProjectName } from './register.js'
import { createRestrict } from './restrict.js'
import type { DashboardUseCases } from './useCases.js'

interface DashboardDependencies {
  readonly accounts: AccountStore
  readonly quotas: Quotas
  readonly sealer: Sealer
  readonly blocks: AddressBlocks
  readonly limiter: RateLimiter
  readonly registration: Registration
  /** Null: changes are not mailed. */
  readonly mailer: Mailer | null
  readonly audit: AuditLog
  readonly mailboxCaps: MailboxCapSettings
  readonly keyEnvironment: KeyEnvironment
  /** Default: the table of the specification. */
  readonly tiers?: Tiers
  readonly clock: Clock
  readonly logger: Logger
  readonly settlements: AccountSettlements
  readonly journal: Pick<SettlementJournal, 'find'>
  readonly findWebhookUrl: ReadInfoDependencies['findWebhookUrl']
}

interface Dashboard {
  readonly useCases: DashboardUseCases
  readonly jobs: Readonly<Record<'recordKeyUses' | 'purgeAuditLog', Job>>
  /** For other nouns. */
  readonly mailChange: MailChange
}

export const createDashboard = (dependencies: DashboardDependencies): Dashboard => {
  const { accounts, quotas, blocks, registration, clock, mailer, audit } = dependencies
  const { tiers = specificationTiers } = dependencies
  const mailKeys =
    registration.mode === 'verified' ? createMailKeys({ ...dependencies, mailer: registration.mailer }) : null
  const mailChange = mailer === null ? () => undefined : createMailChange({ ...dependencies, mailer })
  const shared = { ...dependencies, mode: registration.mode, mailKeys, mailChange, tiers }
  const keyUses = createKeyUseRecorder(accounts, clock)
  return {
    mailChange,
    useCases: {
      authenticate: createAuthenticate({ ...shared, onUse: keyUses.onUse }),
      checkRegistration: ({ email, projectName }) => {
        readEmail(email)
        if (projectName !== undefined) readProjectName(projectName)
      },
      register: createRegister(shared),
      ...createApiKeyUseCases(shared),
      readAudit: createReadAudit(audit),
      lookUp: createLookUp(shared),
      readInfo: createReadInfo(shared),
      readQuota: createReadQuota(quotas, clock, tiers),
      listKeys: createListKeys(shared),
      listSettlements: createListAccountSettlements(shared),
      readUsage: createReadUsage({ quotas, settlements: dependencies.settlements, clock }),
      rotateKey: createRotateKey(shared),
      restrict: createRestrict(accounts, blocks, mailChange),
      countKeys: createCountKeys(accounts),
    },
    jobs: {
      recordKeyUses: { everyMs: 30_000, run: keyUses.flush },
      purgeAuditLog: { everyMs: 3_600_000, isShared: true, run: audit.purge },
    },
  }
}
