import type { ReadinessCheck } from '../../ports/job.js'
import type { NetworkHealth } from '../chain.js'
import { notableLagMs } from './chainClock.js'

export const listChainChecks = (readHealth: () => readonly NetworkHealth[]): readonly ReadinessCheck[] => [
  {
    name: 'rpc',
    accepts: ['ok', 'none'],
    probe: async () => {
      const health = readHealth()
      if (health.length === 0) return 'none'
      return health.some(({ isRpcReachable }) => isRpcReachable) ? 'ok' : 'unreachable'
    },
  },
  {
    // Other instances have the same wallets, and pending settlements are answered even when nothing can be
    // sent.
    name: 'gas',
    accepts: balanceLevels,
    probe: async () => summarizeBalanceLevels(readHealth()),
  },
  ...readHealth().map(({ network }) => ({
    name: `gas:${network}`,
    accepts: balanceLevels,
    probe: async () => readHealth().find((health) => health.network === network)?.balanceLevel ?? 'unknown',
  })),
  ...readHealth().flatMap(({ network, clockLagMs }) =>
    clockLagMs === undefined ? [] : [watchClock(network, readHealth)],
  ),
  ...readHealth().flatMap(({ network, stuckLanes }) =>
    stuckLanes === undefined ? [] : [watchLanes(network, readHealth)],
  ),
]

/** Never makes an instance unready: deadlines follow the chain's time meanwhile. */
const watchClock = (network: string, readHealth: () => readonly NetworkHealth[]): ReadinessCheck => ({
  name: `clock:${network}`,
  accepts: ['ok', 'behind'],
  probe: async () => {
    const lagMs = readHealth().find((health) => health.network === network)?.clockLagMs ?? 0
    return lagMs > notableLagMs ? 'behind' : 'ok'
  },
})

/** Never makes an instance unready: other instances have the same lanes. */
const watchLanes = (network: string, readHealth: () => readonly NetworkHealth[]): ReadinessCheck => ({
  name: `lanes:${network}`,
  accepts: ['ok', 'stuck'],
  probe: async () => {
    const stuck = readHealth().find((health) => health.network === network)?.stuckLanes ?? []
    return stuck.length > 0 ? 'stuck' : 'ok'
  },
})

const balanceLevels = ['ok', 'low', 'empty', 'unknown', 'none']

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
