import { AppError } from '../../errors.js'
import type { AccountStore } from '../../ports/accountStore.js'
import type { Sealer } from '../../ports/sealer.js'
import { unknownActor } from './actor.js'
import { createApiKey, type KeyEnvironment } from './apiKey.js'
import type { MailChange } from './mailChange.js'
import type { DashboardUseCases } from './useCases.js'

export interface RotateKeyDependencies {
  readonly accounts: AccountStore
  readonly sealer: Sealer
  readonly keyEnvironment: KeyEnvironment
  readonly mailChange: MailChange
}

export const createRotateKey =
  ({ accounts, sealer, keyEnvironment, mailChange }: RotateKeyDependencies): DashboardUseCases['rotateKey'] =>
  async (account, presented, { graceSeconds = 0, by = unknownActor } = {}) => {
    const { id, project } = account
    const apiKey = createApiKey(keyEnvironment)
    const key = { fingerprint: sealer.fingerprint(apiKey), sealed: sealer.seal(apiKey, id) }
    for (const from of sealer.fingerprints(presented)) {
      if (!(await accounts.rotate(id, from, key, { by, graceMs: graceSeconds * 1_000 }))) continue
      mailChange(account, 'key.rotated', by)
      const validity = graceSeconds === 0 ? 'now invalid' : `valid for another ${graceSeconds} seconds`
      return { apiKey, project, message: `The old key is ${validity}. Store this one: it replaces it.` }
    }
    throw new AppError('UNAUTHORIZED', 'The API key is not valid')
  }
