import type { z } from 'zod'
import { readUint256 } from './amount.js'
import { canonicalAsset } from './assetId.js'
import { describeIssue, type Fields, isFields } from './fields.js'
import { canonicalNetwork } from './network.js'
import type { Payment, PaymentRequirements, RefusedPayment } from './payment.js'
import type { Reason } from './reasons.js'
import { normalizeSignedTransaction } from './signedTransaction.js'
import { type PayloadShape, payloadShape, type WirePaymentRequest, type WireRequirements } from './wire.js'

/* Normalizes version 1, the flat shape and version 2 into one `Payment`. */

/** Accepts every supported shape. An invalid payload is a refusal, not an error. */
export const readPayment = (
  body: WirePaymentRequest,
  { isForSettle = false }: { readonly isForSettle?: boolean } = {},
): Payment | RefusedPayment => {
  const callerNetwork = body.paymentRequirements.network
  const refuse = (reason: Reason, message?: string): RefusedPayment =>
    message === undefined ? { callerNetwork, reason } : { callerNetwork, reason, message }

  const payload = readPayload(body.paymentPayload)
  if (typeof payload === 'string') return refuse('invalid_payload_structure', payload)
  if (hasLongText(payload.payload)) return refuse('invalid_payload_structure', longTextMessage)

  const version = readVersion(body, payload)
  if (version === null) return refuse('invalid_x402_version')
  if (version === 'ambiguous') {
    return refuse('invalid_x402_version', 'payVersion, x402Version and t402Version do not agree')
  }

  if (version === 1 && body.paymentRequirements.scheme === 'upto') {
    return refuse('unsupported_scheme', 'upto: belongs to version 2 of the protocol')
  }

  const requirements = readRequirements(body.paymentRequirements)
  if (requirements === null) {
    return refuse('invalid_payload_structure', 'paymentRequirements.amount exceeds uint256')
  }

  const terms = payload.accepted ?? payload
  if (terms.scheme === undefined)
    return refuse('invalid_payload_structure', 'paymentPayload.scheme is required')
  if (terms.network === undefined)
    return refuse('invalid_payload_structure', 'paymentPayload.network is required')
  if (terms.scheme !== requirements.scheme) return refuse('unsupported_scheme')
  if (canonicalNetwork(terms.network) !== requirements.network) return refuse('network_mismatch')
  const mismatch = payload.accepted === undefined ? null : findMismatch(payload.accepted, requirements)
  if (mismatch === 'amount' && isForSettle && isChargeAboveMaximum(body, payload, requirements)) {
    return refuse('invalid_upto_evm_payload_settlement_exceeds_amount')
  }
  if (mismatch !== null) {
    return refuse(
      'accepted_requirements_mismatch',
      `paymentPayload.accepted.${mismatch} differs from the requirements`,
    )
  }

  return {
    version,
    callerNetwork,
    requirements,
    proof: normalizeSignedTransaction(nestFlatProof(payload.payload)),
    ...(typeof payload.payer === 'string' ? { statedPayer: payload.payer } : {}),
    resource: readResource(payload, body.paymentRequirements),
    settleAmount: readUint256(body.settleAmount),
    acceptedAmount: payload.accepted === undefined ? null : readAcceptedAmount(payload.accepted),
    usageDetails: body.usageDetails ?? null,
    ...readExtensions(payload, body.paymentRequirements),
    resourceDetails: readResourceDetails(payload, body.paymentRequirements, version),
  }
}

export const isRefused = (reading: Payment | RefusedPayment): reading is RefusedPayment => 'reason' in reading

const readPayload = (payload: unknown): PayloadShape | string => {
  const parsed = payloadShape.safeParse(payload)
  if (parsed.success) return parsed.data
  // Parsed again for the message: a custom error function would cost each valid payload more than the parse itself.
  return describeFirst(payloadShape.safeParse(payload, { error: describeIssue }).error ?? parsed.error)
}

const describeFirst = (error: z.ZodError): string => {
  const issue = error.issues[0]
  if (issue === undefined) return 'paymentPayload is malformed'
  return `${['paymentPayload', ...issue.path].join('.')}: ${issue.message}`
}

const readVersion = (body: WirePaymentRequest, payload: PayloadShape): 1 | 2 | 'ambiguous' | null => {
  let version: number | undefined
  for (const { payVersion, x402Version, t402Version } of [body, payload]) {
    for (const candidate of [payVersion, x402Version, t402Version]) {
      if (candidate === undefined) continue
      if (version !== undefined && candidate !== version) return 'ambiguous'
      version = candidate
    }
  }
  // No version field: only version 2 has `accepted`, and `upto`.
  if (version === undefined) {
    return payload.accepted === undefined && body.paymentRequirements.scheme !== 'upto' ? 1 : 2
  }
  return version === 1 || version === 2 ? version : null
}

const readRequirements = (wire: WireRequirements): PaymentRequirements | null => {
  const amount = readUint256(wire.amount ?? wire.maxAmountRequired ?? wire.maxAmount)
  if (amount === null) return null
  const network = canonicalNetwork(wire.network)
  return {
    scheme: wire.scheme,
    network,
    amount,
    minAmount: readUint256(wire.minAmount),
    asset: canonicalAsset(network, wire.asset),
    payTo: wire.payTo,
    maxTimeoutSeconds: wire.maxTimeoutSeconds ?? defaultTimeoutSeconds,
    extra: wire.extra ?? {},
  }
}

const defaultTimeoutSeconds = 300

type AcceptedTerms = NonNullable<PayloadShape['accepted']>

/** Null if unreadable, or if aliases differ. */
const readAcceptedAmount = ({ amount, maxAmountRequired, maxAmount }: AcceptedTerms): bigint | null => {
  const [first, ...others] = [amount, maxAmountRequired, maxAmount].filter((each) => each !== undefined)
  const accepted = readUint256(first)
  return others.every((other) => readUint256(other) === accepted) ? accepted : null
}

const findMismatch = (accepted: AcceptedTerms, requirements: PaymentRequirements): string | null => {
  const amount = readAcceptedAmount(accepted)
  if (amount === null) return 'amount'
  // x402 puts the charge in the place of the maximum at settle.
  const isPart = requirements.scheme === 'upto' && amount > requirements.amount
  if (amount !== requirements.amount && !isPart) return 'amount'
  // Hex addresses are case-insensitive, base58 is not. The scheme checks what was signed.
  if (!isSameIdentifier(canonicalAsset(requirements.network, accepted.asset), requirements.asset))
    return 'asset'
  if (!isSameIdentifier(accepted.payTo, requirements.payTo)) return 'payTo'
  return null
}

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

const authorizationFields = ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'] as const

/** The flat shape has the authorization's fields beside the signature, and times as numbers. */
const nestFlatProof = (proof: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  if ('authorization' in proof || !('nonce' in proof && 'signature' in proof && 'from' in proof)) return proof
  const authorization: Record<string, unknown> = {}
  for (const field of authorizationFields) authorization[field] = toText(proof[field])
  return { signature: proof.signature, authorization }
}

const toText = (value: unknown): unknown => (Number.isSafeInteger(value) ? String(value) : value)

/** The requirements take precedence; the payload only repeats the resource. */
const readResource = (payload: PayloadShape, requirements: WireRequirements): string | null => {
  const repeated = typeof payload.resource === 'string' ? payload.resource : payload.resource?.url
  return requirements.resource ?? repeated ?? null
}

const none: Fields = {}

const readExtensions = (
  { extensions: sent }: PayloadShape,
  requirements: WireRequirements,
): Pick<Payment, 'extensions' | 'declaredExtensions' | 'clientExtensions'> => {
  const declaredExtensions = requirements.extensions ?? none
  const clientExtensions = isFields(sent) ? sent : none
  if (declaredExtensions === none || clientExtensions === none) {
    const only = declaredExtensions === none ? clientExtensions : declaredExtensions
    return { extensions: only, declaredExtensions, clientExtensions }
  }
  const merged = Object.entries(declaredExtensions).map(
    ([key, declared]) => [key, addInfo(declared, clientExtensions[key])] as const,
  )
  const extensions = { ...clientExtensions, ...Object.fromEntries(merged) }
  return { extensions, declaredExtensions, clientExtensions }
}

/** Clients put their data, such as a permit, beside what the resource server says in `info`. */
const addInfo = (declared: unknown, sent: unknown): unknown =>
  isFields(declared) && isFields(sent) && isFields(declared.info) && isFields(sent.info)
    ? { ...declared, info: { ...sent.info, ...declared.info } }
    : declared

const readResourceDetails = (
  payload: PayloadShape,
  { description, mimeType, outputSchema }: WireRequirements,
  version: 1 | 2,
): Fields => {
  if (version === 2) return isFields(payload.resource) ? payload.resource : none
  return { description, mimeType, outputSchema }
}

/** An EIP-6492 signature has up to 16 kB, because its factory deploys a wallet; hex doubles that. */
const maxSignatureLength = 32_770
/** The longest of the other texts, a signed transaction of TON, has about 4 kB. */
const maxTextLength = 16_384

/**
 * A proof with a text that is longer than any family reads is refused before it is decoded or hashed. It loops
 * instead of recursing, because proofs of any depth reach it.
 */
const hasLongText = (proof: unknown): boolean => {
  const open: (readonly [name: string, value: unknown])[] = [['', proof]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [name, value] = next
    if (typeof value === 'string') {
      if (value.length > (name === 'signature' ? maxSignatureLength : maxTextLength)) return true
    } else if (typeof value === 'object' && value !== null) {
      for (const entry of Object.entries(value)) open.push(entry)
    }
  }
  return false
}

const longTextMessage = `paymentPayload.payload: a text has more than ${maxTextLength} characters, or a signature more than ${maxSignatureLength}`

const address = /^[\x21-\x7e]{1,256}$/

/**
 * The payer that a proof names in clear, as it is written there; null where only a scheme can read it. Refusals name it
 * before a scheme has looked at the payment.
 */
export const findClaimedPayer = (proof: unknown): string | null => {
  if (!isFields(proof)) return null
  const form = [proof.authorization, proof.permit2Authorization].find(isFields)
  const { from, owner } = form ?? proof
  const payer = from ?? owner
  return typeof payer === 'string' && address.test(payer) ? payer : null
}
