import { AppError } from '../../errors.js'

/** How many settlements may be under way at once in this process; 0 turns a limit off. */
export interface ConcurrencyLimitSettings {
  readonly settlesAtOncePerPayer: number
  readonly settlesAtOncePerCaller: number
}

/** Keeps one caller or payer from taking every place in the queue. */
export interface ConcurrencyLimits {
  /** Throws RATE_LIMITED; what it answers must be called when the request is over. */
  enterCaller(caller: string): () => void
  /** The same for a payer; several requests for one authorization count as one. */
  enterPayer(payer: string, authorizationId: string): () => void
}

const retryAfterSeconds = 1

/** Counts what is under way. */
export const createConcurrencyLimits = (settings: ConcurrencyLimitSettings): ConcurrencyLimits => {
  const callers = createPlaces(settings.settlesAtOncePerCaller, 'caller')
  const payers = createPlaces(settings.settlesAtOncePerPayer, 'payer')
  return {
    enterCaller: (caller) => callers.enter(caller, Symbol()),
    enterPayer: (payer, authorizationId) => payers.enter(payer, authorizationId),
  }
}

/** Places for each of many; whoever comes twice with one ticket takes one place. */
const createPlaces = (limit: number, whose: string) => {
  const taken = new Map<string, Map<string | symbol, number>>()

  const leave = (key: string, ticket: string | symbol): void => {
    const tickets = taken.get(key)
    const count = tickets?.get(ticket)
    if (tickets === undefined || count === undefined) return
    if (count > 1) tickets.set(ticket, count - 1)
    else tickets.delete(ticket)
    if (tickets.size === 0) taken.delete(key)
  }

  return {
    enter: (key: string, ticket: string | symbol): (() => void) => {
      const tickets = taken.get(key) ?? new Map<string | symbol, number>()
      const count = tickets.get(ticket) ?? 0
      if (limit > 0 && count === 0 && tickets.size >= limit) {
        throw new AppError('RATE_LIMITED', `Too many settlements of this ${whose} are under way`, {
          operationalCode: 'SVC-2005',
          retryAfterSeconds,
        })
      }
      taken.set(key, tickets.set(ticket, count + 1))
      return () => leave(key, ticket)
    },
  }
}
