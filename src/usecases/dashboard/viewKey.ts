import type { KeyedAccount } from '../../ports/accountStore.js'
import type { Sealer } from '../../ports/sealer.js'
import type { LookupResult } from '../../protocol/accounts.js'
import { maskedApiKey } from './apiKey.js'
import { openKey } from './openKey.js'

export const viewKey = (
  keyed: KeyedAccount,
  sealer: Pick<Sealer, 'open' | 'fingerprints'> | null,
): LookupResult['keys'][number] => ({
  apiKey: sealer === null ? maskedApiKey : openKey(sealer, keyed),
  project: keyed.account.project,
  tier: keyed.account.tier,
  status: keyed.account.status,
  createdAt: keyed.account.createdAt.toISOString(),
})
