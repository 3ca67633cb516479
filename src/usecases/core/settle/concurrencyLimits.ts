import { AppError } from '../../../errors.js'

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

/** Slots per key; holders with the same id share one slot. */
const createSlots = (limit: number, subject: string) => {
  const held = new Map<string, Map<string | symbol, number>>()

  const release = (key: string, holder: string | symbol): void => {
    const holders = held.get(key)
    const count = holders?.get(holder)
    if (holders === undefined || count === undefined) return
    if (count > 1) holders.set(holder, count - 1)
    else holders.delete(holder)
    if (holders.size === 0) held.delete(key)
  }

  return {
    acquire: (key: string, holder: string | symbol): (() => void) => {
      const holders = held.get(key) ?? new Map<string | symbol, number>()
      const count = holders.get(holder) ?? 0
      if (limit > 0 && count === 0 && holders.size >= limit) {
        throw new AppError('RATE_LIMITED', `Too many concurrent settlements of this ${subject}`, {
          operationalCode: 'SVC-2005',
          retryAfterSeconds,
        })
      }
      held.set(key, holders.set(holder, count + 1))
      return () => release(key, holder)
    },
  }
}
