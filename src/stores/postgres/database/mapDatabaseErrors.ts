import { DatabaseError } from 'pg'
import { AppError } from '../../../errors.js'

/**
 * Gives a store whose methods reject with SERVICE_UNAVAILABLE where the database does not answer: nothing is wrong
 * with the request, and asked again it may succeed. Every other error stays what it is.
 */
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

/** What is answered where the database is not. */
export const databaseUnavailable = (cause?: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', 'The database does not answer at the moment', {
    ...(cause === undefined ? {} : { cause }),
    retryAfterSeconds: 1,
  })

// No connection, refused to us, out of resources, shut down or out of time, trouble with its disk; a broken deadlock.
const outageStates = /^(08|28|3D|40|53|57|58|25P03)/

const isOutage = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  if (error instanceof DatabaseError) return outageStates.test(error.code ?? '')
  const isNetwork = 'code' in error && /^E[A-Z]+$/.test(String(error.code))
  return isNetwork || driverErrorTexts.some((sentence) => error.message.includes(sentence))
}

// What the driver says of a connection has no code.
const driverErrorTexts = [
  'Connection terminated',
  'Query read timeout',
  'is not queryable',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Cannot use a pool',
]
