import { listSearchWords } from '../../extensions/bazaar/searchTokens.js'
import type {
  CatalogueEntry,
  ListedResource,
  ListedTerms,
  RecordPlan,
  SettlementRecord,
} from '../../ports/discoveryCatalogue.js'
import { foldAddress } from '../../protocol/foldAddress.js'
import { resolveConflict } from './resolveConflict.js'
import { refuse } from './settlementRules.js'
import { filterTokens, listTermTokens } from './tokens.js'

export interface DeclaredSettlement {
  readonly resource: ListedResource
  readonly terms: ListedTerms
  /** Null: an anonymous caller. */
  readonly accountId: string | null
  readonly settledAt: Date
  /** URL of the settlement, as sent. */
  readonly url: string
  /** Whether a resource is asked whom it wants paid. */
  readonly probesOwners: boolean
}

/** A busy resource is written once a minute, not with every settlement. */
const refreshMs = 60_000
/** Latest first; older ones fall out. */
const maxTerms = 32

/**
 * Of an account's listing only that account changes text and terms: every caller can pay its recipient. Of an anonymous
 * listing, settlements to one of its recipients do. Settlements to others change it once the resource names them.
 */
export const planRecord =
  (declared: DeclaredSettlement): SettlementRecord['plan'] =>
  (existing, isKnownPayer, challenge) => {
    if (existing === null) return write(declared, declared.accountId, [declared.terms])
    const isOwner = existing.accountId !== null && existing.accountId === declared.accountId
    const paysOwner = existing.terms.some((terms) => isSameRecipient(terms, declared.terms))
    const isUnlisted = existing.state === 'unlisted'
    if (!isOwner && !paysOwner && (declared.probesOwners || !isUnlisted)) {
      const resolved = resolveConflict(declared, existing, challenge)
      if (resolved.kind === 'moved') {
        return { ...write(declared, declared.accountId, [declared.terms]), replacesOwner: true }
      }
      if (resolved.kind !== 'added') return resolved
      if (isUnlisted) return refuse('unlisted_by_owner')
      return write(existing, existing.accountId, mergeTerms(existing.terms, declared.terms))
    }
    if (isUnlisted) return refuse('unlisted_by_owner')
    const isGuarded = existing.accountId !== null && !isOwner
    const resource = isGuarded ? existing.resource : declared.resource
    const terms = isGuarded ? existing.terms : mergeTerms(existing.terms, declared.terms)
    const isFresh = declared.settledAt.getTime() - existing.lastSettledAt.getTime() < refreshMs
    const isSame = isEqual(existing.resource, resource) && isEqual(existing.terms, terms)
    if (existing.state === 'listed' && isFresh && isKnownPayer && isSame) return { kind: 'unchanged' }
    return write({ ...declared, resource }, existing.accountId, terms)
  }

type WritePlan = Extract<RecordPlan, { readonly kind: 'write' }>

const write = (
  { resource }: Pick<DeclaredSettlement, 'resource'>,
  accountId: string | null,
  terms: readonly ListedTerms[],
): WritePlan => ({
  kind: 'write',
  resource,
  accountId,
  terms,
  replacesOwner: false,
  tokens: [
    ...new Set([
      ...listSearchWords(resource),
      filterTokens.type(resource.type),
      ...resource.extensionKeys.map(filterTokens.extension),
      ...terms.flatMap(listTermTokens),
    ]),
  ],
})

const isSameRecipient = (left: ListedTerms, right: ListedTerms): boolean =>
  left.network === right.network && foldAddress(left.payTo) === foldAddress(right.payTo)

const isSameOffer = (left: ListedTerms, right: ListedTerms): boolean =>
  isSameRecipient(left, right) &&
  left.scheme === right.scheme &&
  foldAddress(left.asset) === foldAddress(right.asset)

const mergeTerms = (known: CatalogueEntry['terms'], latest: ListedTerms): readonly ListedTerms[] =>
  [latest, ...known.filter((terms) => !isSameOffer(terms, latest))].slice(0, maxTerms)

const isEqual = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right)
