import { AppError } from '../../../errors.js'
import type { Clock } from '../../../ports/clock.js'
import type { LimitWindow, RateLimiter } from '../../../ports/rateLimiter.js'
import type { Settlement } from '../../../ports/settlementJournal.js'
import type { Payment } from '../../../protocol/payment.js'
import { isFailedOnChain, type Reason } from '../../../protocol/reasons.js'
import type { SchemeRegistry } from '../../../schemes/registry.js'
import type { Scheme } from '../../../schemes/scheme.js'
import { isSameText } from '../../../schemes/spelling.js'

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
  /** Or `anonymous`: one customer's settlements never use up the windows of another. */
  readonly customer: string
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
    spend: async ({ requirements }, { payer, customer }) => {
      const parties = { network: requirements.network, payTo: requirements.payTo, payer, customer }
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
