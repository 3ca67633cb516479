import { filterTokens, listSearchWords, listTermTokens } from '../../extensions/bazaar/listing.js'
import type {
  CatalogueEntry,
  ListedResource,
  ListedTerms,
  OwnerChallenge,
  RecordPlan,
  SettlementRecord,
  StatedListing,
} from '../../ports/discovery.js'
import { foldAddress } from '../../protocol/assetId.js'
import { askedEveryMs, findAskedUrl, refuse, resolveConflict } from './resolveConflict.js'

interface DeclaredSettlement {
  readonly resource: ListedResource
  readonly terms: ListedTerms
  /** Null: an anonymous caller. */
  readonly accountId: string | null
  readonly settledAt: Date
  /** Whether a resource is asked what it says of itself. */
  readonly probesOwners: boolean
}

/** A busy resource is written once a minute, not with every settlement. */
const refreshMs = 60_000
/** Latest first; older ones fall out. */
const maxTerms = 32
/** What it said so long ago no longer counts. */
const statedForMs = 7 * 86_400_000

/**
 * Anyone can pay the recipient of a listing, and declare what it likes: text and terms are those that the resource states
 * itself. What it does not state is changed by the owning account alone; without one it stays as it was first. Settlements
 * to other recipients change the listing once the resource names them, also those of the owner: it could be a stranger, and
 * would join its own recipient with that of the shop.
 */
export const planRecord =
  (declared: DeclaredSettlement): SettlementRecord['plan'] =>
  (existing, { isKnownPayer, challenge, stated: latest }) => {
    if (existing === null) return write(declared, declared.accountId, [declared.terms])
    const isOwner = existing.accountId !== null && existing.accountId === declared.accountId
    const isUnlisted = existing.state === 'unlisted'
    if (isUnlisted && isOwner) return refuse('unlisted_by_owner')
    const stated = findStated(latest, existing.terms, declared)
    const named = existing.terms.filter((terms) => stated === null || names(stated, terms))
    const paysListed = named.some((terms) => isSameRecipient(terms, declared.terms))
    if (!paysListed && (declared.probesOwners || !(isOwner || isUnlisted))) {
      const resolved = resolveConflict(declared, existing, { challenge, stated: latest })
      if (resolved.kind === 'refused' || resolved.kind === 'pending') return resolved
      const said = findStated(latest, [declared.terms], declared)
      const paid = findOffer(said, declared.terms) ?? declared.terms
      if (resolved.kind === 'moved') {
        const resource = said?.resource ?? declared.resource
        // Proven is the recipient, not the account that settled, which could otherwise unlist what is not its own.
        return { ...write({ resource }, null, [paid]), resolves: 'moved' }
      }
      if (isUnlisted) return refuse('unlisted_by_owner')
      const terms = mergeTerms(named, paid)
      return { ...write(existing, existing.accountId, terms), resolves: 'added' }
    }
    const others = existing.terms.filter((terms) => !isSameRecipient(terms, declared.terms))
    const mayAskNow = declared.probesOwners && mayAsk(declared, challenge, latest)
    const isSquat =
      !isOwner && others.length > 0 && stated !== null && !others.some((terms) => names(stated, terms))
    if (isUnlisted && !isSquat) {
      const asks = others.length > 0 && mayAskNow ? findAskedUrl(existing.resource) : null
      return asks === null ? refuse('unlisted_by_owner') : { kind: 'pending', asks }
    }
    const accountId = isSquat ? null : existing.accountId
    const resource = stated?.resource ?? (isOwner ? declared.resource : existing.resource)
    const terms = planTerms(declared, named, { stated, isOwner })
    const isContradicted =
      !isEqual(textOf(declared.resource), textOf(resource)) || !includes(terms, declared.terms)
    const asks = isContradicted && mayAskNow ? findAskedUrl(resource) : null
    const isFresh = declared.settledAt.getTime() - existing.lastSettledAt.getTime() < refreshMs
    const isSame =
      isEqual(existing.resource, resource) &&
      isEqual(existing.terms, terms) &&
      existing.accountId === accountId
    if (existing.state === 'listed' && isFresh && isKnownPayer && isSame && asks === null) {
      return { kind: 'unchanged' }
    }
    return { ...write({ resource }, accountId, terms), asks }
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
  resolves: null,
  asks: null,
  tokens: [
    ...new Set([
      ...listSearchWords(resource),
      filterTokens.type(resource.type),
      ...resource.extensionKeys.map(filterTokens.extension),
      ...terms.flatMap(listTermTokens),
    ]),
  ],
})

/** What the resource said lately, if it wants one of these recipients paid. */
const findStated = (
  stated: StatedListing | null,
  terms: readonly ListedTerms[],
  { settledAt }: DeclaredSettlement,
): StatedListing | null => {
  if (stated === null || settledAt.getTime() - stated.at.getTime() >= statedForMs) return null
  return terms.some((each) => names(stated, each)) ? stated : null
}

const names = ({ recipients }: StatedListing, { network, payTo }: ListedTerms): boolean =>
  recipients.some((each) => each.network === network && each.payTo === foldAddress(payTo))

const findOffer = (stated: StatedListing | null, wanted: ListedTerms): ListedTerms | undefined =>
  stated?.offers.find((offer) => isSameOffer(offer, wanted))

/** Prices are the stated ones. Terms that are not stated are added by the owner alone. */
const planTerms = (
  declared: DeclaredSettlement,
  terms: CatalogueEntry['terms'],
  { stated, isOwner }: { readonly stated: StatedListing | null; readonly isOwner: boolean },
): readonly ListedTerms[] => {
  const confirmed = terms.map((each) => findOffer(stated, each) ?? each)
  const paid = findOffer(stated, declared.terms) ?? (isOwner ? declared.terms : null)
  return paid === null ? confirmed : mergeTerms(confirmed, paid)
}

const mayAsk = (
  { settledAt }: DeclaredSettlement,
  challenge: OwnerChallenge | null,
  stated: StatedListing | null,
): boolean => {
  const isOld = (at: Date) => settledAt.getTime() - at.getTime() >= askedEveryMs
  if (stated !== null && !isOld(stated.at)) return false
  return challenge === null || (challenge.answer !== null && isOld(challenge.answer.answeredAt))
}

/** `version` is how it was sent, not what is said. */
const textOf = ({ version: _version, extensionKeys: _keys, ...text }: ListedResource) => text

const includes = (terms: readonly ListedTerms[], wanted: ListedTerms): boolean =>
  terms.some((each) => isSameOffer(each, wanted) && each.amount === wanted.amount)

const isSameRecipient = (left: ListedTerms, right: ListedTerms): boolean =>
  left.network === right.network && foldAddress(left.payTo) === foldAddress(right.payTo)

const isSameOffer = (left: ListedTerms, right: ListedTerms): boolean =>
  isSameRecipient(left, right) &&
  left.scheme === right.scheme &&
  foldAddress(left.asset) === foldAddress(right.asset)

const mergeTerms = (known: CatalogueEntry['terms'], latest: ListedTerms): readonly ListedTerms[] =>
  [latest, ...known.filter((terms) => !isSameOffer(terms, latest))].slice(0, maxTerms)

const isEqual = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right)
