import { type Hex, hexToBigInt, numberToHex } from 'viem'
import { z } from 'zod'
import type { BlockReference } from '../../../../ports/settlementJournal.js'
import type { BlockStatus } from '../../../../schemes/scheme.js'
import { agreeOnBlock } from '../../../nodes/agreeOnBlock.js'
import type { Endpoint } from '../../../nodes/endpoint.js'

const hex = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value))
const header = z.object({ number: hex.transform((value) => hexToBigInt(value)), hash: hex }).nullable()

/** Whether a block is still on the chain, as far as the nodes can tell. */
export const getBlockStatus = (
  endpoints: readonly Endpoint[],
  block: BlockReference,
  finalityDepth: number,
): Promise<BlockStatus> => agreeOnBlock(endpoints, (endpoint) => askEndpoint(endpoint, block, finalityDepth))

const askEndpoint = async (
  endpoint: Endpoint,
  { number, hash }: BlockReference,
  finalityDepth: number,
): Promise<BlockStatus> => {
  const ask = (tag: string) => endpoint.request('eth_getBlockByNumber', [tag, false], header)
  const [found, head] = await Promise.all([ask(numberToHex(number)), ask('latest')])
  // Behind one address there may be several nodes: one of them may not have what another one builds on.
  if (found == null || head == null || found.number !== number) return 'unknown'
  const depth = head.number - number
  if (found.hash.toLowerCase() === hash.toLowerCase()) {
    return depth >= BigInt(finalityDepth) ? 'final' : 'canonical'
  }
  // The newest block of a node may itself be one that does not last.
  return depth > 0n ? 'orphaned' : 'unknown'
}
