import type { Endpoint } from '../../nodes/endpoint.js'
import type { ChainIdentity, Proof } from '../../nodes/endpointHealth.js'
import type { TronNetworkSettings } from '../settings.js'
import { headerShape } from './wireShapes.js'

export const identifyTron = ({ network, chainId }: TronNetworkSettings): ChainIdentity => ({
  network,
  chain: chainId,
  prove,
})

const prove = async (endpoint: Endpoint): Promise<Proof> => {
  const [first, head] = await Promise.all([
    endpoint.request('/wallet/getblock', { id_or_num: '0', detail: false }, headerShape),
    endpoint.request('/wallet/getblock', { detail: false }, headerShape),
  ])
  if (first === null || head === null) throw new Error('The node returned no block')
  return {
    chain: first.id.slice(-8),
    head: { number: BigInt(head.number), timestamp: head.timestamp / 1_000 },
  }
}
