import type { Pool, PoolClient } from 'pg'
import { setNewest } from '../../../concurrency/boundedMap.js'
import type { DatabaseObserver } from '../../../ports/databaseObserver.js'
import {
  type PoolName,
  type StatementFailure,
  type StatementGroup,
  statementGroups,
} from '../../../protocol/databaseWork.js'
import { nameFailure } from './databaseErrors.js'
import { describeStatement, isMessage, readStatementText } from './tracedPool.js'

export interface Measurement {
  readonly name: PoolName
  readonly observer: DatabaseObserver
  /** Called when a statement, or the wait for a connection, has taken longer than its limit. */
  readonly onTimeout: () => void
}

/** Measures each statement, and each wait for a connection. */
export const measurePool = (pool: Pool, { name, observer, onTimeout }: Measurement): Pool => {
  const isAudit = name === 'audits' || name === 'nightlyAudits'
  const onStatement: DatabaseObserver['onStatement'] = (group, seconds, failure) => {
    observer.onStatement(group, seconds, failure)
    if (failure === 'timeout') onTimeout()
  }
  // Statements of the pool itself run on a client too, with a callback.
  pool.on('connect', (client: PoolClient) => {
    const query: CallableFunction = client.query
    Object.assign(client, {
      query: (...given: readonly unknown[]): unknown => {
        const group = isAudit ? 'audit' : findGroup(readStatementText(given[0]))
        return watch(
          (all) => Reflect.apply(query, client, all),
          given,
          (seconds, failure) => onStatement(group, seconds, failure),
        )
      },
    })
  })
  const connect: CallableFunction = pool.connect
  return Object.assign(pool, {
    connect: (...given: readonly unknown[]): unknown =>
      watch(
        (all) => Reflect.apply(connect, pool, all),
        given,
        (seconds, failure) => {
          observer.onConnection(name, seconds, failure)
          if (failure === 'timeout') onTimeout()
        },
      ),
  })
}

/** Calls a function of the driver, which has a callback as its last argument or returns a promise. */
const watch = (
  call: (given: readonly unknown[]) => unknown,
  given: readonly unknown[],
  onEnd: (seconds: number, failure: StatementFailure | null) => void,
): unknown => {
  const startedAt = performance.now()
  const end = (error: unknown): void =>
    onEnd((performance.now() - startedAt) / 1_000, error == null ? null : nameFailure(error))
  const last = given.at(-1)
  if (typeof last === 'function') {
    const callback = (...outcome: readonly unknown[]): unknown => {
      end(outcome[0])
      return Reflect.apply(last, undefined, outcome)
    }
    return call([...given.slice(0, -1), callback])
  }
  const answer = call(given)
  if (answer instanceof Promise) answer.then(() => end(null), end)
  return answer
}

const isGroup = (name: string): name is StatementGroup => statementGroups.some((group) => group === name)

const groups = new Map<string, StatementGroup>()
const maxGroups = 1_000

// A comment before the statement names it, also in the views and logs of Postgres; otherwise its first table does.
export const findGroup = (text: string): StatementGroup => {
  if (isMessage(text)) return nameGroup(text)
  const known = groups.get(text)
  if (known !== undefined) return known
  const group = nameGroup(text)
  setNewest(groups, text, group, maxGroups)
  return group
}

const nameGroup = (text: string): StatementGroup => {
  const [, named = ''] = /^(?:begin; .*?|set local .*?|\s*)\/\* (\w+) \*\//.exec(text) ?? []
  if (isGroup(named)) return named
  const { name, table } = describeStatement(text)
  if (transactional.has(name)) return 'transaction'
  if (table === 'settlements') return name === 'SELECT' ? 'find' : 'settlement'
  return groupOfTable.get(table) ?? 'other'
}

const transactional: ReadonlySet<string> = new Set(['BEGIN', 'COMMIT', 'ROLLBACK', 'SET', 'LOCK'])

const tablesOf: Partial<Record<StatementGroup, readonly string[]>> = {
  settlement: ['open_settlements', 'unfinal_settlements', 'consumed_authorizations', 'unique_amounts'],
  hold: ['reservations', 'held_payments', 'hold_moves'],
  quota: ['quota_uses', 'account_days'],
  account: ['accounts', 'api_keys', 'audit_log', 'mailboxes', 'sealing_secret', 'siwx_nonces'],
  idempotency: ['idempotent_requests'],
  lane: ['signer_lanes', 'broadcasts', 'broadcast_settlements'],
  webhook: ['webhook_deliveries', 'webhook_endpoints', 'event_counters'],
  statistics: ['request_batches', 'request_statistics', 'settlement_totals'],
  stream: [
    'streams',
    'stream_payments',
    'channel_vouchers',
    'channel_sweeps',
    'channel_sweep_shares',
    'channel_watches',
  ],
  intent: ['intents'],
  discovery: ['discovery_challenges', 'discovery_payers', 'discovery_recipients', 'discovery_resources'],
  credit: [
    'credit_changes',
    'credit_edges',
    'credit_failures',
    'credit_pairs',
    'credit_scores',
    'credit_wallets',
  ],
  recipient: ['recipient_statements', 'channel_custody'],
  reconciliation: ['nightly_reconciliations'],
  instance: ['instances', 'job_leases', 'database_purpose'],
  operator: ['operator_actions', 'operator_pauses'],
}

const groupOfTable = new Map(
  Object.entries(tablesOf).flatMap(([group, tables]) =>
    isGroup(group) ? tables.map((table) => [table, group] as const) : [],
  ),
)

const slowWindowMs = 30_000
const toleratedTimeouts = 5

/** Tells whether more than five statements of the last 30 seconds timed out. */
export const createTimeoutWatch = (now: () => number = () => performance.now()) => {
  let newest: readonly number[] = []
  return {
    onTimeout: (): void => {
      newest = [...newest, now()].slice(-(toleratedTimeouts + 1))
    },
    isSlow: (): boolean => newest.length > toleratedTimeouts && now() - (newest[0] ?? 0) < slowWindowMs,
  }
}
