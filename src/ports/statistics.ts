export interface RequestTotals {
  readonly requests: number
  readonly failures: number
  /** Sum over all requests. */
  readonly durationMs: number
}

/** `pending` includes `claimed` rows. */
interface SettlementTotals {
  readonly confirmed: number
  readonly failed: number
  readonly pending: number
}

/** Counts of one process. Written again, because the answer was lost, it has the same sequence. */
export interface RequestBatch extends RequestTotals {
  /** UUID of the process. */
  readonly source: string
  /** Grows by one with each batch of the process. */
  readonly sequence: number
}

/** Totals over all instances and restarts. */
export interface Statistics {
  /** Adds each batch once, in the order of its process. */
  addRequests(batch: RequestBatch): Promise<void>
  readRequests(): Promise<RequestTotals>
  countSettlements(): Promise<SettlementTotals>
}
