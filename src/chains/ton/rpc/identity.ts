import type { Endpoint } from '../../nodes/endpoint.js'
import type { ChainIdentity } from '../../nodes/endpointHealth.js'
import type { TonNetworkSettings } from '../settings.js'
import { masterchainShape, momentShape } from './wireShapes.js'

// An account without state: its response still carries the sync time.
const zeroAddress = `0:${'0'.repeat(64)}`

export const identifyTon = ({
  network,
  zeroState,
}: Pick<TonNetworkSettings, 'network' | 'zeroState'>): ChainIdentity => ({
  network,
  chain: zeroState,
  prove: async (endpoint: Endpoint) => {
    const [{ last, init }, { sync_utime: timestamp }] = await Promise.all([
      endpoint.request('getMasterchainInfo', {}, masterchainShape),
      endpoint.request('getAddressInformation', { address: zeroAddress }, momentShape),
    ])
    return { chain: init.root_hash, head: { number: BigInt(last.seqno), timestamp } }
  },
})
