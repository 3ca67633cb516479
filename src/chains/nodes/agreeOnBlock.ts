import type { BlockStanding } from '../../schemes/scheme.js'
import type { Endpoint } from './endpoint.js'

/**
 * Whether a block is still on the chain. Each node is asked for the block and for its own head together: what one
 * node says of a height proves nothing together with another one's head. One node is enough for good news; that a
 * block is gone must not be contradicted by any other.
 */
export const agreeOnBlock = async (
  endpoints: readonly Endpoint[],
  ask: (endpoint: Endpoint) => Promise<BlockStanding>,
): Promise<BlockStanding> => {
  let isGone = false
  for (const endpoint of endpoints) {
    // A node that fails says nothing.
    const standing = await ask(endpoint).catch((): BlockStanding => 'unknown')
    if (standing === 'gone') isGone = true
    else if (standing !== 'unknown') return isGone ? 'unknown' : standing
  }
  return isGone ? 'gone' : 'unknown'
}
