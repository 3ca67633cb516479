/** Answered requests, added up. */
export interface RequestTotals {
  readonly requests: number
  readonly failures: number
  /** Of all requests together. */
  readonly durationMs: number
}

/** How many settlements stand how; claims count as pending. */
export interface SettlementTotals {
  readonly confirmed: number
  readonly failed: number
  readonly pending: number
}

/** What is counted over all instances and restarts. */
export interface Statistics {
  addRequests(totals: RequestTotals): Promise<void>
  readRequests(): Promise<RequestTotals>
  /** Reads the whole journal: not for every request. */
  countSettlements(): Promise<SettlementTotals>
}
