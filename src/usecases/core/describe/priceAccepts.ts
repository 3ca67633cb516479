import { AppError } from '../../../errors.js'
import type { PricedRequirements, PriceRequest } from '../../../protocol/accepts.js'
import { readDollars, readUint256 } from '../../../protocol/amount.js'
import { canonicalNetwork } from '../../../protocol/network.js'
import type { AssetTerms } from '../../../schemes/scheme.js'
import { completeExtra, type FindTerms } from './completeRequirements.js'
import { noOffers, type Offers, offerWithinLimit, tooLarge } from './offers.js'

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
