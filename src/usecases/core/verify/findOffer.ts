import { createHash } from 'node:crypto'
import type { OfferedAmount, Purse, UniqueAmounts } from '../../../ports/recipients.js'
import { canonicalAsset } from '../../../protocol/assetId.js'
import type { PaymentRequirements } from '../../../protocol/payment.js'
import type { Scheme } from '../../../schemes/scheme.js'
import { normalizeWith } from '../../../schemes/spelling.js'

export const digestOffer = (offer: string): Buffer => createHash('sha256').update(offer).digest()

export const findPurse = (scheme: Scheme, payTo: string, asset: string): Purse => ({
  network: scheme.kind.network,
  payTo: normalizeWith(scheme.network, payTo),
  asset: normalizeWith(scheme.network, canonicalAsset(scheme.kind.network, asset)),
})

/** The offer that requirements carry; null if they carry none, or not this amount. */
export const findOffer = async (
  uniqueAmounts: Pick<UniqueAmounts, 'find'>,
  scheme: Scheme,
  { payTo, asset, amount, extra }: Pick<PaymentRequirements, 'payTo' | 'asset' | 'amount' | 'extra'>,
): Promise<OfferedAmount | null> => {
  const { offer } = extra
  if (typeof offer !== 'string') return null
  return await uniqueAmounts.find({
    purse: findPurse(scheme, payTo, asset),
    amount,
    digest: digestOffer(offer),
  })
}
