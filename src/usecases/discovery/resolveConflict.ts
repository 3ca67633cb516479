import { statementUrlOf } from '../../extensions/bazaar/recipients.js'
import { isTemplateKey } from '../../extensions/bazaar/resourceUrl.js'
import type {
  CatalogueEntry,
  ChallengedRecipient,
  KnownOfListing,
  ListedResource,
  ListedTerms,
  OwnerChallenge,
  ProbeAnswer,
  RecordPlan,
  StatedListing,
} from '../../ports/discovery.js'
import { foldAddress } from '../../protocol/assetId.js'

export const settlementRules = {
  claimed_by_another_payee:
    'The resource is listed for another account or recipient; only its owner changes its listing.',
  ownership_unproven:
    'The resource is listed for another payee; the resource is asked whom it wants paid. Settle again in a minute.',
  unlisted_by_owner:
    'The owner unlisted the resource; it is listed again after POST /discovery/resources/{id}/relist.',
  listing_queued:
    'Listed within seconds, after this answer; the answer to the next settlement of it says what became of it.',
  settlement_pending: 'Listed by the first settlement of it that is confirmed.',
  catalogue_busy:
    'Too many settlements of this caller wait for the catalogue; listed by the next settlement of it.',
  catalogue_unavailable:
    'The catalogue did not answer, also when it was asked again; listed by the next settlement of it.',
} as const

export const refuse = (
  rule: keyof typeof settlementRules,
  reason: string = settlementRules[rule],
): Extract<RecordPlan, { readonly kind: 'refused' }> => ({ kind: 'refused', rule, reason })

interface ConflictingSettlement {
  readonly resource: ListedResource
  readonly terms: ListedTerms
  readonly settledAt: Date
  readonly probesOwners: boolean
}

/** `added`: the resource asks to pay the owner's recipients and this one; `moved`: only this one. */
type ResolvedConflict =
  | Extract<RecordPlan, { readonly kind: 'refused' | 'pending' }>
  | { readonly kind: 'added' }
  | { readonly kind: 'moved' }

interface Answered {
  readonly isOwn: boolean
  readonly answer: ProbeAnswer
}

const hourMs = 3_600_000
const validMs = { named: 7 * 24 * hourMs, other: 24 * hourMs, unusable: hourMs } as const
/** A resource is asked at most so often for all who claim it: its latest answer decides in between. */
export const askedEveryMs = hourMs
/** After it no answer counts. */
export const longestValidMs = Math.max(...Object.values(validMs))

/** A settlement for a listed resource to another recipient: decided by what the resource answered. */
export const resolveConflict = (
  settlement: ConflictingSettlement,
  { terms }: Pick<CatalogueEntry, 'terms'>,
  { challenge, stated }: Pick<KnownOfListing, 'challenge' | 'stated'>,
): ResolvedConflict => {
  const { resource, settledAt, probesOwners } = settlement
  if (!probesOwners) return refuse('claimed_by_another_payee')
  if (challenge !== null && challenge.answer === null) return { kind: 'pending', asks: null }
  const latest = findLatest(challenge, stated)
  const challenger = toRecipient(settlement.terms)
  if (latest === null || hasExpired(latest, challenger, settledAt)) {
    return { kind: 'pending', asks: findAskedUrl(resource) }
  }
  const { answer } = latest
  if (answer.recipients === null) {
    return refuse(
      'ownership_unproven',
      `The resource is listed for another payee, and was asked whom it wants paid. ${answer.problem ?? ''} It is asked again by a settlement an hour later.`,
    )
  }
  if (!includes(answer.recipients, challenger)) {
    return refuse(
      'claimed_by_another_payee',
      `The resource is listed for another payee, and its answer does not ask to pay the recipient of this settlement. It is asked again by a settlement ${latest.isOwn ? 'a day' : 'an hour'} later.`,
    )
  }
  const { recipients } = answer
  return { kind: terms.some((each) => includes(recipients, toRecipient(each))) ? 'added' : 'moved' }
}

/**
 * Only a resource with a URL of its own answers for itself: one path below a template may belong to another than the rest,
 * and a GET to an MCP server names no tool. For those the host is asked.
 */
export const findAskedUrl = ({ type, key }: ListedResource): string =>
  type === 'mcp' || isTemplateKey(key) ? statementUrlOf(key) : key.url

/**
 * Challenges are deleted when they are resolved; what the resource stated is kept, and a later answer without recipients does
 * not end it: a resource can be kept from answering.
 */
const findLatest = (challenge: OwnerChallenge | null, stated: StatedListing | null): Answered | null => {
  const answer = challenge?.answer ?? null
  const isLatest =
    stated === null ||
    (answer !== null && answer.recipients !== null && answer.answeredAt.getTime() >= stated.at.getTime())
  if (challenge !== null && answer !== null && isLatest) return { isOwn: challenge.isOwn, answer }
  if (stated === null) return null
  return { isOwn: false, answer: { recipients: stated.recipients, problem: null, answeredAt: stated.at } }
}

const hasExpired = (
  { isOwn, answer: { recipients, answeredAt } }: Answered,
  challenger: ChallengedRecipient,
  at: Date,
): boolean => {
  const kind = recipients === null ? 'unusable' : includes(recipients, challenger) ? 'named' : 'other'
  // Who is named may be so for another's question: a squatter that asks as well delays no shop.
  const heldForMs = kind === 'named' || isOwn ? validMs[kind] : askedEveryMs
  return at.getTime() - answeredAt.getTime() >= heldForMs
}

const toRecipient = ({ network, payTo }: ListedTerms): ChallengedRecipient => ({
  network,
  payTo: foldAddress(payTo),
})

const includes = (
  recipients: readonly ChallengedRecipient[],
  { network, payTo }: ChallengedRecipient,
): boolean => recipients.some((each) => each.network === network && each.payTo === payTo)
