import type { BlockStatus } from '../../schemes/scheme.js'
import type { Endpoint } from './endpoint.js'

/**
 * Whether a block is still on the chain. Each node is asked for the block and for its own head together: what one
 * node says of a height proves nothing together with another one's head. One node is enough for good news; that a
 * block is gone must not be contradicted by any other.
 */
export const agreeOnBlock = async (
  endpoints: readonly Endpoint[],
  ask: (endpoint: Endpoint) => Promise<BlockStatus>,
): Promise<BlockStatus> => {
  let isOrphaned = false
  for (const endpoint of endpoints) {
    // A node that fails says nothing.
    const status = await ask(endpoint).catch((): BlockStatus => 'unknown')
    if (status === 'orphaned') isOrphaned = true
    else if (status !== 'unknown') return isOrphaned ? 'unknown' : status
  }
  return isOrphaned ? 'orphaned' : 'unknown'
}
