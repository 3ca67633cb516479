import type { PoolName, StatementFailure, StatementGroup } from '../protocol/databaseWork.js'

/** Called for every statement of the stores, so it must be cheap. */
export interface DatabaseObserver {
  /** Without the wait for a connection. `failure`: null for success. */
  onStatement(group: StatementGroup, seconds: number, failure: StatementFailure | null): void
  /** How long a caller waited for a connection, which includes opening one. */
  onConnection(pool: PoolName, seconds: number, failure: StatementFailure | null): void
}
