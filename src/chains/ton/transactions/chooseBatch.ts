import type { Prepared } from '../exact/prepare.js'
import { countAttached } from './relayMessage.js'

// A message may cause 255 actions and be 64 KB; its list of actions may be 512 deep.
const maxPayments = 100
const mostBytes = 45_000

// For the message's own fees, and for each of those that it causes: up to 4 KB on their way.
const reserveNanoTon = 50_000_000n
const forwardNanoTon = 5_000_000n

/** What one message carries: who must be paid first goes first, as far as size and money allow; no payer twice. */
export const chooseBatch = <Item extends { readonly prepared: Prepared }>(
  waiting: readonly Item[],
  balance: bigint,
): readonly Item[] => {
  const inOrder = [...waiting].sort((left, right) => expiryOf(left) - expiryOf(right))
  const payers = new Set<string>()
  const batch: Item[] = []
  let bytes = 0
  let left = balance - reserveNanoTon
  for (const item of inOrder) {
    const { decoded, payer } = item.prepared
    const needed = countAttached(item.prepared) + forwardNanoTon
    const key = payer.toRawString()
    if (batch.length === maxPayments || bytes + decoded.size > mostBytes) break
    if (needed > left || payers.has(key)) continue
    payers.add(key)
    batch.push(item)
    bytes += decoded.size
    left -= needed
  }
  return batch
}

const expiryOf = ({ prepared }: { readonly prepared: Prepared }): number =>
  prepared.decoded.request.validUntil
