import type { ReconciliationPage } from '../../protocol/reconciliation.js'

interface ReconciliationQuery {
  readonly from: Date
  readonly to: Date
  /** Any name of a network. */
  readonly network?: string | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

export interface ReconciliationUseCases {
  /** Throws INVALID_REQUEST for an empty period or an unknown cursor. */
  reconcilePeriod(query: ReconciliationQuery): Promise<ReconciliationPage>
}
