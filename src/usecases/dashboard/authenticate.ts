import { AppError } from '../../errors.js'
import type { Account, AccountStore } from '../../ports/accountStore.js'
import type { AddressBlocks } from '../../ports/addressBlocks.js'
import type { Sealer } from '../../ports/sealer.js'
import { isApiKey } from './apiKey.js'
import { isHostAllowed } from './hostName.js'
import type { DashboardUseCases } from './useCases.js'

export interface AuthenticateDependencies {
  readonly accounts: AccountStore
  readonly sealer: Sealer
  readonly blocks: AddressBlocks
}

/** Lookup by HMAC: its time reveals nothing about the key. All invalid keys get the same error. */
export const createAuthenticate =
  ({ accounts, sealer, blocks }: AuthenticateDependencies): DashboardUseCases['authenticate'] =>
  async ({ apiKey, address, refererHost }) => {
    const account = isApiKey(apiKey) ? await find(accounts, sealer.fingerprint(apiKey)) : null
    if (account === null) throw new AppError('UNAUTHORIZED', 'The API key is not valid')
    const { allowedIPs, allowedRef } = account
    if (allowedIPs !== null && !blocks.include(allowedIPs, address)) {
      throw new AppError('FORBIDDEN', 'The API key may not be used from this address')
    }
    if (allowedRef !== null && !isHostAllowed(allowedRef, refererHost)) {
      throw new AppError('FORBIDDEN', 'The API key may not be used from this site')
    }
    return account
  }

/** 503 instead of 401: an unavailable database says nothing about the key. */
const find = async (accounts: AccountStore, fingerprint: Uint8Array): Promise<Account | null> => {
  try {
    return await accounts.findByKey(fingerprint)
  } catch (cause) {
    throw new AppError('SERVICE_UNAVAILABLE', 'API keys cannot be looked up at the moment', {
      cause,
      retryAfterSeconds: 1,
    })
  }
}
