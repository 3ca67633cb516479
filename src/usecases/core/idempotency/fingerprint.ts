import { createHash } from 'node:crypto'
import { isFields } from '../../../protocol/fields.js'
import { normalizeSignedTransaction } from '../../../protocol/signedTransaction.js'
import type { WirePaymentRequest } from '../../../protocol/wire.js'

/** SHA-256 of the canonical body, in hex: requests with equal fingerprints are the same request. */
export const fingerprintRequest = (body: WirePaymentRequest): string => fingerprintJson(normalizeProof(body))

const normalizeProof = (body: WirePaymentRequest): WirePaymentRequest => {
  const { paymentPayload } = body
  const { payload } = paymentPayload
  if (!isFields(payload)) return body
  const normalized = normalizeSignedTransaction(payload)
  return normalized === payload
    ? body
    : { ...body, paymentPayload: { ...paymentPayload, payload: normalized } }
}

/** SHA-256 of the canonical value, in hex. */
export const fingerprintJson = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('hex')

/** JSON with sorted keys and no white space: equal content gives equal text. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([left], [right]) => (left < right ? -1 : 1))
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`
  }
  // `JSON.parse` reads numbers beyond double range as Infinity, and `JSON.stringify` would turn them into null.
  if (value === Number.POSITIVE_INFINITY) return '1e999'
  if (value === Number.NEGATIVE_INFINITY) return '-1e999'
  return JSON.stringify(value ?? null)
}
