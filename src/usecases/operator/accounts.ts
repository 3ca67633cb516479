import { AppError } from '../../errors.js'
import type { Account, AccountStore, Actor } from '../../ports/accountStore.js'
import type { FoundAccount, OperatorRecords } from '../../ports/operatorRecords.js'
import type { OperatorAccount } from '../../protocol/operator.js'
import type { TierName, Tiers } from '../../protocol/tiers.js'
import { readPage } from '../readPage.js'
import type { WebhookUseCases } from '../useCases.js'
import type { OperatorUseCases } from './useCases.js'

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

interface AccountsDependencies {
  readonly accounts: AccountStore
  readonly records: OperatorRecords
  readonly tiers: Tiers
  readonly redeliver: WebhookUseCases['redeliver']
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const createAccountUseCases = ({
  accounts,
  records,
  tiers,
  redeliver,
}: AccountsDependencies): Pick<
  OperatorUseCases,
  'searchAccounts' | 'setTier' | 'revokeAccount' | 'redeliver' | 'readAudit'
> => {
  const change = createChangeAccount(accounts)

  const view = async (id: string): Promise<OperatorAccount> => {
    const found = await records.findAccount(id)
    if (found === null) throw new AppError('NOT_FOUND', `Account ${id} does not exist.`)
    return viewAccount(found)
  }

  return {
    searchAccounts: async ({ search, limit, cursor }) => {
      if (uuid.test(search)) {
        const found = await records.findAccount(search.toLowerCase())
        return { accounts: found === null ? [] : [viewAccount(found)] }
      }
      const { items, next } = await readPage(
        limit,
        (count) => records.searchAccounts({ emailPrefix: search, limit: count, after: cursor }),
        ({ id }) => id,
      )
      return { accounts: items.map(viewAccount), ...next }
    },

    setTier: async (id, tier) => {
      if (!Object.hasOwn(tiers.table, tier)) {
        throw new AppError('INVALID_REQUEST', `tier: must be one of ${Object.keys(tiers.table).join(', ')}`)
      }
      await change.setTier(id, tier)
      return await view(id)
    },

    revokeAccount: async (id) => {
      await change.revoke(id)
      return await view(id)
    },

    redeliver: async (deliveryId, { by = null, address }) => {
      const accountId = await records.findDeliveryAccount(deliveryId)
      const account = accountId === null ? null : await accounts.find(accountId)
      if (account === null) throw new AppError('NOT_FOUND', 'Delivery not found')
      const delivery = await redeliver(account, deliveryId)
      const target = { kind: 'delivery', deliveryId, accountId: account.id }
      await records.recordAction({
        action: 'delivery.redelivered',
        target,
        by,
        address,
        before: null,
        after: { status: delivery.status },
      })
      return delivery
    },

    readAudit: async ({ limit, cursor }) => {
      const { items, next } = await readPage(
        limit,
        (count) => records.listActions({ limit: count, before: cursor }),
        ({ id }) => id,
      )
      return {
        entries: items.map(({ createdAt, ...entry }) => ({ ...entry, createdAt: createdAt.toISOString() })),
        ...next,
      }
    },
  }
}

const viewAccount = ({ createdAt, lastUsedAt, ...account }: FoundAccount): OperatorAccount => ({
  ...account,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
})
