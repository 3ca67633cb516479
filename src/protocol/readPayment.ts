import type { z } from 'zod'
import { readAcceptedAmount, termsRules } from './acceptedTerms.js'
import { readUint256 } from './amount.js'
import { canonicalAsset } from './assetId.js'
import { describeIssue, type Fields, fieldsOf, isFields } from './fields.js'
import { canonicalNetwork } from './network.js'
import type { Payment, PaymentRequirements, RefusedPayment } from './payment.js'
import type { Reason } from './reasons.js'
import type { RuleName } from './rules/ruleNames.js'
import { type Comparison, namesOf, runRules, type Trace, toFields } from './rules/rules.js'
import { normalizeSignedTransaction } from './signedTransaction.js'
import { type PayloadShape, payloadShape, type WirePaymentRequest, type WireRequirements } from './wire.js'

/* Normalizes version 1, the flat shape and version 2 into one `Payment`. */

/** Version 1 of the protocol has none of these schemes. */
export const laterSchemes: ReadonlySet<string> = new Set(['upto', 'auth-capture', 'batch-settlement'])

interface ReadOptions {
  readonly isForSettle?: boolean
  /** For an explanation. */
  readonly trace?: Trace | undefined
}

/** Accepts every supported shape. An invalid payload is a refusal, not an error. */
export const readPayment = (
  body: WirePaymentRequest,
  { isForSettle = false, trace }: ReadOptions = {},
): Payment | RefusedPayment => {
  const callerNetwork = body.paymentRequirements.network
  trace?.expect(readingRules)
  const refuse = (name: RuleName, reason: Reason, message?: string): RefusedPayment => {
    const failure = message === undefined ? { reason } : { reason, message }
    trace?.note(name, failure)
    return { callerNetwork, ...failure }
  }

  const payload = readPayload(body.paymentPayload)
  if (typeof payload === 'string') return refuse('payload_form', 'invalid_payload_structure', payload)
  if (hasLongText(payload.payload)) {
    return refuse('payload_form', 'invalid_payload_structure', longTextMessage)
  }
  trace?.note('payload_form', null)

  const version = readVersion(body, payload)
  if (trace !== undefined) trace.note('protocol_version', null, compareVersions(body, payload))
  if (version === null) return refuse('protocol_version', 'invalid_x402_version')
  if (version === 'ambiguous') {
    const message = 'payVersion, x402Version and t402Version do not agree'
    return refuse('protocol_version', 'invalid_x402_version', message)
  }

  const { scheme } = body.paymentRequirements
  if (version === 1 && laterSchemes.has(scheme)) {
    const message = `${scheme}: belongs to version 2 of the protocol`
    return refuse('scheme_version', 'unsupported_scheme', message)
  }
  trace?.note('scheme_version', null)

  const requirements = readRequirements(body.paymentRequirements)
  if (requirements === null) {
    const message = 'paymentRequirements.amount exceeds uint256'
    return refuse('request_form', 'invalid_payload_structure', message)
  }

  const terms = payload.accepted ?? payload
  const broken = runRules(termsRules, { body, payload, requirements, terms, isForSettle }, trace)
  const refused = broken === null ? null : { callerNetwork, ...toFields(broken) }
  const isSameKind = trace?.hasPassed('scheme_match') === true && trace.hasPassed('network_match')
  if (refused !== null && !isSameKind) return refused

  const payment = {
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
  return refused === null ? payment : { ...refused, payment }
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

const compareVersions = (body: WirePaymentRequest, payload: PayloadShape): Comparison => {
  const [ofRequest, ofPayload] = [body, payload].map(({ payVersion, x402Version, t402Version }) => ({
    payVersion,
    x402Version,
    t402Version,
  }))
  return {
    path: 'x402Version',
    found: { request: ofRequest, paymentPayload: ofPayload },
    expected: '1 or 2, and the same wherever it is named',
  }
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
    return payload.accepted === undefined && !laterSchemes.has(body.paymentRequirements.scheme) ? 1 : 2
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

const readingRules = ['payload_form', 'protocol_version', 'scheme_version', ...namesOf(termsRules)] as const

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
const hasLongText = (proof: Fields): boolean => {
  const open = [proof]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const name in next) {
      const value = next[name]
      if (typeof value === 'string') {
        if (value.length > (name === 'signature' ? maxSignatureLength : maxTextLength)) return true
      } else if (hasValues(value)) open.push(value)
    }
  }
  return false
}

/** An array is read like an object: its names are indexes. */
const hasValues = (value: unknown): value is Fields => typeof value === 'object' && value !== null

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
  // A request about a payment that was collected before names it, and so does a channel.
  const payer = from ?? owner ?? fieldsOf(proof.paymentInfo).payer ?? fieldsOf(proof.channelConfig).payer
  return typeof payer === 'string' && address.test(payer) ? payer : null
}
