import { AppError } from '../../errors.js'
import type { Account, AuditLog } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { Quotas, QuotaUse } from '../../ports/quotas.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import type { AccountSettlements } from '../../ports/settlementOverview.js'
import type { Quota } from '../../protocol/accounts.js'
import { canonicalNetwork } from '../../protocol/network.js'
import { getTier, startOfMonth, startOfNextMonth, type Tiers } from '../../protocol/tiers.js'
import { viewSettlement } from '../core/describe/listSettlements.js'
import { readPage } from '../readPage.js'
import type { DashboardUseCases } from './useCases.js'

export interface ReadInfoDependencies {
  readonly quotas: Quotas
  readonly clock: Clock
  readonly tiers: Tiers
  findWebhookUrl(accountId: string): Promise<string | null>
}

export const createReadInfo =
  ({ quotas, clock, tiers, findWebhookUrl }: ReadInfoDependencies): DashboardUseCases['readInfo'] =>
  async (account) => {
    const [use, webhookUrl] = await Promise.all([
      quotas.readUse(account.customer, clock.now()),
      findWebhookUrl(account.id),
    ])
    const { name, monthlyQuota, rpmLimit, feeRate } = getTier(tiers, account.tier)
    return {
      tier: account.tier,
      config: { name, monthlyQuota, rpmLimit, feeRate },
      quota: viewQuota(account, use, tiers),
      email: account.email,
      project: account.project,
      status: account.status,
      createdAt: account.createdAt.toISOString(),
      webhookUrl: webhookUrl ?? '',
      allowedIPs: account.allowedIPs === null ? null : [...account.allowedIPs],
      allowedRef: account.allowedRef === null ? null : [...account.allowedRef],
    }
  }

export const viewQuota = (
  { tier }: Pick<Account, 'tier'>,
  { used, monthStartsAt }: QuotaUse,
  tiers: Tiers,
): Quota => ({
  limit: getTier(tiers, tier).monthlyQuota,
  period: 'monthly',
  used,
  tier,
  feeRate: getTier(tiers, tier).feeRate,
  resetsAt: startOfNextMonth(monthStartsAt).toISOString(),
})

export const unusedMonth = (now: Date): QuotaUse => ({
  monthStartsAt: startOfMonth(now),
  used: 0,
})

export const createReadQuota =
  (quotas: Quotas, clock: Clock, tiers: Tiers): DashboardUseCases['readQuota'] =>
  async (account) =>
    viewQuota(account, await quotas.readUse(account.customer, clock.now()), tiers)

interface ReadUsageDependencies {
  readonly quotas: Quotas
  readonly settlements: Pick<AccountSettlements, 'summarize'>
  readonly clock: Clock
}

const hourMs = 3_600_000
const maxCounted = 10_000

export const createReadUsage =
  ({ quotas, settlements, clock }: ReadUsageDependencies): DashboardUseCases['readUsage'] =>
  async ({ id }, { hours } = {}) => {
    const now = clock.now()
    const days = await quotas.listDays(id, 7, now)
    const counted = { days: 7, usage: days.map(({ date, count }) => ({ date, count })) } as const
    if (hours === undefined) return counted
    const since = new Date(now.getTime() - hours * hourMs)
    const { buckets, networks, amounts, ...rest } = await settlements.summarize({
      accountId: id,
      since,
      limit: maxCounted,
    })
    return {
      ...counted,
      settlements: {
        ...rest,
        hours,
        networks: [...networks],
        amounts: [...amounts],
        buckets: buckets.map(({ at, ...counts }) => ({ ...counts, at: at.toISOString() })),
      },
    }
  }

/** Newest first. Another account's cursor gives an empty page. */
export const createReadAudit =
  (audit: Pick<AuditLog, 'list'>): DashboardUseCases['readAudit'] =>
  async ({ id: accountId }, { limit, cursor }) => {
    const { items, next } = await readPage(
      limit,
      (count) => audit.list(accountId, { limit: count, before: cursor }),
      ({ id }) => id,
    )
    return {
      entries: items.map(({ id, createdAt, action, actor, address, details }) => ({
        id,
        createdAt: createdAt.toISOString(),
        action,
        actor,
        address,
        details: { ...details },
      })),
      ...next,
    }
  }

interface ListAccountSettlementsDependencies {
  readonly settlements: AccountSettlements
  readonly journal: Pick<SettlementJournal, 'find'>
}

export const createListAccountSettlements =
  ({ settlements, journal }: ListAccountSettlementsDependencies): DashboardUseCases['listSettlements'] =>
  async ({ id: accountId }, { cursor, network, limit, ...rest }) => {
    // Same error for unknown and foreign cursors, so that existence does not leak.
    if (cursor !== undefined && (await journal.find(cursor))?.caller !== accountId) {
      throw new AppError('INVALID_REQUEST', 'cursor: must be the nextCursor of an earlier response')
    }
    const query = {
      ...rest,
      accountId,
      network: network === undefined ? undefined : canonicalNetwork(network),
      after: cursor,
    }
    const { items, next } = await readPage(
      limit,
      (count) => settlements.list({ ...query, limit: count }),
      ({ settlement }) => settlement.id,
    )
    return {
      settlements: items.map(({ settlement, fee }) => ({ ...viewSettlement(settlement), fee })),
      ...next,
    }
  }
