import { AppError } from '../../errors.js'
import type { AccountStore } from '../../ports/accountStore.js'
import type { FoundAccount, OperatorRecords } from '../../ports/operatorRecords.js'
import type { OperatorAccount } from '../../protocol/operator.js'
import type { Tiers } from '../../protocol/tiers.js'
import { readPage } from '../readPage.js'
import type { WebhookUseCases } from '../useCases.js'
import { createChangeAccount } from './changeAccount.js'
import type { OperatorUseCases } from './useCases.js'

interface AccountsDependencies {
  readonly accounts: Pick<AccountStore, 'find' | 'setTier' | 'revoke'>
  readonly records: Omit<OperatorRecords, 'purgeActions'>
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
      const target = { kind: 'delivery', deliveryId, accountId: account.id }
      return await redeliver(account, deliveryId, () =>
        records.recordAction({
          action: 'delivery.redelivered',
          target,
          by,
          address,
          before: null,
          after: { status: 'waiting' },
        }),
      )
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
