import type { Address } from '@ton/core'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { Refusal } from '../../../schemes/scheme.js'
import { describeForeignMethod } from '../../../schemes/transferMethod.js'
import { readAddress } from '../encoding/cells.js'
import { type DecodedPayment, decodePayment } from './decode.js'
import { readClaimedPayer, readExactProof } from './payload.js'

type PaymentReading =
  | { readonly decoded: DecodedPayment; readonly asset: Address }
  | { readonly refused: Refusal }

/** Structure, and whether the asset is offered. */
export const readPayment = (payment: Payment, isOffered: (master: Address) => boolean): PaymentReading => {
  const reading = readExactProof(payment.proof)
  const claimed = readClaimedPayer(payment.proof)
  const foreign = describeForeignMethod(payment, ownMethod)
  if (foreign !== null) return toRefusal(claimed, 'unsupported_asset_transfer_method', foreign)
  if ('problem' in reading) return toRefusal(claimed, 'invalid_payload_structure', reading.problem)
  const decoding = decodePayment(reading.proof)
  if ('refusedAs' in decoding) return toRefusal(decoding.wallet ?? claimed, decoding.refusedAs)
  const { decoded } = decoding
  const asset = readAddress(payment.requirements.asset)
  return asset === null || !isOffered(asset)
    ? toRefusal(decoded.message.wallet, 'unsupported_asset')
    : { decoded, asset }
}

const ownMethod = { names: ['default'], fields: ['signedBoc', 'settlementBoc'] } as const

export const toRefusal = (payer: Address | null, reason: Reason, message?: string) => ({
  refused: {
    isValid: false,
    payer: payer?.toRawString() ?? null,
    reason,
    ...(message === undefined ? {} : { message }),
  } satisfies Refusal,
})
