import { DatabaseError } from 'pg'
import { AppError } from '../../../errors.js'

/** Maps database outages to SERVICE_UNAVAILABLE (retryable); other errors pass unchanged. */
export const mapDatabaseErrors = <Store extends object>(store: Store): Store =>
  new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...given: readonly unknown[]): unknown => {
        const answer: unknown = Reflect.apply(member, target, given)
        return answer instanceof Promise ? answer.catch(rethrow) : answer
      }
    },
  })

const rethrow = (error: unknown): never => {
  if (!isOutage(error)) throw error
  throw databaseUnavailable(error)
}

export const databaseUnavailable = (cause?: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', 'The database does not answer at the moment', {
    ...(cause === undefined ? {} : { cause }),
    retryAfterSeconds: 1,
  })

// SQLSTATE classes: connection, access, resources, shutdown, I/O, timeouts, deadlock. 25006: a server that has become
// a standby or refuses writes; its connection is closed, so that the next one may reach the primary.
const outageStates = /^(08|28|3D|40|53|57|58|25P03|25006)/

const isOutage = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  if (error instanceof DatabaseError) return outageStates.test(error.code ?? '')
  const isNetwork = 'code' in error && /^E[A-Z]+$/.test(String(error.code))
  return isNetwork || driverErrorTexts.some((sentence) => error.message.includes(sentence))
}

// The driver's connection errors have no code.
const driverErrorTexts = [
  'Connection terminated',
  'Query read timeout',
  'is not queryable',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Cannot use a pool',
]
