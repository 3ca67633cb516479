import type { AssetTerms } from '../../schemes/scheme.js'
import type { DraftTerms } from './completeRequirements.js'
import type { OfferDraft, Offers } from './offers.js'

const defaultTimeoutSeconds = 300

/** Why an amount is refused. */
export const tooLarge =
  'this instance has nodes of one host there, and settles no amount this large until it has two (cross_check_unavailable)'

interface Draft extends Omit<OfferDraft, 'maxTimeoutSeconds'> {
  readonly maxTimeoutSeconds: number | null | undefined
}

export interface OfferedTerms {
  readonly terms: AssetTerms
  readonly maxTimeoutSeconds: number
  /** Unique amount instead of the drafted one; null: the drafted one counts. */
  readonly issued: bigint | null
}

/** Issues what the recipient asks for. Null: the amount, as drafted or as issued, is too large for the network's nodes. */
export const offerWithinLimit = async (
  offers: Offers,
  { isTooLarge = () => false, ...terms }: DraftTerms,
  draft: Draft,
): Promise<OfferedTerms | null> => {
  const maxTimeoutSeconds = draft.maxTimeoutSeconds ?? defaultTimeoutSeconds
  // Before an amount is issued, which can still make it too large.
  if (draft.amount !== null && isTooLarge(draft.amount)) return null
  const offer = await offers.issue(terms, { ...draft, maxTimeoutSeconds })
  if (offer !== null && isTooLarge(offer.amount)) return null
  return {
    terms: { ...terms, extra: { ...terms.extra, ...offer?.extra } },
    maxTimeoutSeconds,
    issued: offer?.amount ?? null,
  }
}
