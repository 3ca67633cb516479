import type { Settlement, SettlementState } from './settlementJournal.js'

/** Which settlements an operator wants to see. `pending` holds claims too: outside, their fate is open alike. */
export interface SettlementFilter {
  readonly status: 'pending' | 'confirmed' | 'failed'
  readonly network?: string | undefined
  /** Those that were opened at this time or later. */
  readonly since?: Date | undefined
  /** The id of a settlement: those that come after it, wherever it stands itself by now. */
  readonly after?: string | undefined
  readonly limit: number
}

/** How many settlements of one network are open, and for how long the oldest of them has been. */
export interface OpenCount {
  readonly network: string
  readonly state: Extract<SettlementState, 'claimed' | 'pending'>
  readonly count: number
  readonly oldestSeconds: number
}

/** What the journal shows to those who run the service. */
export interface SettlementOverview {
  /** The newest first. */
  list(filter: SettlementFilter): Promise<readonly Settlement[]>
  /** Networks and states without open settlements are left out; closed settlements cost nothing. */
  countOpen(): Promise<readonly OpenCount[]>
}
