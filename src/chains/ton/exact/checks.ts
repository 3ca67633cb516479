import type { Address } from '@ton/core'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import { readAddress, readCell } from '../encoding/cells.js'
import type { DecodedPayment } from './decode.js'

/** A decoded payment beside what it must satisfy. */
export interface Candidate {
  readonly decoded: DecodedPayment
  readonly payment: Payment
  readonly asset: Address
  readonly nowSeconds: number
  /** How long, beyond now, the message must still live. */
  readonly marginSeconds: number
  /** Our own wallets: where the rest of the TON that we attach may go. */
  readonly relays: readonly Address[]
  /** The least and the most nanoTON that we attach to a jetton transfer. */
  readonly relayValue: { readonly least: bigint; readonly most: bigint }
}

/** One row of the table: null when it holds. */
type Check = (candidate: Candidate) => Reason | null

const paysRecipient: Check = ({ decoded, payment }) =>
  readAddress(payment.requirements.payTo)?.equals(decoded.transfer.destination) === true
    ? null
    : 'recipient_mismatch'

// A transfer to oneself moves nothing but our TON.
const paysSomeoneElse: Check = ({ decoded }) =>
  decoded.message.wallet.equals(decoded.transfer.destination) ? 'self_payment' : null

const paysTheAmount: Check = ({ decoded: { transfer }, payment: { requirements } }) => {
  if (transfer.amount === 0n || transfer.amount < requirements.amount) return 'insufficient_amount'
  return transfer.amount === requirements.amount ? null : 'invalid_exact_tvm_payload_amount_mismatch'
}

const namesTheAsset: Check = ({ decoded, asset }) =>
  readAddress(decoded.namedAsset)?.equals(asset) === true ? null : 'asset_mismatch'

const hasNotExpired: Check = ({ decoded: { request }, nowSeconds, marginSeconds }) =>
  request.validUntil > nowSeconds + marginSeconds ? null : 'authorization_expired'

// Clocks differ, and clients reckon with their own.
const skewSeconds = 30

const endsInTime: Check = ({ decoded: { request }, payment: { requirements }, nowSeconds }) =>
  request.validUntil <= nowSeconds + requirements.maxTimeoutSeconds + skewSeconds
    ? null
    : 'invalid_exact_tvm_payload_valid_until_too_far'

const allowedModes: readonly number[] = [1, 3]

const sendsOnePlainMessage: Check = ({ decoded: { request } }) => {
  const { message } = request
  return message.isPlain && allowedModes.includes(message.mode)
    ? null
    : 'invalid_exact_tvm_payload_w5_actions'
}

const isOfItsForm: Check = ({ decoded: { request, isSponsored } }) =>
  request.isForRelay === isSponsored ? null : 'invalid_exact_tvm_payload_w5_actions'

// A client that pays for itself may try with little, and must not lose much.
const clientValue = { least: 20_000_000n, most: 500_000_000n }

const attachesEnoughTon: Check = ({ decoded: { request, transfer, isSponsored }, relayValue }) => {
  const { least } = isSponsored ? relayValue : clientValue
  return request.message.nanoTon - transfer.forwardNanoTon >= least ? null : 'insufficient_ton_attached'
}

const attachesNotTooMuchTon: Check = ({ decoded: { request, isSponsored }, relayValue }) =>
  request.message.nanoTon <= (isSponsored ? relayValue : clientValue).most
    ? null
    : 'invalid_exact_tvm_payload_attached_ton_amount_too_high'

/** What the client adds for the recipient: its own TON where it pays, exactly what is asked where we do. */
const maxForwardNanoTon = 10_000_000n

const forwardsWhatIsAsked: Check = ({ decoded: { transfer, isSponsored }, payment }) => {
  const { forwardTonAmount = '0', forwardPayload } = payment.requirements.extra
  const isAsked = isSponsored ? transfer.forwardNanoTon.toString() === String(forwardTonAmount) : true
  const asked = typeof forwardPayload === 'string' ? readCell(forwardPayload) : null
  const { forwardPayload: carried } = transfer
  const isEmpty = carried.bits.length === 0 && carried.refs.length === 0
  const isAskedPayload = forwardPayload == null ? isEmpty : asked?.equals(carried) === true
  return isAsked &&
    isAskedPayload &&
    transfer.forwardNanoTon <= maxForwardNanoTon &&
    !transfer.hasCustomPayload
    ? null
    : 'invalid_exact_tvm_payload_jetton_transfer'
}

/** What is left of our own TON comes back to us or stays; it is never the payer's or the recipient's to name. */
const returnsTheRest: Check = ({ decoded: { transfer, isSponsored }, payment, relays }) => {
  if (!isSponsored) return null
  const { responseDestination: asked } = payment.requirements.extra
  const { responseDestination: signed } = transfer
  const isAsked =
    asked == null ? signed === null : typeof asked === 'string' && signed !== null && isSame(asked, signed)
  const isOurs = signed === null || relays.some((relay) => relay.equals(signed))
  return isAsked && isOurs ? null : 'invalid_exact_tvm_payload_jetton_transfer'
}

const isSame = (text: string, address: Address): boolean => readAddress(text)?.equals(address) === true

/** The client's own copy says what the bytes say: who reads only the copy is not deceived. */
const agreesWithItsCopy: Check = ({ decoded: { copy, message, request, transfer } }) => {
  if (copy === null) return null
  const agrees =
    isSame(copy.from, message.wallet) &&
    isSame(copy.to, transfer.destination) &&
    BigInt(copy.jettonAmount) === transfer.amount &&
    BigInt(copy.tonAmount) === request.message.nanoTon &&
    BigInt(copy.queryId) === transfer.queryId &&
    copy.validUntil === request.validUntil &&
    copy.seqno === request.seqno
  return agrees ? null : 'authorization_mismatch'
}

const checks: readonly Check[] = [
  isOfItsForm,
  sendsOnePlainMessage,
  namesTheAsset,
  paysRecipient,
  paysSomeoneElse,
  paysTheAmount,
  hasNotExpired,
  endsInTime,
  attachesEnoughTon,
  attachesNotTooMuchTon,
  forwardsWhatIsAsked,
  returnsTheRest,
  agreesWithItsCopy,
]

/** The first rule that a candidate breaks, of those that need no chain, or null. */
export const findFailedCheck = (candidate: Candidate): Reason | null => {
  for (const check of checks) {
    const reason = check(candidate)
    if (reason !== null) return reason
  }
  return null
}
