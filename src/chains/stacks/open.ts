import type { ChainContext, OpenChain } from '../chain.js'
import { openDirectFamily } from '../common/direct/openDirect.js'
import type { DirectSettings } from '../common/direct/settings.js'
import { createStacksChain } from './exactDirect/chain.js'
import { createNode } from './rpc/rpc.js'
import type { StacksOwnSettings } from './settings.js'

/** Opens every configured network. An endpoint of another network stops the start. */
export const open = (
  settings: DirectSettings<StacksOwnSettings>,
  context: ChainContext,
): Promise<OpenChain> =>
  openDirectFamily(settings, context, (network, { rpcTimeoutMs, crossCheckAmount, logger }) => {
    const node = createNode(network, { timeoutMs: rpcTimeoutMs, logger })
    return { chain: createStacksChain(network, node, { crossCheckAmount }), node }
  })
