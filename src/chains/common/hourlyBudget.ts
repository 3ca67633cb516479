import { AppError } from '../../errors.js'
import type { LimitWindow, RateLimiter, RateLimitResult } from '../../ports/rateLimiter.js'

/** Limits what settlements cost the facilitator per hour, and how much of it one caller can use. */
export interface HourlyBudget {
  /**
   * Draws a cost for a caller (account id or `anonymous`; null: our own maintenance). Throws SVC-3002 when the caller's
   * part is spent. The returned function gives it back, for what was not sent.
   */
  spend(cost: number, caller: string | null): Promise<() => void>
}

export interface HourlyBudgetSettings {
  readonly network: string
  /** Appears in the error message, such as `fee`. */
  readonly purpose: string
  /** Key in the rate limiter; instances that share its store share the budget. */
  readonly key: string
  readonly limit: number
}

const hourMs = 3_600_000

/*
 * Three parts, so that no caller can spend everything: one for all accounts alike, of which each account can use a fifth;
 * one for callers without a key; and one for all, beyond these.
 */
const reservedShare = 0.2
const perAccountShare = 0.04
const anonymousShare = 0.2

export const createHourlyBudget = (
  limiter: RateLimiter,
  { network, purpose, key, limit }: HourlyBudgetSettings,
): HourlyBudget => {
  const reserved = Math.floor(limit * reservedShare)
  const anonymous = Math.floor(limit * anonymousShare)
  const common = limit - reserved - anonymous

  const listChoices = (cost: number, caller: string | null): readonly (readonly LimitWindow[])[] => {
    const window = (part: string, partLimit: number): LimitWindow => ({
      key: `${key}:${part}`,
      limit: partLimit,
      windowMs: hourMs,
      cost,
    })
    const commonPart = [window('common', common)]
    const reservedPart = window('reserved', reserved)
    if (caller === null) return [commonPart, [reservedPart]]
    if (caller === 'anonymous') return [[window('anonymous', anonymous)], commonPart]
    const ofAccount = window(`account:${caller}`, Math.floor(limit * perAccountShare))
    return [[ofAccount, reservedPart], commonPart]
  }

  return {
    spend: async (cost, caller) => {
      for (const windows of listChoices(cost, caller)) {
        const taken: RateLimitResult = await limiter.take(windows)
        if (taken.isAllowed) return () => void limiter.refund(windows, taken)
      }
      throw new AppError('SERVICE_UNAVAILABLE', `The hourly ${purpose} budget of ${network} is spent`, {
        operationalCode: 'SVC-3002',
        retryAfterSeconds: 60,
      })
    },
  }
}

/**
 * Draws the cost of a batch, each caller for its own items: a caller whose part is spent does not hold up the others.
 * With refused items nothing is drawn, and the rest is to be tried without them.
 */
export const spendForBatch = async <Item extends { readonly caller: string | null }>(
  budget: HourlyBudget,
  items: readonly Item[],
  costOf: (items: readonly Item[]) => number,
): Promise<{ readonly refund: () => void } | { readonly refused: ReadonlyMap<Item, unknown> }> => {
  const refunds: (() => void)[] = []
  const refund = () => {
    for (const each of refunds) each()
  }
  const refused = new Map<Item, unknown>()
  for (const caller of new Set(items.map((item) => item.caller))) {
    const own = items.filter((item) => item.caller === caller)
    try {
      refunds.push(await budget.spend(costOf(own), caller))
    } catch (error) {
      for (const item of own) refused.set(item, error)
    }
  }
  if (refused.size === 0) return { refund }
  refund()
  return { refused }
}
