import { type Hex, hexToBigInt, numberToHex } from 'viem'
import { z } from 'zod'
import type { BlockReference } from '../../../../ports/settlementJournal.js'
import type { BlockStatus } from '../../../../schemes/network.js'
import { agreeOnBlock } from '../../../nodes/agreeOnBlock.js'
import type { Endpoint } from '../../../nodes/endpoint.js'

const hex = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value))
const header = z.object({ number: hex.transform((value) => hexToBigInt(value)), hash: hex }).nullable()

/** Whether a block is still canonical, by agreement of the nodes. */
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
  // One URL may balance over several nodes, of which one lags behind.
  if (found == null || head == null || found.number !== number) return 'unknown'
  const depth = head.number - number
  if (found.hash.toLowerCase() === hash.toLowerCase()) {
    return depth >= BigInt(finalityDepth) ? 'final' : 'canonical'
  }
  // A node's head may itself be replaced.
  return depth > 0n ? 'orphaned' : 'unknown'
}
