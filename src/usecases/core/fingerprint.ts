import { createHash } from 'node:crypto'
import { canonicalJson } from '../../protocol/canonicalJson.js'
import type { WirePaymentRequest } from '../../protocol/wire.js'

/** SHA-256 of the canonical body, in hex: requests with equal fingerprints are the same request. */
export const fingerprintRequest = (body: WirePaymentRequest): string =>
  createHash('sha256').update(canonicalJson(body)).digest('hex')
