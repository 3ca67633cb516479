import type { OfflineModule } from '../../chain.js'
import { createOfflineChannels } from './channels.js'
import { createOfflineExact } from './exact.js'
import { readOfflineNetwork } from './offlineNetwork.js'
import { createOfflineUpto } from './upto.js'

export const listOfflineSchemes: OfflineModule['listOfflineSchemes'] = (
  networks,
  { channels, clock, logger },
) =>
  networks.flatMap((name) => {
    const network = readOfflineNetwork(name)
    if (network === null) return []
    const paid = [createOfflineExact(network), createOfflineUpto(network)]
    return channels === undefined
      ? paid
      : [...paid, createOfflineChannels(network, { channels, clock, logger })]
  })
