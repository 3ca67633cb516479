/**
 * What statements are measured as, by the work that they do. Each is a time series, so there are few. `audit`: any statement
 * on the connections for long reads. `other`: what no name fits.
 */
export const statementGroups = [
  'claim',
  'record',
  'close',
  'find',
  'settlement',
  'hold',
  'quota',
  'account',
  'idempotency',
  'lane',
  'webhook_claim',
  'webhook',
  'statistics',
  'stream',
  'intent',
  'discovery',
  'credit',
  'recipient',
  'reconciliation',
  'instance',
  'operator',
  'transaction',
  'audit',
  'other',
] as const

export type StatementGroup = (typeof statementGroups)[number]

/** `data`: a constraint or a value refused it. `lock`: `lock_timeout`. `connection`: the database was away or refused. */
export const statementFailures = ['timeout', 'lock', 'deadlock', 'connection', 'data', 'other'] as const

export type StatementFailure = (typeof statementFailures)[number]

/** `audits` and `nightlyAudits` have one reader at a time: to queue for them is normal. */
export const poolNames = ['payments', 'reads', 'audits', 'nightlyAudits'] as const

export type PoolName = (typeof poolNames)[number]
