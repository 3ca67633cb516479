import { Secret } from '../../platform/secret.js'
import type { ChainContext, OpenChain } from '../chain.js'
import { createDirectNode } from '../common/direct/node.js'
import { openDirectFamily } from '../common/direct/openDirect.js'
import type { DirectSettings } from '../common/direct/settings.js'
import { createJsonRpcEndpoint } from '../nodes/jsonRpcEndpoint.js'
import { createNearChain } from './exactDirect/chain.js'
import { proveChain } from './rpc/rpc.js'
import type { NearNetworkSettings } from './settings.js'

const maxHeadAgeSeconds = 60

export const open = (
  settings: DirectSettings<NearNetworkSettings['own']>,
  context: ChainContext,
): Promise<OpenChain> =>
  openDirectFamily(settings, context, (network, { rpcTimeoutMs, crossCheckAmount, logger }) => {
    const headers =
      network.apiKey === null ? {} : { authorization: new Secret(`Bearer ${network.apiKey.reveal()}`) }
    const endpoints = network.rpcUrls.map((url) =>
      createJsonRpcEndpoint(url, rpcTimeoutMs, { headers, takesBatches: false }),
    )
    const node = createDirectNode(endpoints, {
      network: network.network,
      chain: network.chainId,
      prove: proveChain,
      maxHeadAgeSeconds,
      logger,
    })
    return { chain: createNearChain(network, node, crossCheckAmount), node }
  })
