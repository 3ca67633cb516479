import type { NetworkHealth } from '../chain.js'

type BalanceLevel = NetworkHealth['balanceLevel'] | 'none'

/** `low` if any network is low or empty, `empty` if all are, `none` without networks. */
export const summarizeBalanceLevels = (
  networks: readonly Pick<NetworkHealth, 'balanceLevel'>[],
): BalanceLevel => {
  if (networks.length === 0) return 'none'
  if (networks.every(({ balanceLevel }) => balanceLevel === 'empty')) return 'empty'
  if (networks.some(({ balanceLevel }) => balanceLevel === 'low' || balanceLevel === 'empty')) return 'low'
  return networks.some(({ balanceLevel }) => balanceLevel === 'unknown') ? 'unknown' : 'ok'
}
