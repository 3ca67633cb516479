import type { Fields } from '../protocol/fields.js'

/** How a resource may be paid. */
export interface ListedTerms {
  readonly scheme: string
  /** CAIP-2 identifier. */
  readonly network: string
  readonly asset: string
  readonly payTo: string
  /** Smallest units; of scheme `upto` the maximum. */
  readonly amount: string
  readonly maxTimeoutSeconds: number
  readonly extra: Fields
}

/** What is published of a resource, but for its terms. */
export interface ListedResource {
  /** The pair is unique. */
  readonly key: { readonly url: string; readonly toolName: string }
  readonly type: 'http' | 'mcp'
  /** Null for MCP. */
  readonly method: string | null
  readonly version: 1 | 2
  /** `{ info, schema, routeTemplate? }`. */
  readonly declaration: Fields
  readonly extensionKeys: readonly string[]
  readonly description: string | null
  readonly mimeType: string | null
  readonly serviceName: string | null
  readonly tags: readonly string[]
  readonly iconUrl: string | null
}

/** What a resource says of itself. */
export interface StatedListing {
  /** Null: nothing that could be listed. */
  readonly resource: ListedResource | null
  /** Whom it wants paid, folded. */
  readonly recipients: readonly Pick<ListedTerms, 'network' | 'payTo'>[]
  /** How it wants to be paid: its terms that are complete. */
  readonly offers: readonly ListedTerms[]
  readonly at: Date
}

/** `stale`: no settlement for long; the next one lists it again. `unlisted`: by its owner. */
type ListingState = 'listed' | 'stale' | 'unlisted'

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

interface RecordedSettlement {
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
  /** An entry has all of them. */
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
  /** Finds it in any state. */
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

/** `error`: why there was no response, in words that the challenger may read. */
export type ProbeResponse =
  | {
      readonly status: number
      /** Header PAYMENT-REQUIRED; null without it. */
      readonly paymentRequired: string | null
      /** Null: larger than the limit, compressed, or it did not end in time. */
      readonly body: string | null
      readonly error: null
    }
  | { readonly status: null; readonly error: string }

/**
 * Gets an untrusted URL without paying: bounded, no redirects, one deadline (SSRF protection). Never by another method: a
 * stranger named the URL, and a POST may change something there.
 */
export interface ResourceProbe {
  /** Failures of the resource are returned; throws only the abort reason of `stopped`. */
  ask(url: string, stopped: AbortSignal): Promise<ProbeResponse>
}

export type SchemaVerdict =
  | { readonly kind: 'valid' }
  /** The schema is not usable. */
  | { readonly kind: 'broken'; readonly problem: string }
  /** The value does not match it. */
  | { readonly kind: 'mismatch'; readonly problem: string }
  | { readonly kind: 'timeout' }

export interface ValidationTurn {
  /** Owners take turns, so that the wait of one does not grow with what another one sends. */
  readonly owner: string
  /** Ends the wait: a value whose caller left is not judged. */
  readonly signal: AbortSignal
}

/**
 * JSON Schema 2020-12 on untrusted schemas. Rejects while too many values wait, of the owner or of all, and with the reason
 * of the turn's signal.
 */
export interface SchemaValidator {
  readonly deadlineMs: number
  validate(schema: unknown, value: unknown, turn: ValidationTurn): Promise<SchemaVerdict>
}
