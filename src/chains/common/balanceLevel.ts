import type { NetworkHealth } from '../chain.js'

/** How long the gas of a network, or of several, lasts. `none`: there is no network. */
export type BalanceLevel = NetworkHealth['balanceLevel'] | 'none'

/** The word for a service as a whole: `low` as soon as one network is low or empty, `empty` when none can pay. */
export const summarizeBalanceLevels = (
  networks: readonly Pick<NetworkHealth, 'balanceLevel'>[],
): BalanceLevel => {
  if (networks.length === 0) return 'none'
  if (networks.every(({ balanceLevel }) => balanceLevel === 'empty')) return 'empty'
  if (networks.some(({ balanceLevel }) => balanceLevel === 'low' || balanceLevel === 'empty')) return 'low'
  return networks.some(({ balanceLevel }) => balanceLevel === 'unknown') ? 'unknown' : 'ok'
}
