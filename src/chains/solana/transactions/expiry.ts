import { z } from 'zod'
import type { Endpoint } from '../../nodes/endpoint.js'
import { readClock } from '../rpc/clock.js'
import type { Rpc } from '../rpc/rpc.js'
import { inContext, statusesShape } from '../rpc/wireShapes.js'

/** A transaction that was recorded, and when that was at the latest begun. */
export interface RecordedTransaction {
  readonly transaction: string
  readonly blockhash: string
  readonly recordedAfter: Date
}

/** What one node says of a transaction. `lost`: in none of its blocks, and in none that can follow. */
type Opinion = 'lost' | 'alive' | 'unknown'

// A blockhash lives for a minute; this is for clocks that differ, and for blocks that are final only now.
const slackMs = 30_000

/**
 * Whether a transaction is in no block and can come into none: a final block, later than the one in which its
 * blockhash was found usable, says that the blockhash is used up, and after that the same node still knows nothing of
 * the transaction. Our own clock must agree, and no other node may contradict.
 */
export const hasExpired = async (rpc: Rpc, recorded: RecordedTransaction, now: Date): Promise<boolean> => {
  if (now.getTime() < recorded.recordedAfter.getTime() + slackMs) return false
  const opinions = await Promise.all(
    // A node that fails says nothing.
    rpc.listWitnesses().map((node) => askEndpoint(node, recorded).catch((): Opinion => 'unknown')),
  )
  return opinions.includes('lost') && !opinions.includes('alive')
}

const validityShape = inContext(z.boolean())

const askEndpoint = async (
  node: Endpoint,
  { transaction, blockhash, recordedAfter }: RecordedTransaction,
): Promise<Opinion> => {
  const clock = await readClock(node, 'finalized')
  // Before that, an unknown blockhash may be one that this block is too old for.
  if (clock.timestamp * 1_000 < recordedAfter.getTime() + slackMs) return 'alive'
  const params = [blockhash, { commitment: 'finalized', minContextSlot: clock.slot }]
  const { value: isUsable, context } = await node.request('isBlockhashValid', params, validityShape)
  if (isUsable) return 'alive'
  if (context.slot < clock.slot || !(await keepsLedgerSince(node, recordedAfter))) return 'unknown'
  // Asked last: whatever came into a block before the one that used the blockhash up is known by now.
  const asked = [[transaction], { searchTransactionHistory: true }]
  const answer = await node.request('getSignatureStatuses', asked, statusesShape)
  // Behind one address there may be several nodes: one that is behind does not know yet.
  if (answer.context.slot < clock.slot) return 'unknown'
  return answer.value[0] === null ? 'lost' : 'alive'
}

/** A node knows nothing of what was in blocks that it has not got. */
const keepsLedgerSince = async (node: Endpoint, since: Date): Promise<boolean> => {
  const first = await node.request('getFirstAvailableBlock', [], z.int())
  const time = await node.request('getBlockTime', [first], z.int().nullable())
  return time !== null && time * 1_000 <= since.getTime()
}
