import { AppError } from '../../../errors.js'
import type {
  CompletedRequirements,
  RequirementsDraft,
  RequirementsToComplete,
  RequirementsV1,
  RequirementsV2,
} from '../../../protocol/accepts.js'
import { readUint256 } from '../../../protocol/amount.js'
import { completeExtra, type FindTerms } from './completeRequirements.js'
import { noOffers, type Offers, offerWithinLimit, tooLarge } from './offers.js'

/** Completes each entry in the protocol version of the request; leaves out what cannot be settled now. */
export const createCompleteAccepts =
  (findTerms: FindTerms, offers: Offers = noOffers) =>
  async (request: RequirementsToComplete, caller = 'anonymous'): Promise<CompletedRequirements> => {
    const version = request.payVersion ?? request.x402Version ?? request.t402Version ?? 2
    const { resource } = request
    const described = typeof resource === 'string' ? { url: resource } : resource
    const url = described?.url ?? request.accepts.find((each) => each.resource !== undefined)?.resource ?? ''

    let isTooLarge = false
    const complete = async (draft: RequirementsDraft, at: number) => {
      const { scheme = 'exact', network, asset = null, payTo, extra } = draft
      const terms = await findTerms({ scheme, network, asset, payTo, extra, path: `accepts.${at}.` })
      if (terms === null) return null
      const drafted = readDrafted(draft)
      const offered = await offerWithinLimit(offers, terms, {
        scheme,
        network,
        payTo,
        amount: readUint256(drafted),
        maxTimeoutSeconds: draft.maxTimeoutSeconds,
        caller,
        path: `accepts.${at}.`,
      })
      if (offered === null) {
        isTooLarge = true
        return null
      }
      const shared = {
        scheme,
        network,
        asset: terms.asset,
        payTo,
        maxTimeoutSeconds: offered.maxTimeoutSeconds,
        extra: completeExtra(draft.extra, offered.terms),
        ...describePart(scheme, draft),
      }
      const amount = offered.issued === null ? drafted : `${offered.issued}`
      return version === 1 ? toVersion1(draft, { ...shared, amount }, url) : { ...shared, amount }
    }

    const completed = await Promise.all(request.accepts.map(complete))
    const accepts = completed.filter((each) => each !== null)
    if (accepts.length === 0) {
      throw new AppError(
        'INVALID_REQUEST',
        isTooLarge
          ? `accepts: ${tooLarge}`
          : 'accepts: this instance settles none of them now; see /supported',
      )
    }
    return {
      payVersion: version,
      x402Version: version,
      t402Version: version,
      ...(version === 1 ? { error: 'Payment required' } : {}),
      resource: { ...described, url },
      accepts,
    }
  }

const readDrafted = ({ amount, maxAmountRequired, maxAmount }: RequirementsDraft): string =>
  amount ?? maxAmountRequired ?? maxAmount ?? ''

/** Clients of `upto` read `maxAmount` or `amount`. */
const describePart = (scheme: string, draft: RequirementsDraft) =>
  scheme === 'upto'
    ? {
        maxAmount: readDrafted(draft),
        ...(draft.minAmount === undefined ? {} : { minAmount: draft.minAmount }),
      }
    : {}

const toVersion1 = (
  draft: RequirementsDraft,
  { amount, ...shared }: RequirementsV2,
  url: string,
): RequirementsV1 => ({
  ...shared,
  maxAmountRequired: amount,
  resource: draft.resource ?? url,
  description: draft.description ?? '',
  mimeType: draft.mimeType ?? '',
})
