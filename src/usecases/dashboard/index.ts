import type { AccountSettlements } from '../../ports/accountSettlements.js'
import type { AccountStore } from '../../ports/accountStore.js'
import type { AddressBlocks } from '../../ports/addressBlocks.js'
import type { Clock } from '../../ports/clock.js'
import type { Job } from '../../ports/job.js'
import type { Logger } from '../../ports/logger.js'
import type { Quotas } from '../../ports/quotas.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import type { Sealer } from '../../ports/sealer.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import { createAuthenticate } from './authenticate.js'
import { createCountKeys } from './countKeys.js'
import { createListAccountSettlements } from './listAccountSettlements.js'
import { createListKeys } from './listKeys.js'
import { createLookUp } from './lookUp.js'
import { createMailKeys } from './mailKeys.js'
import { createReadInfo, type ReadInfoDependencies } from './readInfo.js'
import { createReadQuota } from './readQuota.js'
import { createReadUsage } from './readUsage.js'
import { createRegister } from './register.js'
import type { Registration } from './registration.js'
import { createRestrict } from './restrict.js'
import { createRotateKey } from './rotateKey.js'
import type { DashboardUseCases } from './useCases.js'

export interface DashboardDependencies {
  readonly accounts: AccountStore
  readonly quotas: Quotas
  readonly sealer: Sealer
  readonly blocks: AddressBlocks
  readonly limiter: RateLimiter
  readonly registration: Registration
  readonly clock: Clock
  readonly logger: Logger
  readonly settlements: AccountSettlements
  readonly journal: SettlementJournal
  readonly findWebhookUrl: ReadInfoDependencies['findWebhookUrl']
}

export interface Dashboard {
  readonly useCases: DashboardUseCases
  readonly jobs: Readonly<Record<never, Job>>
}

export const createDashboard = (dependencies: DashboardDependencies): Dashboard => {
  const {
    accounts,
    quotas,
    sealer,
    blocks,
    limiter,
    registration,
    clock,
    logger,
    settlements,
    journal,
    findWebhookUrl,
  } = dependencies
  const { mode } = registration
  const mailKeys =
    registration.mode === 'verified'
      ? createMailKeys({ mailer: registration.mailer, sealer, limiter, logger })
      : null
  return {
    useCases: {
      authenticate: createAuthenticate({ accounts, sealer, blocks }),
      register: createRegister({ accounts, quotas, sealer, clock, mode, mailKeys }),
      lookUp: createLookUp({ accounts, sealer, mode, mailKeys }),
      readInfo: createReadInfo({ quotas, clock, findWebhookUrl }),
      readQuota: createReadQuota(quotas, clock),
      listKeys: createListKeys({ accounts, sealer, mode }),
      listSettlements: createListAccountSettlements({ settlements, journal }),
      readUsage: createReadUsage(quotas, clock),
      rotateKey: createRotateKey(accounts, sealer),
      restrict: createRestrict(accounts, blocks),
      countKeys: createCountKeys(accounts),
    },
    jobs: {},
  }
}
