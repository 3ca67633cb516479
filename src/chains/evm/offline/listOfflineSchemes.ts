import type { OfflineModule } from '../../chain.js'
import { createOfflineExact } from './exact.js'
import { readOfflineNetwork } from './offlineNetwork.js'
import { createOfflineUpto } from './upto.js'

export const listOfflineSchemes: OfflineModule['listOfflineSchemes'] = (networks) =>
  networks.flatMap((name) => {
    const network = readOfflineNetwork(name)
    return network === null ? [] : [createOfflineExact(network), createOfflineUpto(network)]
  })
