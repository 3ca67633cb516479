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
  /** Null unless the mode is `verified`. */
  readonly mailKeys: MailKeys | null
}

/** Opens an account, or finds the one that the address has for the project. */
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
      // The same for every address: what it has already, only its mail tells.
      const quota = viewQuota({ tier: 'free' }, unusedMonth(clock.now()))
      return { apiKey: maskedApiKey, projectName: project, quota, isNew: true }
    }
    if (account.status === 'revoked')
      throw new AppError('FORBIDDEN', 'This project may not use the service any more')
    if (!isNew && !areKeysShown(mode, viewer)) {
      // What the month's tier allows, and nothing of how the project uses it.
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
