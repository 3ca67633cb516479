import type { BlockReference } from '../../../ports/settlementJournal.js'
import type { BlockStatus } from '../../../schemes/scheme.js'
import { agreeOnBlock } from '../../nodes/agreeOnBlock.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import { headerShape } from '../rpc/wireShapes.js'

/**
 * Whether a block is still on the chain. It is final once it stands in the solid part of it, which most of the witnesses
 * have built upon.
 */
export const getBlockStatus = (endpoints: readonly Endpoint[], block: BlockReference): Promise<BlockStatus> =>
  agreeOnBlock(endpoints, async (endpoint) => {
    const number = String(block.number)
    const [solid, found, head] = await Promise.all([
      endpoint.request('/walletsolidity/getblock', { id_or_num: number, detail: false }, headerShape),
      endpoint.request('/wallet/getblock', { id_or_num: number, detail: false }, headerShape),
      endpoint.request('/wallet/getblock', { detail: false }, headerShape),
    ])
    if (solid !== null && String(solid.number) === number)
      return solid.id === block.hash ? 'final' : 'orphaned'
    if (found === null || head === null || String(found.number) !== number) return 'unknown'
    if (found.id === block.hash) return 'canonical'
    // The newest block of a node may itself be one that does not last.
    return BigInt(head.number) > block.number ? 'orphaned' : 'unknown'
  })
