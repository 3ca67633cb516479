import type { NetworkHealth } from './chain.js'

/** How long the gas of a network, or of several, lasts. `none`: there is no network. */
export type Runway = NetworkHealth['runway'] | 'none'

/** The word for a service as a whole: `low` as soon as one network is low or empty, `empty` when none can pay. */
export const summariseRunways = (networks: readonly Pick<NetworkHealth, 'runway'>[]): Runway => {
  if (networks.length === 0) return 'none'
  if (networks.every(({ runway }) => runway === 'empty')) return 'empty'
  if (networks.some(({ runway }) => runway === 'low' || runway === 'empty')) return 'low'
  return networks.some(({ runway }) => runway === 'unknown') ? 'unknown' : 'ok'
}
