import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import type { Payment } from '../../protocol/payment.js'

/** Settlements per caller and hour for which the facilitator pays gas; 0 turns a limit off. */
export interface SpendingLimitSettings {
  readonly settlesPerPayerPerHour: number
  readonly settlesPerRecipientPerHour: number
}

export interface Spender {
  readonly payer: string
  /** Account id, or `anonymous`: one caller's settlements never use up the windows of another. */
  readonly caller: string
}

export interface SpendingLimits {
  /** Throws RATE_LIMITED. The returned function gives the settlement back, for one that sent nothing. */
  spend(payment: Payment, spender: Spender): Promise<() => void>
}

const hourMs = 3_600_000

export const createSpendingLimits = (
  limiter: RateLimiter,
  clock: Clock,
  settings: SpendingLimitSettings,
): SpendingLimits => ({
  spend: async ({ requirements }, { payer, caller }) => {
    const { network, payTo } = requirements
    const windows = [
      {
        key: `payer:${network}:${payer.toLowerCase()}:${caller}`,
        limit: settings.settlesPerPayerPerHour,
        windowMs: hourMs,
      },
      {
        key: `payTo:${network}:${payTo.toLowerCase()}:${caller}`,
        limit: settings.settlesPerRecipientPerHour,
        windowMs: hourMs,
      },
    ].filter(({ limit }) => limit > 0)
    if (windows.length === 0) return () => undefined
    const result = await limiter.take(windows)
    if (result.isAllowed) return () => void limiter.refund(windows, result)
    const resetsAt = result.windows[result.refusedBy ?? 0]?.resetsAt ?? clock.now()
    throw new AppError('RATE_LIMITED', 'Too many settlements for this payer or recipient', {
      operationalCode: 'SVC-2005',
      retryAfterSeconds: Math.max(1, Math.ceil((resetsAt.getTime() - clock.now().getTime()) / 1_000)),
    })
  },
})
