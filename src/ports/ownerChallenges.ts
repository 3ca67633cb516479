import type { ListedResource, StatedListing } from './listedResource.js'

/** In one spelling, as `ListedTerms` folded. */
export interface ChallengedRecipient {
  /** CAIP-2 identifier. */
  readonly network: string
  readonly payTo: string
}

/** A settlement claimed a resource that is listed for another recipient, or another text of it. */
export interface OwnerChallenge {
  /** Whether it is that of this settlement's recipient. */
  readonly isOwn: boolean
  /** Null: the resource is not asked yet. */
  readonly answer: ProbeAnswer | null
}

export interface ProbeAnswer {
  /** Whom the resource asks to be paid; null: its answer is unusable, and `problem` says what was seen. */
  readonly recipients: readonly ChallengedRecipient[] | null
  readonly problem: string | null
  readonly answeredAt: Date
}

/** `stated`: null if the answer is unusable; then what the resource said before stays. */
export interface ResourceAnswer extends ProbeAnswer {
  readonly stated: StatedListing | null
}

export interface DueChallenge extends ChallengedRecipient {
  readonly resourceId: string
  readonly key: ListedResource['key']
  /** What is requested: the resource, or the statement of its host. */
  readonly url: string
}

export interface OwnerChallenges {
  /** A due challenge of each host: claimants take turns there, and over all hosts. None is leased again before `leasedUntil`. */
  lease(request: {
    readonly now: Date
    readonly leasedUntil: Date
    readonly limit: number
  }): Promise<readonly DueChallenge[]>
  /** The answer holds for all waiting challenges of the resource with the same URL. Idempotent. */
  answer(challenge: DueChallenge, answer: ResourceAnswer): Promise<void>
  /** Deletes challenges that were answered before. */
  purge(answeredBefore: Date, stopped?: AbortSignal): Promise<void>
}
