import type { Settlement, SettlementState } from './settlementJournal.js'

/** `status: 'pending'` includes `claimed` rows. */
export interface SettlementFilter {
  readonly status: 'pending' | 'confirmed' | 'failed'
  readonly network?: string | undefined
  /** Inclusive lower bound of `createdAt`. */
  readonly since?: Date | undefined
  /** Settlement id; the page starts after it, whatever its current status. */
  readonly after?: string | undefined
  readonly limit: number
}

/** `oldestSeconds`: age of the oldest open settlement. */
export interface OpenCount {
  readonly network: string
  readonly state: Extract<SettlementState, 'claimed' | 'pending'>
  readonly count: number
  readonly oldestSeconds: number
}

export interface SettlementOverview {
  /** Newest first. */
  list(filter: SettlementFilter): Promise<readonly Settlement[]>
  /** Omits networks and states without open settlements. Cost is independent of closed settlements. */
  countOpen(): Promise<readonly OpenCount[]>
}
