import { readUint256 } from './amount.js'
import { canonicalAsset } from './assetId.js'
import { canonicalNetwork } from './network.js'
import type { PaymentRequirements } from './payment.js'
import type { Failure, Rule } from './rules/rules.js'
import type { PayloadShape, WirePaymentRequest } from './wire.js'

type AcceptedTerms = NonNullable<PayloadShape['accepted']>

/** Null if unreadable, or if aliases differ. */
export const readAcceptedAmount = ({
  amount,
  maxAmountRequired,
  maxAmount,
}: AcceptedTerms): bigint | null => {
  const [first, ...others] = [amount, maxAmountRequired, maxAmount].filter((each) => each !== undefined)
  const accepted = readUint256(first)
  return others.every((other) => readUint256(other) === accepted) ? accepted : null
}

interface TermsCandidate {
  readonly body: WirePaymentRequest
  readonly payload: PayloadShape
  readonly requirements: PaymentRequirements
  /** Where the payload names scheme and network. */
  readonly terms: Pick<PayloadShape, 'scheme' | 'network'>
  readonly isForSettle: boolean
}

type TermsRule = Rule<TermsCandidate, Failure>

const namesTerms: TermsRule['check'] = ({ terms: { scheme, network } }) => {
  const missing = scheme === undefined ? 'scheme' : network === undefined ? 'network' : null
  return missing === null
    ? null
    : { reason: 'invalid_payload_structure', message: `paymentPayload.${missing} is required` }
}

const acceptsAmount: TermsRule['check'] = ({ body, payload, requirements, isForSettle }) => {
  if (payload.accepted === undefined) return null
  const amount = readAcceptedAmount(payload.accepted)
  // At settle, x402 servers send the charge where the maximum was.
  const isPart = requirements.scheme === 'upto' && amount !== null && amount > requirements.amount
  if (amount === requirements.amount || isPart) return null
  return isForSettle && isChargeAboveMaximum(body, payload, requirements)
    ? 'invalid_upto_evm_payload_settlement_exceeds_amount'
    : mismatch('amount')
}

// Hex addresses are case-insensitive, base58 is not. The scheme checks what was signed.
const acceptsAsset: TermsRule['check'] = ({ payload: { accepted }, requirements: { network, asset } }) =>
  accepted === undefined || isSameIdentifier(canonicalAsset(network, accepted.asset), asset)
    ? null
    : mismatch('asset')

const acceptsRecipient: TermsRule['check'] = ({ payload: { accepted }, requirements: { payTo } }) =>
  accepted === undefined || isSameIdentifier(accepted.payTo, payTo) ? null : mismatch('payTo')

const mismatch = (field: string): Failure => ({
  reason: 'accepted_requirements_mismatch',
  message: `paymentPayload.accepted.${field} differs from the requirements`,
})

const pathOf = ({ payload }: TermsCandidate, field: string): string =>
  payload.accepted === undefined ? `paymentPayload.${field}` : `paymentPayload.accepted.${field}`

/** Whether the client pays what the resource server asks for. */
export const termsRules: readonly TermsRule[] = [
  { name: 'payload_terms', check: namesTerms },
  {
    name: 'scheme_match',
    check: ({ terms, requirements }) => (terms.scheme === requirements.scheme ? null : 'unsupported_scheme'),
    compare: (candidate) => ({
      path: pathOf(candidate, 'scheme'),
      found: candidate.terms.scheme,
      expected: `${candidate.requirements.scheme}, as in paymentRequirements`,
    }),
  },
  {
    name: 'network_match',
    check: ({ terms, requirements }) =>
      terms.network !== undefined && canonicalNetwork(terms.network) === requirements.network
        ? null
        : 'network_mismatch',
    compare: (candidate) => ({
      path: pathOf(candidate, 'network'),
      found: candidate.terms.network,
      expected: `${candidate.requirements.network}, as in paymentRequirements`,
    }),
  },
  {
    name: 'accepted_amount',
    check: acceptsAmount,
    compare: ({ payload: { accepted }, requirements }) => ({
      path: 'paymentPayload.accepted.amount',
      found: accepted?.amount ?? accepted?.maxAmountRequired ?? accepted?.maxAmount,
      expected: `${requirements.amount}, as in paymentRequirements`,
    }),
  },
  {
    name: 'accepted_asset',
    check: acceptsAsset,
    compare: ({ payload: { accepted }, requirements }) => ({
      path: 'paymentPayload.accepted.asset',
      found: accepted?.asset,
      expected: `${requirements.asset}, as in paymentRequirements`,
    }),
  },
  {
    name: 'accepted_pay_to',
    check: acceptsRecipient,
    compare: ({ payload: { accepted }, requirements }) => ({
      path: 'paymentPayload.accepted.payTo',
      found: accepted?.payTo,
      expected: `${requirements.payTo}, as in paymentRequirements`,
    }),
  },
]

/** x402's servers settle `upto` by Permit2 with the charge in the place of the maximum that the client accepted. */
const isChargeAboveMaximum = (
  { settleAmount }: WirePaymentRequest,
  { accepted, payload }: PayloadShape,
  { scheme, amount }: PaymentRequirements,
): boolean => {
  const maximum = accepted === undefined ? null : readAcceptedAmount(accepted)
  const isCharge =
    scheme === 'upto' && settleAmount === undefined && payload.permit2Authorization !== undefined
  return isCharge && maximum !== null && amount > maximum
}

const isSameIdentifier = (left: string, right: string): boolean =>
  left === right || (left.startsWith('0x') && left.toLowerCase() === right.toLowerCase())
