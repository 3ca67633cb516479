import { randomBytes } from 'node:crypto'
import { AppError } from '../../../errors.js'
import type { Clock } from '../../../ports/clock.js'
import type { UniqueAmounts } from '../../../ports/recipients.js'
import { canonicalNetwork } from '../../../protocol/network.js'
import type { SchemeRegistry } from '../../../schemes/registry.js'
import type { AssetTerms } from '../../../schemes/scheme.js'
import { type ClaimRules, digestOffer, findPurse } from '../verify/claimRules.js'
import type { DraftTerms } from './completeRequirements.js'

export interface OfferDraft {
  readonly scheme: string
  /** As the caller named it. */
  readonly network: string
  readonly payTo: string
  /** Null if the draft has none that can be read. */
  readonly amount: bigint | null
  readonly maxTimeoutSeconds: number
  /** Account id, or `anonymous`. */
  readonly caller: string
  /** Path of the draft in the request, for messages. */
  readonly path: string
}

interface Offer {
  readonly amount: bigint
  /** For `extra` of the requirements. */
  readonly extra: { readonly offer: string }
}

export interface Offers {
  /**
   * Null where the recipient asks for no unique amounts. Throws FORBIDDEN for callers that may issue none, and
   * SERVICE_UNAVAILABLE while none is free. Strangers cannot use up the amounts here, but they can through a paywall that issues
   * one per request: limiting that is the resource server's.
   */
  issue(terms: AssetTerms, draft: OfferDraft): Promise<Offer | null>
}

export const noOffers: Offers = { issue: async () => null }

interface OffersDependencies {
  readonly registry: SchemeRegistry
  readonly claimRules: Pick<ClaimRules, 'findStatement'>
  readonly uniqueAmounts: UniqueAmounts
  readonly clock: Clock
}

const centDigits = 2
const mostTails = 9_999
const longestTimeoutSeconds = 3_600
// A payment that was sent in time can be claimed until it is too old; then the amount rests.
const restMs = 600_000

export const createOffers = ({ registry, claimRules, uniqueAmounts, clock }: OffersDependencies): Offers => ({
  issue: async ({ asset, decimals }, draft) => {
    const { payTo, amount, maxTimeoutSeconds, caller, path } = draft
    const scheme = registry.find(draft.scheme, canonicalNetwork(draft.network))
    const statement = scheme === null ? null : await claimRules.findStatement(scheme, payTo)
    if (scheme === null || statement?.demands.uniqueAmount !== true) return null
    if (statement.accountId !== caller) {
      throw new AppError(
        'FORBIDDEN',
        `${path}payTo: its recipient has unique amounts, which are issued only to API keys of its project`,
      )
    }
    if (amount === null || amount === 0n) {
      throw new AppError('INVALID_REQUEST', `${path}amount: must be a positive number of smallest units`)
    }
    const maxTail = decimals === null ? 0 : Math.min(10 ** Math.max(decimals - centDigits, 0) - 1, mostTails)
    if (maxTail === 0) {
      throw new AppError('INVALID_REQUEST', `${path}asset: has no units below a cent for unique amounts`)
    }
    const issuedAt = clock.now()
    const validMs = 2 * Math.min(maxTimeoutSeconds, longestTimeoutSeconds) * 1_000
    const offer = randomBytes(16).toString('hex')
    const issued = await uniqueAmounts.issue({
      purse: findPurse(scheme, payTo, asset),
      base: amount,
      maxTail,
      digest: digestOffer(offer),
      issuedAt,
      expiresAt: new Date(issuedAt.getTime() + validMs + restMs),
    })
    if (issued !== null) return { amount: issued, extra: { offer } }
    throw new AppError('SERVICE_UNAVAILABLE', `${path}amount: all its unique amounts are in use; retry`, {
      retryAfterSeconds: 60,
    })
  },
})

const defaultTimeoutSeconds = 300

/** Why an amount is refused. */
export const tooLarge =
  'this instance has nodes of one host there, and settles no amount this large until it has two (cross_check_unavailable)'

interface Draft extends Omit<OfferDraft, 'maxTimeoutSeconds'> {
  readonly maxTimeoutSeconds: number | null | undefined
}

interface OfferedTerms {
  readonly terms: AssetTerms
  readonly maxTimeoutSeconds: number
  /** Unique amount instead of the drafted one; null: the drafted one counts. */
  readonly issued: bigint | null
}

/** Issues what the recipient asks for. Null: the amount, as drafted or as issued, is too large for the network's nodes. */
export const offerWithinLimit = async (
  offers: Offers,
  { isTooLarge, ...terms }: DraftTerms,
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
