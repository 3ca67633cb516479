import type { Endpoint } from '../../nodes/endpoint.js'
import type { ChainIdentity, Proof } from '../../nodes/endpointHealth.js'
import { blockShape, numberShape } from './wireShapes.js'

/** Identifies nodes of an EVM network, named by its CAIP-2 identifier, by their chain id. */
export const identifyEvm = (network: string): ChainIdentity => ({
  network,
  chain: network.slice(network.indexOf(':') + 1),
  prove,
})

/** Chain id and newest block, in one request. */
const prove = async (endpoint: Endpoint): Promise<Proof> => {
  const [chainId, { number, timestamp }] = await Promise.all([
    endpoint.request('eth_chainId', [], numberShape),
    endpoint.request('eth_getBlockByNumber', ['latest', false], blockShape),
  ])
  return { chain: String(chainId), head: { number, timestamp: Number(timestamp) } }
}
