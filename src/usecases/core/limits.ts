import { withTimeout } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import { createFailureLog } from '../../failureLog.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { QuotaClaim, Quotas } from '../../ports/quotas.js'
import type { LimitWindow, RateLimiter } from '../../ports/rateLimiter.js'
import type { Settlement } from '../../ports/settlementJournal.js'
import type { Payment } from '../../protocol/payment.js'
import { isFailedOnChain, type Reason } from '../../protocol/reasons.js'
import { secondsUntilNextMonth } from '../../protocol/tiers.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { Scheme } from '../../schemes/scheme.js'
import { isSameText } from '../../schemes/spelling.js'
import { cacheFor } from '../cacheFor.js'

/** Maximum concurrent settlements in this process; 0 turns a limit off. */
export interface ConcurrencyLimitSettings {
  readonly settlesAtOncePerPayer: number
  readonly settlesAtOncePerCaller: number
}

export interface ConcurrencyLimits {
  /** Throws RATE_LIMITED at the limit. The returned function releases the slot; call it once. */
  acquireCallerSlot(caller: string): () => void
  /** The same per payer. Requests for one authorization share a slot. */
  acquirePayerSlot(payer: string, authorizationId: string): () => void
}

const retryAfterSeconds = 1

export const createConcurrencyLimits = (settings: ConcurrencyLimitSettings): ConcurrencyLimits => {
  const callers = createSlots(settings.settlesAtOncePerCaller, 'caller')
  const payers = createSlots(settings.settlesAtOncePerPayer, 'payer')
  return {
    acquireCallerSlot: (caller) => callers.acquire(caller, Symbol()),
    acquirePayerSlot: (payer, authorizationId) => payers.acquire(payer, authorizationId),
  }
}

/** Slots per key; settlements with the same id share one slot. */
const createSlots = (limit: number, subject: string) => {
  const held = new Map<string, Map<string | symbol, number>>()

  const release = (key: string, owner: string | symbol): void => {
    const owners = held.get(key)
    const count = owners?.get(owner)
    if (owners === undefined || count === undefined) return
    if (count > 1) owners.set(owner, count - 1)
    else owners.delete(owner)
    if (owners.size === 0) held.delete(key)
  }

  return {
    acquire: (key: string, owner: string | symbol): (() => void) => {
      const owners = held.get(key) ?? new Map<string | symbol, number>()
      const count = owners.get(owner) ?? 0
      if (limit > 0 && count === 0 && owners.size >= limit) {
        throw new AppError('RATE_LIMITED', `Too many concurrent settlements of this ${subject}`, {
          operationalCode: 'SVC-2005',
          retryAfterSeconds,
        })
      }
      held.set(key, owners.set(owner, count + 1))
      return () => release(key, owner)
    },
  }
}

/** Settlements per customer and hour for which the facilitator pays gas; 0 turns a limit off. */
export interface SpendingLimitSettings {
  readonly settlesPerPayerPerHour: number
  readonly settlesPerRecipientPerHour: number
  /** Counts those that failed in a block: they cost a fee and paid nothing. */
  readonly failuresPerPayerPerHour: number
  /** It applies to callers without an API key: the payers of an account must not be able to stop its sales. */
  readonly anonymousFailuresPerRecipientPerHour: number
}

interface Spender {
  readonly payer: string
  /** Or `anonymous`: one customer's settlements never exhaust the windows of another. */
  readonly customer: string
  /** Default: false. */
  readonly isContinued?: boolean
}

type FailedSettlement = Pick<
  Settlement,
  'network' | 'payer' | 'payTo' | 'caller' | 'customer' | 'transaction'
>

export interface SpendingLimits {
  /** Throws RATE_LIMITED. The returned function gives the settlement back, for one that sent nothing. */
  spend(payment: Payment, spender: Spender): Promise<() => void>
  /** Counts a settlement that was closed as failed, if it failed in a block at our cost. Never rejects. */
  countFailure(settlement: FailedSettlement, reason: Reason): Promise<void>
}

const hourMs = 3_600_000

interface Parties extends Spender {
  readonly network: string
  readonly payTo: string
}

const payerKey = ({ network, payer, customer }: Parties): string =>
  `payer:${network}:${payer.toLowerCase()}:${customer}`

const recipientKey = ({ network, payTo, customer }: Parties): string =>
  `payTo:${network}:${payTo.toLowerCase()}:${customer}`

export const createSpendingLimits = (
  limiter: RateLimiter,
  clock: Clock,
  settings: SpendingLimitSettings,
): SpendingLimits => {
  const listWindows = (parties: Parties): readonly LimitWindow[] =>
    [
      { key: payerKey(parties), limit: settings.settlesPerPayerPerHour },
      { key: recipientKey(parties), limit: settings.settlesPerRecipientPerHour },
    ].flatMap(toWindow)

  const listFailureWindows = (parties: Parties): readonly LimitWindow[] => {
    const perRecipient = parties.customer === 'anonymous' ? settings.anonymousFailuresPerRecipientPerHour : 0
    return [
      { key: `failed:${payerKey(parties)}`, limit: settings.failuresPerPayerPerHour },
      { key: `failed:${recipientKey(parties)}`, limit: perRecipient },
    ].flatMap(toWindow)
  }

  return {
    spend: async ({ requirements: { network, payTo } }, { payer, customer: name, isContinued = false }) => {
      // What continues a payment has windows of its own: its payer could exhaust the others until a deadline.
      const customer = isContinued ? `${name} continued` : name
      const parties = { network, payTo, payer, customer }
      const windows = [
        ...listWindows(parties),
        // Draws nothing: refused once as many have failed as the limit allows.
        ...listFailureWindows(parties).map((window) => ({ ...window, limit: window.limit - 1, cost: 0 })),
      ]
      if (windows.length === 0) return () => undefined
      const result = await limiter.take(windows)
      if (result.isAllowed) return () => void limiter.refund(windows, result)
      const refusedBy = result.refusedBy ?? 0
      const resetsAt = result.windows[refusedBy]?.resetsAt ?? clock.now()
      const message =
        windows[refusedBy]?.cost === 0
          ? 'Too many settlements of this payer or recipient failed on chain'
          : 'Too many settlements for this payer or recipient'
      throw new AppError('RATE_LIMITED', message, {
        operationalCode: 'SVC-2005',
        retryAfterSeconds: Math.max(1, Math.ceil((resetsAt.getTime() - clock.now().getTime()) / 1_000)),
      })
    },

    countFailure: async ({ transaction, caller, customer = caller, ...others }, reason) => {
      if (transaction === null || !isFailedOnChain(reason)) return
      const windows = listFailureWindows({ ...others, customer }).map((window) => ({
        ...window,
        isUnrefusable: true,
      }))
      if (windows.length > 0) await limiter.take(windows).catch(() => undefined)
    },
  }
}

const toWindow = ({ key, limit }: Pick<LimitWindow, 'key' | 'limit'>): readonly LimitWindow[] =>
  limit > 0 ? [{ key, limit, windowMs: hourMs }] : []

/** Null if the asset is not known to be worth a dollar, and on testnets unless there is nothing else. */
export const findDollarDecimals = (
  registry: SchemeRegistry,
  scheme: Scheme,
  asset: string,
): number | null => {
  // Assets that are addresses have all spellings of one.
  const { network } = scheme
  const token = network.listTokens().find((each) => isSameText(network, each.asset, asset))
  if (token?.isDollar !== true) return null
  const isTestMoney = network.isTestnet && registry.list().some((each) => !each.network.isTestnet)
  return isTestMoney ? null : token.decimals
}

/** Returns QUOTA_EXCEEDED if the month was used up at the last (cached) read, else null. */
export type QuotaGate = (quota: QuotaClaim) => Promise<AppError | null>

interface QuotaGateDependencies {
  readonly quotas: Quotas
  readonly clock: Clock
  readonly logger: Logger
}

const maxAgeMs = 1_000
const maxAccounts = 10_000
const deadlineMs = 500

/** Early rejection for /verify. The journal decides claims, so this gate fails open if the database is down. */
export const createQuotaGate = ({ quotas, clock, logger }: QuotaGateDependencies): QuotaGate => {
  const cachedReads = new Map<string, () => Promise<number>>()
  const failures = createFailureLog({
    logger,
    event: 'quota.read_failed',
    recovered: 'quota.read_recovered',
    now: () => clock.now().getTime(),
  })

  const readUsed = async (accountId: string): Promise<number> => {
    try {
      const reading = quotas.readUse(accountId, clock.now())
      const { used } = await withTimeout(reading, deadlineMs)
      failures.succeeded('quotas')
      return used
    } catch (error) {
      failures.failed('quotas', { account: accountId, error })
      return 0
    }
  }

  const cachedReadOf = (accountId: string): (() => Promise<number>) => {
    const known = cachedReads.get(accountId)
    if (known !== undefined) return known
    if (cachedReads.size >= maxAccounts) cachedReads.clear()
    const reading = cacheFor(clock, maxAgeMs, () => readUsed(accountId))
    cachedReads.set(accountId, reading)
    return reading
  }

  return async ({ accountId, customer = accountId, tier }) => {
    const { monthlyQuota } = tier
    if (monthlyQuota < 0 || (await cachedReadOf(customer)()) < monthlyQuota) return null
    return new AppError('QUOTA_EXCEEDED', "This month's quota is used up", {
      retryAfterSeconds: secondsUntilNextMonth(clock.now()),
    })
  }
}
