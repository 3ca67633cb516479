import type { BlockStatus } from '../../schemes/network.js'
import type { Endpoint } from './endpoint.js'

/**
 * Whether a block is still canonical. Each endpoint must judge by its own head, since heads of different
 * endpoints are not comparable. One endpoint suffices for `canonical` or `final`; `orphaned` requires that no
 * other contradicts.
 */
export const agreeOnBlock = async (
  endpoints: readonly Endpoint[],
  ask: (endpoint: Endpoint) => Promise<BlockStatus>,
): Promise<BlockStatus> => {
  let isOrphaned = false
  for (const endpoint of endpoints) {
    const status = await ask(endpoint).catch((): BlockStatus => 'unknown')
    if (status === 'orphaned') isOrphaned = true
    else if (status !== 'unknown') return isOrphaned ? 'unknown' : status
  }
  return isOrphaned ? 'orphaned' : 'unknown'
}
