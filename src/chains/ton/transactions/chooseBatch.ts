import type { Prepared } from '../exact/prepare.js'
import { forwardFeeNanoTon, sumAttachedNanoTon } from './relayMessage.js'

// Limits of a message: 255 actions, 64 KB, depth 512.
const maxPayments = 100
const maxBytes = 45_000

// Kept for fees of the message itself.
const reserveNanoTon = 50_000_000n

/** Chooses payments for one message, earliest expiry first, within size and balance; one per payer. */
export const chooseBatch = <Item extends { readonly prepared: Prepared }>(
  pending: readonly Item[],
  balance: bigint,
): readonly Item[] => {
  const byExpiry = [...pending].sort((remaining, right) => expiryOf(remaining) - expiryOf(right))
  const payers = new Set<string>()
  const batch: Item[] = []
  let bytes = 0
  let remaining = balance - reserveNanoTon
  for (const item of byExpiry) {
    const { decoded, payer } = item.prepared
    const needed = sumAttachedNanoTon(item.prepared) + forwardFeeNanoTon
    const key = payer.toRawString()
    if (batch.length === maxPayments || bytes + decoded.size > maxBytes) break
    if (needed > remaining || payers.has(key)) continue
    payers.add(key)
    batch.push(item)
    bytes += decoded.size
    remaining -= needed
  }
  return batch
}

const expiryOf = ({ prepared }: { readonly prepared: Prepared }): number =>
  prepared.decoded.request.validUntil
