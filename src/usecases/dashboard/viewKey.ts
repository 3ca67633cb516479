import type { KeyedAccount } from '../../ports/accountStore.js'
import type { Sealer } from '../../ports/sealer.js'
import type { LookedUp } from '../../protocol/accounts.js'

/** A key as lists show it. */
export const viewKey = ({ account, sealed }: KeyedAccount, sealer: Sealer): LookedUp['keys'][number] => ({
  apiKey: sealer.open(sealed),
  project: account.project,
  tier: account.tier,
  status: account.status,
  createdAt: account.createdAt.toISOString(),
})
