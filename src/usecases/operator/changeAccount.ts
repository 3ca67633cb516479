import { AppError } from '../../errors.js'
import type { Account, AccountStore, Actor } from '../../ports/accountStore.js'
import type { TierName } from '../../protocol/tiers.js'

/** In the audit log of accounts, which their owners read: an operator has no name and no address there. */
export const operatorActor: Actor = { actor: 'operator', address: null }

/** Changes to accounts that only operators make. Throws NOT_FOUND. */
interface ChangeAccount {
  setTier(id: string, tier: TierName): Promise<Account>
  revoke(id: string): Promise<Account>
}

export const createChangeAccount = (
  accounts: Pick<AccountStore, 'find' | 'setTier' | 'revoke'>,
): ChangeAccount => {
  const get = async (id: string): Promise<Account> => {
    const account = await accounts.find(id)
    if (account === null) throw new AppError('NOT_FOUND', `Account ${id} does not exist.`)
    return account
  }
  return {
    setTier: async (id, tier) => {
      await get(id)
      await accounts.setTier(id, tier, { by: operatorActor })
      return await get(id)
    },
    revoke: async (id) => {
      await get(id)
      await accounts.revoke(id, { by: operatorActor })
      return await get(id)
    },
  }
}
