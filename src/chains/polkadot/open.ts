import { cryptoWaitReady } from '@polkadot/util-crypto'
import type { ChainContext, OpenChain } from '../chain.js'
import { openDirectFamily } from '../common/direct/openDirect.js'
import type { DirectSettings } from '../common/direct/settings.js'
import { createPolkadotChain } from './exactDirect/chain.js'
import { createNode } from './rpc/rpc.js'

/** Opens every configured network. An endpoint of another network stops the start. */
export const open = async (settings: DirectSettings, context: ChainContext): Promise<OpenChain> => {
  // sr25519 is WebAssembly.
  await cryptoWaitReady()
  return await openDirectFamily(settings, context, (network, { rpcTimeoutMs, crossCheckAmount, logger }) => {
    const node = createNode(network, { timeoutMs: rpcTimeoutMs, logger })
    const chain = createPolkadotChain(network, node, { crossCheckAmount })
    chain.prepare().catch((error: unknown) => {
      logger.warn(
        { network: network.network, error, hint: 'the first look-up loads it' },
        'runtime.not_loaded',
      )
    })
    return { chain, node }
  })
}
