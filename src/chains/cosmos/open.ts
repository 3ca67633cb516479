import type { ChainContext, OpenChain } from '../chain.js'
import { createDirectNode } from '../common/direct/node.js'
import { openDirectFamily } from '../common/direct/openDirect.js'
import type { DirectSettings } from '../common/direct/settings.js'
import { createJsonRpcEndpoint } from '../nodes/jsonRpcEndpoint.js'
import { createCosmosChain } from './exactDirect/chain.js'
import { proveChain } from './rpc/rpc.js'
import type { CosmosNetworkOwn } from './settings.js'

const maxHeadAgeSeconds = 60

export const open = (settings: DirectSettings<CosmosNetworkOwn>, context: ChainContext): Promise<OpenChain> =>
  openDirectFamily(settings, context, (network, { rpcTimeoutMs, crossCheckAmount, logger }) => {
    const endpoints = network.rpcUrls.map((url) =>
      // Nodes and gateways bound batches, in different ways.
      createJsonRpcEndpoint(url, rpcTimeoutMs, { takesBatches: false }),
    )
    const node = createDirectNode(endpoints, {
      network: network.network,
      chain: network.chainId,
      prove: proveChain,
      maxHeadAgeSeconds,
      logger,
    })
    return { chain: createCosmosChain(network, node, crossCheckAmount), node }
  })
