import { z } from 'zod'
import type { BlockReference } from '../../../ports/settlementJournal.js'
import type { BlockStatus } from '../../../schemes/network.js'
import { agreeOnBlock } from '../../nodes/agreeOnBlock.js'
import { type Endpoint, RpcError } from '../../nodes/endpoint.js'
import { blockOptions } from '../rpc/rpc.js'
import { blockShape } from '../rpc/wireShapes.js'

export const getBlockStatus = (endpoints: readonly Endpoint[], block: BlockReference): Promise<BlockStatus> =>
  agreeOnBlock(endpoints, (endpoint) => askEndpoint(endpoint, block))

const askEndpoint = async (endpoint: Endpoint, { number, hash }: BlockReference): Promise<BlockStatus> => {
  const slot = Number(number)
  const [found, finalSlot] = await Promise.all([
    findBlockhash(endpoint, slot),
    endpoint.request('getSlot', [{ commitment: 'finalized' }], z.int()),
  ])
  if (found === 'skipped') return slot <= finalSlot ? 'orphaned' : 'unknown'
  if (found !== hash) return 'orphaned'
  return slot <= finalSlot ? 'final' : 'canonical'
}

const skipped = -32_007

/** Rejects for a block that the node does not have: only an error states that the slot was skipped. */
const findBlockhash = async (endpoint: Endpoint, slot: number): Promise<string> => {
  try {
    const block = await endpoint.request('getBlock', [slot, blockOptions], blockShape)
    if (block === null) throw new Error('The node does not have the block')
    return block.blockhash
  } catch (error) {
    if (error instanceof RpcError && error.code === skipped) return 'skipped'
    throw error
  }
}
