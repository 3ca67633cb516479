import type { FastifyRequest } from 'fastify'
import type { QuotaClaim } from '../../ports/quotas.js'
import { getTier, type Tiers } from '../../protocol/tiers.js'

/** Null for callers without an account: their settlements are not counted. */
export const readQuotaClaim = (
  { account }: Pick<FastifyRequest, 'account'>,
  tiers: Tiers,
): QuotaClaim | null =>
  account === null
    ? null
    : { accountId: account.id, customer: account.customer, tier: getTier(tiers, account.tier) }
