import { AppError } from '../../errors.js'
import type { AccountStore } from '../../ports/accountStore.js'
import type { Sealer } from '../../ports/sealer.js'
import { createApiKey } from './apiKey.js'
import type { DashboardUseCases } from './useCases.js'

export const createRotateKey =
  (accounts: AccountStore, sealer: Sealer): DashboardUseCases['rotateKey'] =>
  async ({ id, project }, presented) => {
    const apiKey = createApiKey()
    const isRotated = await accounts.rotate(id, sealer.fingerprint(presented), {
      fingerprint: sealer.fingerprint(apiKey),
      sealed: sealer.seal(apiKey),
    })
    if (!isRotated) throw new AppError('UNAUTHORIZED', 'The API key is not valid')
    return { apiKey, project, message: 'The old key is now invalid. Store this one: it replaces it.' }
  }
