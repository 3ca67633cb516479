import { DatabaseError } from 'pg'
import { describe, expect, it } from 'vitest'
import {
  classifyFailure,
  isCanceled,
  isLockTimeout,
  isRolledBack,
  nameFailure,
  toCallerError,
} from '../../../../src/stores/postgres/database/databaseErrors.js'

const refused = (code: string): DatabaseError => Object.assign(new DatabaseError('no', 2, 'error'), { code })

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const states = [
  { name: 'serialization_failure', code: '40001', failure: 'conflict', rolledBack: true },
  { name: 'deadlock_detected', code: '40P01', failure: 'conflict', rolledBack: true },
  { name: 'query_canceled', code: '57014', failure: 'unavailable', rolledBack: true },
  { name: 'lock_not_available', code: '55P03', failure: 'unavailable', rolledBack: true },
  { name: 'disk_full', code: '53100', failure: 'unavailable', rolledBack: true },
  { name: 'too_many_connections', code: '53300', failure: 'unavailable', rolledBack: true },
  { name: 'idle_in_transaction_session_timeout', code: '25P03', failure: 'unavailable', rolledBack: true },
  { name: 'transaction_timeout', code: '25P04', failure: 'unavailable', rolledBack: true },
  { name: 'read_only_sql_transaction', code: '25006', failure: 'unavailable', rolledBack: true },
  { name: 'statement_completion_unknown', code: '40003', failure: 'unavailable', rolledBack: false },
  { name: 'connection_failure', code: '08006', failure: 'unavailable', rolledBack: false },
  { name: 'admin_shutdown', code: '57P01', failure: 'unavailable', rolledBack: false },
  { name: 'io_error', code: '58030', failure: 'unavailable', rolledBack: false },
  { name: 'invalid_text_representation', code: '22P02', failure: 'data', rolledBack: true },
  { name: 'unique_violation', code: '23505', failure: 'data', rolledBack: true },
  { name: 'program_limit_exceeded', code: '54000', failure: 'data', rolledBack: true },
  { name: 'undefined_column', code: '42703', failure: 'defect', rolledBack: true },
  { name: 'raise_exception', code: 'P0001', failure: 'data', rolledBack: true },
] as const

describe('a failed statement', () => {
  it.each(states)('with $name ($code) is $failure', ({ code, failure, rolledBack }) => {
    expect(classifyFailure(refused(code))).toBe(failure)
    expect(isRolledBack(refused(code))).toBe(rolledBack)
  })

  it.each([
    { name: 'a time-out of the client', error: new Error('Query read timeout'), failure: 'unavailable' },
    { name: 'a lost connection', error: new Error('Connection terminated'), failure: 'unavailable' },
    {
      name: 'a refused connection',
      error: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
      failure: 'unavailable',
    },
    { name: 'an error of our own', error: new TypeError('undefined is not a function'), failure: 'defect' },
    { name: 'no error at all', error: 'no', failure: 'defect' },
  ])('with $name is $failure, and its outcome unknown', ({ error, failure }) => {
    expect(classifyFailure(error)).toBe(failure)
    expect(isRolledBack(error)).toBe(false)
  })

  it('is SERVICE_UNAVAILABLE to callers unless statement or input is at fault', () => {
    for (const { code, failure } of states) {
      const error = refused(code)
      if (failure === 'data' || failure === 'defect') expect(toCallerError(error)).toBe(error)
      else {
        expect(toCallerError(error)).toMatchObject({
          code: 'SERVICE_UNAVAILABLE',
          retryAfterSeconds: 1,
          cause: error,
        })
      }
    }
    const bug = new TypeError('undefined is not a function')
    expect(toCallerError(bug)).toBe(bug)
  })

  it('was canceled, or met a lock, in one state each', () => {
    const all = states.map(({ code }) => code)
    expect(all.filter((code) => isCanceled(refused(code)))).toEqual(['57014'])
    expect(all.filter((code) => isLockTimeout(refused(code)))).toEqual(['55P03'])
  })
})

describe('the counter of failed statements', () => {
  it.each([
    ['57014', 'timeout'],
    ['55P03', 'lock'],
    ['40001', 'deadlock'],
    ['40P01', 'deadlock'],
    ['08006', 'connection'],
    ['28P01', 'connection'],
    ['3D000', 'connection'],
    ['53300', 'connection'],
    ['57P01', 'connection'],
    ['58030', 'connection'],
    ['25P03', 'connection'],
    ['25006', 'connection'],
    ['22P02', 'data'],
    ['23505', 'data'],
    ['40003', 'other'],
    ['42703', 'other'],
  ])('counts SQLSTATE %s as %s', (code, failure) => {
    expect(nameFailure(refused(code))).toBe(failure)
  })

  it.each([
    ['Query read timeout', 'timeout'],
    ['timeout exceeded when trying to connect', 'timeout'],
    ['Connection terminated due to connection timeout', 'connection'],
    ['Connection terminated unexpectedly', 'connection'],
    ['connect ECONNREFUSED 127.0.0.1:5432', 'connection'],
  ])('counts the error "%s" of the driver as %s', (message, failure) => {
    expect(nameFailure(new Error(message))).toBe(failure)
  })
})
