import type { Reason } from '../protocol/reasons.js'

export interface SponsoringQuery {
  /** CAIP-2 identifier. */
  readonly network: string
  /** As `normalizeWith` spells it. */
  readonly payer: string
  /** As `normalizeWith` spells it; null: the recipient does not matter. */
  readonly payTo: string | null
  /** Failures with these reasons count. */
  readonly reasons: readonly Reason[]
  readonly since: Date
}

export interface SponsoringRecord {
  /** A payment to the recipient is confirmed on the network. False without a recipient. */
  readonly hasRecipientSettled: boolean
  /**
   * More sponsored payments of the payer were sent and closed as failed, for one of the reasons, after `since`, than were
   * confirmed after it; 20 failures are too many in any case.
   */
  readonly hasPayerFailed: boolean
}

/** What the journal says of the parties of a payment that the facilitator would pay for. */
export interface SponsoringHistory {
  read(query: SponsoringQuery): Promise<SponsoringRecord>
}
