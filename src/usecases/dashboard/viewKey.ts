import type { KeyedAccount } from '../../ports/accountStore.js'
import type { Sealer } from '../../ports/sealer.js'
import type { LookupResult } from '../../protocol/accounts.js'
import { maskedApiKey } from './apiKey.js'

export const viewKey = (
  { account, sealed }: KeyedAccount,
  sealer: Pick<Sealer, 'open'> | null,
): LookupResult['keys'][number] => ({
  apiKey: sealer === null ? maskedApiKey : sealer.open(sealed),
  project: account.project,
  tier: account.tier,
  status: account.status,
  createdAt: account.createdAt.toISOString(),
})
