import type { Secret } from '../../platform/secret.js'
import type { ChainContext } from '../chain.js'
import { createDirectNode } from '../common/direct/node.js'
import { openDirectFamily } from '../common/direct/openDirect.js'
import type { DirectSettings } from '../common/direct/settings.js'
import { createTezosChain } from './exactDirect/chain.js'
import { createOctezEndpoint, createTzktEndpoint, proveTezos } from './rpc/endpoint.js'

interface OwnSettings {
  readonly TZKT_URL?: readonly Secret[] | undefined
}

// A block takes 6 to 8 seconds, more when bakers miss their turn.
const maxHeadAgeSeconds = 180

/** Octez nodes and indexers are endpoints of one network: either kind suffices, and all are asked in a cross-check. */
export const open = (settings: DirectSettings<OwnSettings>, context: ChainContext) =>
  openDirectFamily(settings, context, (network, { rpcTimeoutMs, crossCheckAmount, logger }) => {
    const { chainId, rpcUrls, own } = network
    const endpoints = [
      ...(own.TZKT_URL ?? []).map((url) => createTzktEndpoint(url, chainId, rpcTimeoutMs)),
      ...rpcUrls.map((url) => createOctezEndpoint(url, chainId, rpcTimeoutMs)),
    ]
    const node = createDirectNode(endpoints, {
      network: network.network,
      chain: chainId,
      prove: proveTezos,
      maxHeadAgeSeconds,
      logger,
    })
    return { node, chain: createTezosChain(network, { node, crossCheckAmount }) }
  })
