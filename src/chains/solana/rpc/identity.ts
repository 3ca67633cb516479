import { z } from 'zod'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { ChainIdentity, Proof } from '../../nodes/endpointHealth.js'
import { readClock } from './clock.js'

// A CAIP-2 reference is the first 32 characters of the genesis hash.
const referenceLength = 32

export const identifySolana = (network: string): ChainIdentity => ({
  network,
  chain: network.slice(network.indexOf(':') + 1),
  prove,
})

const prove = async (endpoint: Endpoint): Promise<Proof> => {
  const [genesisHash, { slot, timestamp }] = await Promise.all([
    endpoint.request('getGenesisHash', [], z.string()),
    readClock(endpoint, 'confirmed'),
  ])
  return { chain: genesisHash.slice(0, referenceLength), head: { number: BigInt(slot), timestamp } }
}
