import { type Hex, hexToBigInt, numberToHex } from 'viem'
import { z } from 'zod'
import type { BlockReference } from '../../../ports/settlementJournal.js'
import type { BlockStanding } from '../../../schemes/scheme.js'
import type { Endpoint } from '../rpc/endpoint.js'

const hex = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value))
const header = z.object({ number: hex.transform((value) => hexToBigInt(value)), hash: hex }).nullable()

/**
 * Whether a block is still on the chain. Each node is asked for the block and for its own head together: what one
 * node says of a height proves nothing together with another one's head. One node is enough for good news; that a
 * block is gone must not be contradicted by any other.
 */
export const judgeBlock = async (
  endpoints: readonly Endpoint[],
  block: BlockReference,
  finalityDepth: number,
): Promise<BlockStanding> => {
  let isGone = false
  for (const endpoint of endpoints) {
    const standing = await askNode(endpoint, block, finalityDepth)
    if (standing === 'gone') isGone = true
    else if (standing !== 'unknown') return isGone ? 'unknown' : standing
  }
  return isGone ? 'gone' : 'unknown'
}

const askNode = async (
  endpoint: Endpoint,
  { number, hash }: BlockReference,
  finalityDepth: number,
): Promise<BlockStanding> => {
  const ask = (tag: string) => endpoint.request('eth_getBlockByNumber', [tag, false], header)
  // A node that fails says nothing.
  const [found, head] = await Promise.all([ask(numberToHex(number)), ask('latest')]).catch(() => [null, null])
  // Behind one address there may be several nodes: one of them may not have what another one builds on.
  if (found == null || head == null || found.number !== number) return 'unknown'
  const depth = head.number - number
  if (found.hash.toLowerCase() === hash.toLowerCase()) {
    return depth >= BigInt(finalityDepth) ? 'final' : 'standing'
  }
  // The newest block of a node may itself be one that does not last.
  return depth > 0n ? 'gone' : 'unknown'
}
