export interface RequestTotals {
  readonly requests: number
  readonly failures: number
  /** Sum over all requests. */
  readonly durationMs: number
}

/** `pending` includes `claimed` rows. */
export interface SettlementTotals {
  readonly confirmed: number
  readonly failed: number
  readonly pending: number
}

/** Totals over all instances and restarts. */
export interface Statistics {
  addRequests(totals: RequestTotals): Promise<void>
  readRequests(): Promise<RequestTotals>
  countSettlements(): Promise<SettlementTotals>
}
