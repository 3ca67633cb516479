import { AppError } from '../../../errors.js'
import type {
  CompletedRequirements,
  PricedRequirements,
  PriceRequest,
  RequirementsDraft,
  RequirementsToComplete,
  RequirementsV1,
  RequirementsV2,
} from '../../../protocol/accepts.js'
import { readDollars, readUint256 } from '../../../protocol/amount.js'
import { canonicalNetwork } from '../../../protocol/network.js'
import type { AssetTerms } from '../../../schemes/scheme.js'
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

/** Requirements of version 1 for a price, which middlewares of this dialect translate for their own clients. */
export const createPriceAccepts =
  (findTerms: FindTerms, offers: Offers = noOffers) =>
  async (request: PriceRequest, caller = 'anonymous'): Promise<PricedRequirements> => {
    const { network, price, routeConfig, recipientAddress, serverWalletAddress, resourceUrl } = request
    const payTo = recipientAddress ?? serverWalletAddress
    if (payTo == null) throw new AppError('INVALID_REQUEST', 'recipientAddress: is required')
    const scheme = request.scheme ?? 'exact'
    const asset = typeof price === 'object' ? price.asset.address : null
    const terms = await findTerms({ scheme, network, asset, payTo, extra: request.extraMetadata, path: '' })
    if (terms === null) {
      throw new AppError(
        'INVALID_REQUEST',
        `network: this instance does not settle ${scheme} with this token there now`,
      )
    }
    const priced = readAmount(price, terms)
    const offered = await offerWithinLimit(offers, terms, {
      scheme,
      network,
      payTo,
      amount: priced,
      maxTimeoutSeconds: routeConfig?.maxTimeoutSeconds,
      caller,
      path: '',
    })
    if (offered === null) throw new AppError('INVALID_REQUEST', `price: ${tooLarge}`)
    const amount = `${offered.issued ?? priced}`
    const eip712 = typeof price === 'object' ? price.asset.eip712 : null
    return {
      payVersion: 1,
      x402Version: 1,
      t402Version: 1,
      error: 'Payment required',
      accepts: [
        {
          scheme,
          network,
          maxAmountRequired: amount,
          ...(scheme === 'upto' ? { maxAmount: amount } : {}),
          resource: resourceUrl,
          description: routeConfig?.description ?? '',
          mimeType: routeConfig?.mimeType ?? 'application/json',
          ...(routeConfig?.outputSchema == null ? {} : { outputSchema: routeConfig.outputSchema }),
          asset: terms.asset,
          payTo,
          maxTimeoutSeconds: offered.maxTimeoutSeconds,
          extra: {
            ...completeExtra(
              {
                ...request.extraMetadata,
                ...(eip712 == null ? {} : { name: eip712.name, version: eip712.version }),
              },
              offered.terms,
            ),
            ...signatureType(scheme, network),
          },
        },
      ],
    }
  }

/** Without it, clients of this dialect look the token's ABI up in a service of their own. */
const signatureType = (scheme: string, network: string) =>
  canonicalNetwork(network).startsWith('eip155:')
    ? { primaryType: scheme === 'upto' ? 'Permit' : 'TransferWithAuthorization' }
    : {}

const readAmount = (price: PriceRequest['price'], { decimals }: AssetTerms): bigint => {
  if (typeof price !== 'object' && decimals === null) {
    throw new AppError(
      'INVALID_REQUEST',
      'price: name an amount of a token; this network has no dollar token',
    )
  }
  const amount = typeof price === 'object' ? readUint256(price.amount) : readDollars(price, decimals ?? 0)
  if (amount !== null && amount > 0n) return amount
  throw new AppError('INVALID_REQUEST', 'price: must be positive dollars such as $0.01, exact in the token')
}
