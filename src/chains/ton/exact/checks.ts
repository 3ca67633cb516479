import type { Address } from '@ton/core'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import { namesOf, type Rule, runRules, type Trace } from '../../../protocol/rules/rules.js'
import { readAddress, readCell } from '../encoding/cells.js'
import type { RelayLimits } from '../settings.js'
import type { DecodedPayment } from './decode.js'

interface Candidate {
  readonly decoded: DecodedPayment
  readonly payment: Payment
  readonly asset: Address
  readonly nowSeconds: number
  readonly marginSeconds: number
  /** Our relay wallets: the only allowed response destinations of a relayed payment. */
  readonly relays: readonly Address[]
  readonly relayLimits: RelayLimits
}

type Check = Rule<Candidate>['check']

const paysRecipient: Check = ({ decoded, payment }) =>
  readAddress(payment.requirements.payTo)?.equals(decoded.transfer.destination) === true
    ? null
    : 'recipient_mismatch'

// It would only cost our TON.
const paysSomeoneElse: Check = ({ decoded }) =>
  decoded.message.wallet.equals(decoded.transfer.destination) ? 'self_payment' : null

const paysAmount: Check = ({ decoded: { transfer }, payment: { requirements } }) => {
  if (requirements.amount === 0n) return 'invalid_payment_amount'
  if (transfer.amount < requirements.amount) return 'insufficient_amount'
  return transfer.amount === requirements.amount ? null : 'invalid_exact_tvm_payload_amount_mismatch'
}

const namesAsset: Check = ({ decoded, asset }) =>
  readAddress(decoded.namedAsset)?.equals(asset) === true ? null : 'asset_mismatch'

const hasNotExpired: Check = ({ decoded: { request }, nowSeconds, marginSeconds }) =>
  request.validUntil > nowSeconds + marginSeconds ? null : 'authorization_expired'

const skewSeconds = 30
// Wallets that choose their own validity sign for five minutes or less, whatever the requirements say.
const usualValiditySeconds = 300

const findLongestValidity = ({ requirements }: Pick<Payment, 'requirements'>): number =>
  Math.max(requirements.maxTimeoutSeconds, usualValiditySeconds) + skewSeconds

const expiresInTime: Check = ({ decoded: { request }, payment: { requirements }, nowSeconds }) => {
  return request.validUntil <= nowSeconds + findLongestValidity({ requirements })
    ? null
    : 'invalid_exact_tvm_payload_valid_until_too_far'
}

const allowedModes: readonly number[] = [1, 3]

const sendsOneStandardTransfer: Check = ({ decoded: { request } }) => {
  const { message } = request
  return message.isStandardTransfer && allowedModes.includes(message.mode)
    ? null
    : 'invalid_exact_tvm_payload_w5_actions'
}

const matchesPayloadForm: Check = ({ decoded: { request, isSponsored } }) =>
  request.isForRelay === isSponsored ? null : 'invalid_exact_tvm_payload_w5_actions'

// Bounds for a payment that the client's wallet pays for: enough to arrive, and a limit on the client's loss.
const clientValue = { least: 20_000_000n, most: 500_000_000n }

const attachesEnoughTon: Check = ({ decoded: { request, transfer, isSponsored }, relayLimits }) => {
  const { least } = isSponsored ? relayLimits : clientValue
  return request.message.nanoTon - transfer.forwardNanoTon >= least ? null : 'insufficient_ton_attached'
}

const limitsAttachedTon: Check = ({ decoded: { request, isSponsored }, relayLimits }) =>
  request.message.nanoTon <= (isSponsored ? relayLimits : clientValue).most
    ? null
    : 'invalid_exact_tvm_payload_attached_ton_amount_too_high'

// The client's own TON.
const mostForwardedByClient = 10_000_000n

const forwardsAsRequired: Check = ({ decoded: { transfer, isSponsored }, payment, relayLimits }) => {
  const { forwardTonAmount = '0', forwardPayload } = payment.requirements.extra
  const isRequired = isSponsored ? transfer.forwardNanoTon.toString() === String(forwardTonAmount) : true
  const required = typeof forwardPayload === 'string' ? readCell(forwardPayload) : null
  const { forwardPayload: carried } = transfer
  const isEmpty = carried.bits.length === 0 && carried.refs.length === 0
  const isRequiredPayload = forwardPayload == null ? isEmpty : required?.equals(carried) === true
  return isRequired &&
    isRequiredPayload &&
    transfer.forwardNanoTon <= (isSponsored ? relayLimits.mostForwarded : mostForwardedByClient) &&
    !transfer.hasCustomPayload
    ? null
    : 'invalid_exact_tvm_payload_jetton_transfer'
}

/**
 * Excess TON of a relayed payment returns to a relay wallet. Published resource servers name no response destination;
 * then the excess stays in the recipient's jetton wallet, so no more may be attached than the transfer needs.
 */
const returnsExcess: Check = ({ decoded, payment, relays, relayLimits }) => {
  const { request, transfer, isSponsored } = decoded
  if (!isSponsored) return null
  const { responseDestination: required } = payment.requirements.extra
  const { responseDestination: signed } = transfer
  const isRequired =
    required == null
      ? signed === null
      : typeof required === 'string' && signed !== null && isSame(required, signed)
  const isOurs = signed === null || relays.some((relay) => relay.equals(signed))
  if (!isRequired || !isOurs) return 'invalid_exact_tvm_payload_jetton_transfer'
  const attached = request.message.nanoTon - transfer.forwardNanoTon
  return signed !== null || attached <= relayLimits.mostUnreturned
    ? null
    : 'invalid_exact_tvm_payload_attached_ton_amount_too_high'
}

const isSame = (text: string, address: Address): boolean => readAddress(text)?.equals(address) === true

/** `namesAsset` compares the asset. */
const matchesCopy: Check = ({ decoded: { copy, message, transfer } }) => {
  if (copy === null) return null
  const isEqual =
    isSame(copy.from, message.wallet) &&
    isSame(copy.to, transfer.destination) &&
    BigInt(copy.jettonAmount) === transfer.amount
  return isEqual ? null : 'authorization_mismatch'
}

const rules: readonly Rule<Candidate>[] = [
  { name: 'message_form', check: matchesPayloadForm },
  { name: 'message_form', check: sendsOneStandardTransfer },
  {
    name: 'named_asset',
    check: namesAsset,
    compare: ({ decoded, payment }) => ({
      path: 'paymentPayload.payload.authorization.jettonMaster',
      found: decoded.namedAsset,
      expected: payment.requirements.asset,
    }),
  },
  {
    name: 'recipient',
    check: paysRecipient,
    compare: ({ decoded, payment }) => ({
      found: decoded.transfer.destination.toRawString(),
      expected: payment.requirements.payTo,
    }),
  },
  { name: 'self_payment', check: paysSomeoneElse },
  {
    name: 'authorized_amount',
    check: paysAmount,
    compare: ({ decoded, payment }) => ({
      found: decoded.transfer.amount,
      expected: `exactly ${payment.requirements.amount}, at least 1`,
    }),
  },
  {
    name: 'valid_before',
    check: hasNotExpired,
    compare: ({ decoded, nowSeconds, marginSeconds }) => ({
      found: decoded.request.validUntil,
      expected: `more than ${nowSeconds + marginSeconds}, which is now`,
    }),
  },
  {
    name: 'validity_limit',
    check: expiresInTime,
    compare: ({ decoded, payment, nowSeconds }) => ({
      found: `${decoded.request.validUntil - nowSeconds} s from now`,
      expected: `at most ${findLongestValidity(payment)} s`,
    }),
  },
  {
    name: 'attached_coin',
    check: attachesEnoughTon,
    compare: ({ decoded: { request, isSponsored }, relayLimits }) => ({
      found: `${request.message.nanoTon} nanoton`,
      expected: describeBounds(isSponsored ? relayLimits : clientValue),
    }),
  },
  { name: 'attached_coin', check: limitsAttachedTon },
  { name: 'forward_terms', check: forwardsAsRequired },
  { name: 'forward_terms', check: returnsExcess },
  { name: 'payload_copy', check: matchesCopy },
]

const describeBounds = ({ least, most }: Pick<RelayLimits, 'least' | 'most'>): string =>
  `${least} to ${most} nanoton, and what is forwarded`

export const messageRules = namesOf(rules)

/** First broken rule, or null. No chain access. */
export const findFailedCheck = (candidate: Candidate, trace?: Trace): Reason | null =>
  runRules(rules, candidate, trace)
