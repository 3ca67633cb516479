import { createHash } from 'node:crypto'
import { canonicalJson } from '../../protocol/canonicalJson.js'
import type { WirePaymentRequest } from '../../protocol/wire.js'

/** What makes two requests the same request: the hash of the canonical body. */
export const fingerprintRequest = (body: WirePaymentRequest): string =>
  createHash('sha256').update(canonicalJson(body)).digest('hex')
