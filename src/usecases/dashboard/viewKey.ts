import type { KeyedAccount } from '../../ports/accountStore.js'
import type { Sealer } from '../../ports/sealer.js'
import type { LookedUp } from '../../protocol/accounts.js'
import { maskedApiKey } from './apiKey.js'

/** A key as lists show it: masked without a sealer that opens it. */
export const viewKey = (
  { account, sealed }: KeyedAccount,
  sealer: Pick<Sealer, 'open'> | null,
): LookedUp['keys'][number] => ({
  apiKey: sealer === null ? maskedApiKey : sealer.open(sealed),
  project: account.project,
  tier: account.tier,
  status: account.status,
  createdAt: account.createdAt.toISOString(),
})
