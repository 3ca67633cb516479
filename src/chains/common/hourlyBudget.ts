import { AppError } from '../../errors.js'
import type { Promisee } from '../../ports/holds.js'
import type { LimitWindow, RateLimiter, RateLimitResult } from '../../ports/rateLimiter.js'
import type { PromisedCost } from './promisedCost.js'

/** Gives back a part of what was drawn; without a number, all of it. For one call. */
type Refund = (unused?: number) => void

/** Limits what settlements cost the facilitator per hour, and how much of it one caller can use. */
export interface HourlyBudget {
  /**
   * Draws a cost for a caller (a customer, an address of customers that are not proven, or `anonymous`; null: our own
   * maintenance). Throws SVC-3002 when the caller's part is spent, or what is left is kept for promised settlements. Of a
   * promised one, what was kept for it is never refused; what it costs beyond that is new work like any other.
   *
   * @param promisedCost what was kept for it; default 0: not promised.
   */
  spend(cost: number, caller: string | null, promisedCost?: number): Promise<Refund>
  /**
   * Draws a cost for what is lost if it waits, from a budget of its own: others neither pay for it nor draw from it. An account
   * whose part of that is spent draws as for new work of the caller.
   */
  spendUrgent(
    cost: number,
    spender: { readonly account: string; readonly caller: string | null },
  ): Promise<Refund>
  /**
   * Throws SVC-3002 unless one more settlement of a customer can be promised beside what is spent and promised. Counts it as
   * promised until the returned function is called, with whether it was stored as a new one.
   */
  checkPromise(promisee: Promisee): Promise<(isStored: boolean) => void>
}

interface HourlyBudgetSettings {
  readonly network: string
  /** Appears in the error message, such as `fee`. */
  readonly purpose: string
  /** Key in the rate limiter; instances that share its store share the budget. */
  readonly key: string
  readonly limit: number
  /** Of what is urgent, beside `limit`. Default: none. */
  readonly urgentLimit?: number
  /** Absent: no settlement is promised. */
  readonly promised?: PromisedCost
}

const hourMs = 3_600_000

/*
 * Three parts, so that no caller can spend everything: one for all callers with a key alike, of which each can use a fifth;
 * one for callers without a key; and one for all, beyond these.
 */
const reservedShare = 0.2
const perAccountShare = 0.04
const anonymousShare = 0.2
/** All that is urgent for an account can draw this part of the urgent budget, and one action in any case. */
const urgentPerAccount = 0.2

// Promises can keep so much of the part for all.
const promisedShare = 0.5
// One customer's promises can keep so much of that, so that it takes eight proven customers to fill it.
const promisedPerCustomer = 0.125
// Anyone can be many customers that are not proven. Those of an address have together what four customers have, so that one
// does not take it from its neighbours,
const customersPerAddress = 4
// and those of all addresses leave so much to customers that are proven that two addresses cannot take it from them.
const promisedToUnproven = 0.75

/** `kept` names the promises that keep a part of the window. */
interface Draw extends LimitWindow {
  readonly kept: 'all' | 'own' | 'none'
}

export const createHourlyBudget = (
  limiter: RateLimiter,
  { network, purpose, key, limit, urgentLimit = 0, promised = nothingPromised }: HourlyBudgetSettings,
): HourlyBudget => {
  const reserved = Math.floor(limit * reservedShare)
  const anonymous = Math.floor(limit * anonymousShare)
  const common = limit - reserved - anonymous
  const mostPromised = Math.floor(common * promisedShare)
  /** One in any case, or a small budget would promise nothing. */
  const mostOfCustomer = (cost: number): number => Math.max(cost, mostPromised * promisedPerCustomer)

  const listChoices = (cost: number, caller: string | null): readonly (readonly Draw[])[] => {
    const draw = (part: string, partLimit: number, kept: Draw['kept']): Draw => ({
      key: `${key}:${part}`,
      limit: partLimit,
      windowMs: hourMs,
      cost,
      kept,
    })
    const commonPart = [draw('common', common, 'all')]
    const reservedPart = draw('reserved', reserved, 'none')
    if (caller === null) return [commonPart, [reservedPart]]
    if (caller === 'anonymous') return [[draw('anonymous', anonymous, 'own')], commonPart]
    const ofAccount = draw(`account:${caller}`, Math.floor(limit * perAccountShare), 'own')
    return [[ofAccount, reservedPart], commonPart]
  }

  const spent = (): AppError =>
    new AppError('SERVICE_UNAVAILABLE', `The hourly ${purpose} budget of ${network} is spent`, {
      operationalCode: 'SVC-3002',
      retryAfterSeconds: 60,
    })

  const take = async (windows: readonly LimitWindow[]): Promise<Refund | null> => {
    const taken: RateLimitResult = await limiter.take(windows)
    if (!taken.isAllowed) return null
    return (unused) => {
      const returned = windows.map((window) => ({
        ...window,
        cost: unused === undefined ? (window.cost ?? 1) : Math.min(window.cost ?? 1, Math.floor(unused)),
      }))
      void limiter.refund(returned, taken)
    }
  }

  const takeFirst = async (choices: readonly (readonly LimitWindow[])[]): Promise<Refund> => {
    for (const windows of choices) {
      const given = await take(windows)
      if (given !== null) return given
    }
    throw spent()
  }

  const spendPromised = async (cost: number, caller: string | null): Promise<Refund> => {
    const [common = []] = listChoices(cost, null)
    const beyondLimit = common.map((each) => ({ ...each, limit: unlimited }))
    return await takeFirst([...listChoices(cost, caller), beyondLimit])
  }

  const spendNew = async (cost: number, caller: string | null): Promise<Refund> => {
    // Maintenance serves what was sent, promised or not.
    const kept = caller === null ? 0 : Math.min((await promised.read()).ofAll(), mostPromised)
    return await takeFirst(
      listChoices(cost, caller).map((windows) =>
        windows.map((each) => (each.kept === 'all' ? without(each, kept) : each)),
      ),
    )
  }

  const takeUrgent = async (cost: number, account: string): Promise<Refund | null> => {
    const ofAccount = Math.max(cost, Math.floor(urgentLimit * urgentPerAccount))
    return await take([
      { key: `${key}:urgent:${account}`, limit: ofAccount, windowMs: hourMs, cost },
      { key: `${key}:urgent`, limit: urgentLimit, windowMs: hourMs, cost },
    ])
  }

  return {
    spendUrgent: async (cost, { account, caller }) =>
      (await takeUrgent(cost, account)) ?? (await spendNew(cost, caller)),

    spend: async (cost, caller, promisedCost = 0) => {
      if (promisedCost <= 0) return await spendNew(cost, caller)
      const beyond = cost - promisedCost
      if (beyond <= 0) return await spendPromised(cost, caller)
      // First what can be refused.
      const refundBeyond = await spendNew(beyond, caller)
      try {
        const refundKept = await spendPromised(promisedCost, caller)
        return (unused = cost) => {
          refundBeyond(Math.min(unused, beyond))
          if (unused > beyond) refundKept(unused - beyond)
        }
      } catch (error) {
        refundBeyond()
        throw error
      }
    },

    checkPromise: async (promisee) => {
      const { part, customer } = promisee
      const { cost, ofAll, ofPart, ofCustomer, ofUnproven } = await promised.read()
      // Until it has begun, nothing may be awaited: requests at the same time count each other.
      const [total, own] = [ofAll(), ofPart(part)]
      const most = mostOfCustomer(cost)
      if (total + cost > mostPromised || ofCustomer(customer) + cost > most) throw spent()
      if (part !== customer) {
        if (own + cost > most * customersPerAddress) throw spent()
        if (ofUnproven() + cost > Math.max(cost, mostPromised * promisedToUnproven)) throw spent()
      }
      const end = promised.begin(promisee)
      try {
        for (const windows of listChoices(0, part)) {
          const wanted = windows.map((each) => ({
            ...each,
            limit: each.limit - cost - { all: total, own, none: 0 }[each.kept],
          }))
          if (wanted.every((each) => each.limit >= 0) && (await take(wanted)) !== null) return end
        }
        throw spent()
      } catch (error) {
        end(false)
        throw error
      }
    },
  }
}

const unlimited = Number.MAX_SAFE_INTEGER

const nothingPromised: PromisedCost = {
  read: async () => ({ cost: 0, ofAll: () => 0, ofPart: () => 0, ofCustomer: () => 0, ofUnproven: () => 0 }),
  begin: () => () => undefined,
}

const without = (window: LimitWindow, kept: number): LimitWindow => ({
  ...window,
  limit: Math.max(0, window.limit - kept),
})

interface BudgetedItem {
  readonly caller: string | null
  readonly isPromised?: boolean
  readonly urgentFor?: string | null
}

/** The account that an item is urgent for; null: it is not, or was promised, and is drawn as that. */
export const findUrgentAccount = ({ isPromised = false, urgentFor = null }: BudgetedItem): string | null =>
  isPromised ? null : urgentFor

interface DrawnForBatch<Item> {
  /** Gives back what is beyond the cost that was used; without a function, everything. */
  refund(usedOf?: (items: readonly Item[]) => number): void
}

/**
 * Draws the cost of a batch, each caller for its own items: a caller whose part is spent does not hold up the others.
 * With refused items nothing is drawn, and the rest is to be tried without them.
 *
 * @param promisedCostOf what was kept for items that are promised; default: all that they cost.
 */
export const spendForBatch = async <Item extends BudgetedItem>(
  budget: HourlyBudget,
  items: readonly Item[],
  costOf: (items: readonly Item[]) => number,
  promisedCostOf: (items: readonly Item[]) => number = costOf,
): Promise<DrawnForBatch<Item> | { readonly refused: ReadonlyMap<Item, unknown> }> => {
  const spendFor = async (
    item: BudgetedItem,
    cost: number,
    findPromisedCost: () => number,
  ): Promise<Refund> => {
    const { caller, isPromised = false } = item
    const account = findUrgentAccount(item)
    if (account !== null) return await budget.spendUrgent(cost, { account, caller })
    return await budget.spend(cost, caller, isPromised ? findPromisedCost() : 0)
  }
  const draws: { readonly own: readonly Item[]; readonly cost: number; readonly refundOwn: Refund }[] = []
  const refused = new Map<Item, unknown>()
  for (const own of groupByPurse(items)) {
    const [first] = own
    if (first === undefined) continue
    const cost = costOf(own)
    try {
      draws.push({ own, cost, refundOwn: await spendFor(first, cost, () => promisedCostOf(own)) })
    } catch (error) {
      for (const item of own) refused.set(item, error)
    }
  }
  const refund: DrawnForBatch<Item>['refund'] = (usedOf) => {
    for (const { own, cost, refundOwn } of draws) {
      if (usedOf === undefined) refundOwn()
      else if (usedOf(own) < cost) refundOwn(cost - usedOf(own))
    }
  }
  if (refused.size === 0) return { refund }
  refund()
  return { refused }
}

const groupByPurse = <Item extends BudgetedItem>(items: readonly Item[]): Iterable<readonly Item[]> => {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const purse = JSON.stringify([item.isPromised === true, item.urgentFor ?? null, item.caller])
    const group = groups.get(purse)
    if (group === undefined) groups.set(purse, [item])
    else group.push(item)
  }
  return groups.values()
}
