import type { ProbeTarget } from './resourceProbe.js'

/** In one spelling, as `ListedTerms` folded. */
export interface ChallengedRecipient {
  /** CAIP-2 identifier. */
  readonly network: string
  readonly payTo: string
}

/** A settlement claimed a resource that is listed for another recipient. */
export interface OwnerChallenge {
  /** Null: the resource is not asked yet. */
  readonly answer: ProbeAnswer | null
}

export interface ProbeAnswer {
  /** Whom the resource asks to be paid; null: its answer is unusable, and `problem` says what was seen. */
  readonly recipients: readonly ChallengedRecipient[] | null
  readonly problem: string | null
  readonly answeredAt: Date
}

export interface DueChallenge extends ChallengedRecipient {
  readonly resourceId: string
  readonly target: ProbeTarget
}

export interface OwnerChallenges {
  /** The oldest due challenge of each host, none of which is leased again before `leasedUntil`. */
  lease(request: {
    readonly now: Date
    readonly leasedUntil: Date
    readonly limit: number
  }): Promise<readonly DueChallenge[]>
  /** The answer holds for all waiting challenges of the resource with the same target. Idempotent. */
  answer(challenge: DueChallenge, answer: ProbeAnswer): Promise<void>
  /** Deletes challenges that were answered before. */
  purge(answeredBefore: Date, stopped?: AbortSignal): Promise<void>
}
