import { AppError } from '../../errors.js'
import type { AccountStore } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { Quotas } from '../../ports/quotas.js'
import type { Sealer } from '../../ports/sealer.js'
import { createApiKey, maskedApiKey } from './apiKey.js'
import type { MailKeys } from './mailKeys.js'
import { readEmail } from './readEmail.js'
import { readProjectName } from './readProjectName.js'
import { areKeysShown, type Registration } from './registration.js'
import type { DashboardUseCases } from './useCases.js'
import { unusedMonth, viewQuota } from './viewQuota.js'

export interface RegisterDependencies {
  readonly accounts: AccountStore
  readonly quotas: Quotas
  readonly sealer: Sealer
  readonly clock: Clock
  readonly mode: Registration['mode']
  readonly mailKeys: MailKeys | null
}

/** Idempotent per e-mail and project: returns the existing account if there is one. */
export const createRegister = (dependencies: RegisterDependencies): DashboardUseCases['register'] => {
  const { accounts, quotas, sealer, clock, mode, mailKeys } = dependencies
  return async (request, viewer) => {
    const email = readEmail(request.email)
    const project = readProjectName(request.projectName)
    const apiKey = createApiKey()
    const registered = await accounts.register(
      { email, project },
      { fingerprint: sealer.fingerprint(apiKey), sealed: sealer.seal(apiKey) },
    )
    const { account, sealed, isNew } = registered
    if (mailKeys !== null) {
      mailKeys([registered])
      // Same response for every address: only the e-mail reveals whether the project exists.
      const quota = viewQuota({ tier: 'free' }, unusedMonth(clock.now()))
      return { apiKey: maskedApiKey, projectName: project, quota, isNew: true }
    }
    if (account.status === 'revoked') throw new AppError('FORBIDDEN', 'This project is revoked')
    if (!isNew && !areKeysShown(mode, viewer)) {
      const quota = viewQuota(account, unusedMonth(clock.now()))
      return { apiKey: maskedApiKey, projectName: account.project, quota, isNew }
    }
    return {
      apiKey: sealer.open(sealed),
      projectName: account.project,
      quota: viewQuota(account, await quotas.readUse(account.id, clock.now())),
      isNew,
    }
  }
}
