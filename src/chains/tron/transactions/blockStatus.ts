import type { BlockReference } from '../../../ports/settlementJournal.js'
import type { BlockStatus } from '../../../schemes/network.js'
import { agreeOnBlock } from '../../nodes/agreeOnBlock.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import { headerShape } from '../rpc/wireShapes.js'

/** Asks the endpoints whether a block is still canonical; solid blocks are final. */
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
    // A node's newest block may itself be orphaned.
    return BigInt(head.number) > block.number ? 'orphaned' : 'unknown'
  })
