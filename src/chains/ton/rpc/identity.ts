import type { Endpoint } from '../../nodes/endpoint.js'
import type { ChainIdentity } from '../../nodes/endpointHealth.js'
import type { TonNetworkSettings } from '../settings.js'
import { masterchainShape, momentShape } from './wireShapes.js'

// An account of which there is nothing to tell but the moment that it is told at.
const nobody = `0:${'0'.repeat(64)}`

/** Tells nodes of a TON network by the state that their chain began with. */
export const identifyTon = ({
  network,
  zeroState,
}: Pick<TonNetworkSettings, 'network' | 'zeroState'>): ChainIdentity => ({
  network,
  chain: zeroState,
  prove: async (endpoint: Endpoint) => {
    const [{ last, init }, { sync_utime: timestamp }] = await Promise.all([
      endpoint.request('getMasterchainInfo', {}, masterchainShape),
      endpoint.request('getAddressInformation', { address: nobody }, momentShape),
    ])
    return { chain: init.root_hash, head: { number: BigInt(last.seqno), timestamp } }
  },
})
