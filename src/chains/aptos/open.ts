import type { ChainContext } from '../chain.js'
import { createDirectNode } from '../common/direct/node.js'
import { openDirectFamily } from '../common/direct/openDirect.js'
import type { DirectSettings } from '../common/direct/settings.js'
import { createAptosChain } from './exactDirect/chain.js'
import { createAptosEndpoint, proveAptos } from './rpc/endpoint.js'

// Aptos makes several blocks per second.
const maxHeadAgeSeconds = 60

export const open = (settings: DirectSettings, context: ChainContext) =>
  openDirectFamily(settings, context, (network, { rpcTimeoutMs, crossCheckAmount, logger }) => {
    const endpoints = network.rpcUrls.map((url) =>
      createAptosEndpoint(url, { timeoutMs: rpcTimeoutMs, apiKey: network.apiKey }),
    )
    const node = createDirectNode(endpoints, {
      network: network.network,
      chain: network.chainId,
      prove: proveAptos,
      maxHeadAgeSeconds,
      logger,
    })
    return { node, chain: createAptosChain(network, { node, crossCheckAmount }) }
  })
