import { Gauge, Histogram, type Registry } from 'prom-client'
import type { DatabaseObserver } from '../ports/databaseObserver.js'
import type { PoolState } from '../ports/operatorOverview.js'
import { poolNames, statementFailures, statementGroups } from '../protocol/databaseWork.js'
import { createBufferedCounter } from './bufferedCounter.js'

export interface DatabaseMetrics {
  /** Works before the metrics are registered: stores open first. */
  readonly observer: DatabaseObserver
  register(registry: Registry, listPools: () => readonly PoolState[]): void
}

// They reach from a look-up by key to what times out after 10 s.
const buckets = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Waiting for a connection can fail as a statement can. */
const failing = [...statementGroups, 'connect'] as const

/** What the database does for this instance, and how long it takes. */
export const createDatabaseMetrics = (): DatabaseMetrics => {
  const registers: Registry[] = []
  const statements = new Histogram({
    name: 'quittance_statement_duration_seconds',
    help: 'Time from sending a statement to the end of its answer',
    labelNames: ['statement'],
    buckets,
    registers,
  })
  const connections = new Histogram({
    name: 'quittance_pool_wait_seconds',
    help: 'Time until a connection to the database was free, or was opened',
    labelNames: ['pool'],
    buckets,
    registers,
  })
  const errors = createBufferedCounter({
    name: 'quittance_statement_errors_total',
    help: 'Statements that failed, and waits for a connection',
    labelNames: ['statement', 'class'],
    registers,
  })
  // Alerts on an increase need an initial zero.
  for (const statement of statementGroups) statements.zero({ statement })
  for (const pool of poolNames) connections.zero({ pool })
  for (const statement of failing) {
    for (const failure of statementFailures) errors.metric.inc({ statement, class: failure }, 0)
  }
  return {
    observer: {
      onStatement: (statement, seconds, failure) => {
        statements.observe({ statement }, seconds)
        if (failure !== null) errors.count({ statement, class: failure })
      },
      onConnection: (pool, seconds, failure) => {
        connections.observe({ pool }, seconds)
        if (failure !== null) errors.count({ statement: 'connect', class: failure })
      },
    },
    register: (registry, listPools) => {
      registry.registerMetric(statements)
      registry.registerMetric(connections)
      registry.registerMetric(errors.metric)
      registerPoolGauges(registry, listPools)
    },
  }
}

const registerPoolGauges = (registry: Registry, listPools: () => readonly PoolState[]): void => {
  const gauge = (name: string, help: string, read: (pool: PoolState) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers: [registry],
      collect() {
        for (const pool of listPools()) this.set({ pool: pool.name }, read(pool))
      },
    })
  }
  gauge('quittance_pool_connections', 'Open connections to the database', ({ total }) => total)
  gauge('quittance_pool_connections_idle', 'Open connections that nothing uses', ({ idle }) => idle)
  gauge('quittance_pool_connections_max', 'Connections that the pool may open', ({ max }) => max)
  gauge('quittance_pool_waiting', 'Callers that wait for a connection', ({ waiting }) => waiting)
}
