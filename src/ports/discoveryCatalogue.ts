import type { ListedResource, ListedTerms, StatedListing } from './listedResource.js'
import type { OwnerChallenge } from './ownerChallenges.js'

/** `stale`: no settlement for long; the next one lists it again. `unlisted`: by its owner. */
export type ListingState = 'listed' | 'stale' | 'unlisted'

export interface CatalogueEntry {
  readonly id: string
  readonly state: ListingState
  /** Owner; null: the recipients of its terms are. */
  readonly accountId: string | null
  readonly resource: ListedResource
  /** Latest first. */
  readonly terms: readonly ListedTerms[]
  /** Distinct payers that count. */
  readonly payers: number
  readonly firstSettledAt: Date
  readonly lastSettledAt: Date
  /** When the owner last listed or unlisted it. */
  readonly ownerChangedAt: Date | null
}

/**
 * What a settlement changes. `refused` and `unchanged` write nothing; `pending` records at most a challenge. `asks`: the URL
 * that the resource is asked at; null: nothing is asked, or a challenge is waiting already.
 */
export type RecordPlan =
  | { readonly kind: 'refused'; readonly rule: string; readonly reason: string }
  | { readonly kind: 'pending'; readonly asks: string | null }
  | { readonly kind: 'unchanged' }
  | {
      readonly kind: 'write'
      readonly resource: ListedResource
      readonly accountId: string | null
      readonly terms: readonly ListedTerms[]
      /** Words and filters under which it is found. */
      readonly tokens: readonly string[]
      /**
       * An answer to a challenge resolves it: `added` ends it, `moved` ends all, and the previous owner's payers no
       * longer count.
       */
      readonly resolves: 'added' | 'moved' | null
      readonly asks: string | null
    }

export interface KnownOfListing {
  readonly isKnownPayer: boolean
  /**
   * It is that of this settlement's recipient, if it is waiting or answered last; else that which was answered last.
   */
  readonly challenge: OwnerChallenge | null
  /** Latest; null: the resource was not asked, or said nothing of itself. */
  readonly stated: StatedListing | null
}

export interface SettlementRecord {
  readonly key: ListedResource['key']
  /** CAIP-2 identifier. */
  readonly network: string
  /** Payer and recipient in one spelling. */
  readonly payer: string
  readonly payTo: string
  /** Whose challenges take turns with those of others. */
  readonly claimant: string
  readonly settledAt: Date
  /** Pure: may be called again when another settlement was recorded meanwhile. */
  plan(existing: CatalogueEntry | null, known: KnownOfListing): RecordPlan
}

export interface RecordedSettlement {
  readonly plan: RecordPlan
  /** Null where nothing is stored under the key. */
  readonly id: string | null
}

/** Place in the order of the catalogue. */
export interface CataloguePosition {
  readonly score: bigint
  readonly id: string
}

export interface CatalogueFilter {
  /** All of them. */
  readonly tokens: readonly string[]
  /** One of the terms has all of these. */
  readonly terms: Partial<Pick<ListedTerms, 'network' | 'scheme' | 'asset' | 'payTo'>>
  /** It belongs to the same terms, in smallest units. */
  readonly minAmount: bigint | null
  readonly maxAmount: bigint | null
}

export interface CatalogueQuery extends CatalogueFilter {
  readonly after: CataloguePosition | null
  readonly offset: number
  readonly limit: number
}

export interface CataloguePage {
  readonly entries: readonly CatalogueEntry[]
  /** Null: this is the end. */
  readonly next: CataloguePosition | null
  /** The scan ended before the page was full. */
  readonly isPartial: boolean
}

export interface DiscoveryCatalogue {
  /** Concurrent settlements of one resource are recorded one after the other. */
  record(settlement: SettlementRecord): Promise<RecordedSettlement>
  /** In any state. */
  find(id: string): Promise<CatalogueEntry | null>
  list(query: CatalogueQuery): Promise<CataloguePage>
  /** At most `atMost`. */
  count(filter: CatalogueFilter, atMost: number): Promise<number>
  /** False: the owner changed it later than `at`, or it does not exist. Idempotent. */
  setState(id: string, state: 'listed' | 'unlisted', at: Date): Promise<boolean>
  markStale(before: Date, stopped?: AbortSignal): Promise<void>
  /** Deletes stale resources without settlement since then. */
  purge(before: Date, stopped?: AbortSignal): Promise<void>
}
