import { z } from 'zod'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { ChainIdentity, Proof } from '../../nodes/endpointHealth.js'
import { readClock } from './clock.js'

// A CAIP-2 reference has room for so much of the genesis hash.
const referenceLength = 32

/** Tells nodes of a cluster, named by its CAIP-2 identifier, by the hash of its first block. */
export const identifySolana = (network: string): ChainIdentity => ({
  network,
  chain: network.slice(network.indexOf(':') + 1),
  prove,
})

/** Genesis hash and newest confirmed block, in one question. */
const prove = async (endpoint: Endpoint): Promise<Proof> => {
  const [genesisHash, { slot, timestamp }] = await Promise.all([
    endpoint.request('getGenesisHash', [], z.string()),
    readClock(endpoint, 'confirmed'),
  ])
  return { chain: genesisHash.slice(0, referenceLength), head: { number: BigInt(slot), timestamp } }
}
