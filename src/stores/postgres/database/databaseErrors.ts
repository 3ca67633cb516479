import { DatabaseError } from 'pg'
import { AppError } from '../../../errors.js'
import type { StatementFailure } from '../../../protocol/databaseWork.js'

/**
 * `conflict`: the server rolled back one of several transactions; the same statement may succeed at once.
 * `unavailable`: the database is busy, slow or away, whatever the input is. `data`: an input can be at fault. `defect`: the
 * statement itself is, or an error is not the database's: it fails with any input.
 */
export type DatabaseFailure = 'conflict' | 'unavailable' | 'data' | 'defect'

// Serialization failure, and deadlock.
const conflictStates = /^40(001|P01)$/

// SQLSTATE classes: connection, access, resources, cancellation and shutdown, I/O, other rollbacks, timeouts. 25006: a server
// that has become a standby or refuses writes; its connection is closed, so that the next one may reach the primary.
const unavailableStates = /^(08|28|3D|40|53|57|58|25P0[34]|25006|55P03)/

// SQLSTATE classes: cardinality, data, constraints, checks of views, program limits, exceptions of functions, corruption.
const dataStates = /^(2[1-3]|44|54|P0|XX)/

// After a loss of the connection, a crash or a shutdown, the statement may have been committed.
const unknownOutcomes = /^(08|40003|57P|58)/

const queryCanceled = '57014'
const lockNotAvailable = '55P03'
const uniqueViolation = '23505'

/** The one place that says what a failed statement means for those who sent it. */
export const classifyFailure = (error: unknown): DatabaseFailure => {
  if (!(error instanceof Error)) return 'defect'
  if (error instanceof DatabaseError) {
    const state = error.code ?? ''
    if (conflictStates.test(state)) return 'conflict'
    if (unavailableStates.test(state)) return 'unavailable'
    return dataStates.test(state) ? 'data' : 'defect'
  }
  const isNetwork = 'code' in error && /^E[A-Z]+$/.test(String(error.code))
  return isNetwork || driverErrorTexts.some((sentence) => error.message.includes(sentence))
    ? 'unavailable'
    : 'defect'
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

/** For counters. */
export const nameFailure = (error: unknown): StatementFailure => {
  if (error instanceof DatabaseError) {
    const { code = '' } = error
    return failureOfState.find(({ pattern }) => pattern.test(code))?.failure ?? 'other'
  }
  const message = error instanceof Error ? error.message : ''
  return /timeout/i.test(message) && !message.startsWith('Connection terminated') ? 'timeout' : 'connection'
}

// 57014: canceled, mostly by `statement_timeout`. 40001 and 40P01: another transaction was in the way.
const failureOfState: readonly { readonly pattern: RegExp; readonly failure: StatementFailure }[] = [
  { pattern: /^57014/, failure: 'timeout' },
  { pattern: /^55P03/, failure: 'lock' },
  { pattern: /^40(001|P01)/, failure: 'deadlock' },
  { pattern: /^(08|28|3D|53|57|58|25P03|25006)/, failure: 'connection' },
  { pattern: /^(22|23)/, failure: 'data' },
]

/** Whether it is certain that nothing of the statement, or of its transaction, was committed. */
export const isRolledBack = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code !== undefined && !unknownOutcomes.test(error.code)

/** A lock was not free within `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === lockNotAvailable

/** A row has the key of another one that is committed. */
export const isUniqueViolation = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === uniqueViolation

/** Others have the locks that the transaction needs: it was rolled back, and can be tried again. */
export const isLockConflict = (error: unknown): boolean =>
  isLockTimeout(error) || classifyFailure(error) === 'conflict'

/** By `statement_timeout`, or by a request. */
export const isCanceled = (error: unknown): boolean =>
  error instanceof DatabaseError && error.code === queryCanceled

export const databaseUnavailable = (cause?: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', 'The database does not answer at the moment', {
    ...(cause === undefined ? {} : { cause }),
    retryAfterSeconds: 1,
  })

/** What the caller gets for a failed statement: SERVICE_UNAVAILABLE (retryable) unless statement or input is at fault. */
export const toCallerError = (error: unknown): unknown => {
  const failure = classifyFailure(error)
  return failure === 'conflict' || failure === 'unavailable' ? databaseUnavailable(error) : error
}

/** Rejects as `toCallerError` says, in every method of the store. */
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
  throw toCallerError(error)
}
