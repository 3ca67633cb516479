import { createHash } from 'node:crypto'
import { marker } from './marker.js'

/**
 * 64 bytes for one settlement. Of the settlement too: an authorization that failed may be settled again, and a journal
 * takes a transaction once.
 */
export const createTransactionHash = (authorizationId: string, settlementId: string): Uint8Array => {
  const hash = createHash('sha512').update(`${settlementId} ${authorizationId}`).digest()
  return Buffer.concat([marker, hash.subarray(marker.length)])
}
