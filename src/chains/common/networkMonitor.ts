import { sleep } from '../../deadline.js'
import type { Logger } from '../../ports/logger.js'
import type { EndpointStatus, NetworkHealth, SignerHealth } from '../chain.js'

/** Looks after one network: whether it can settle. */
export interface NetworkMonitor {
  health(): NetworkHealth
  /** One round: nodes, and what our accounts own. Never throws. */
  check(): Promise<void>
  close(): Promise<void>
}

/** What a family tells of one of its networks. */
export interface MonitoredNetwork {
  readonly network: string
  /** What stands in the way of settling although nodes answer, null when nothing does; throws when none answers. */
  examine(): Promise<string | null>
  /** What an operator reads when no examination was possible; without secrets. */
  describeFailure(error: unknown): string
  listSigners(): readonly SignerHealth[]
  getBalanceLevel(): NetworkHealth['balanceLevel']
  listEndpoints(): readonly EndpointStatus[]
}

const roundMs = 5_000

/** Builds the monitor; its first round is the caller's to await, later ones come by themselves. */
export const createNetworkMonitor = (kept: MonitoredNetwork, logger: Logger): NetworkMonitor => {
  const { network } = kept
  let problem: string | null = 'not asked yet'
  let isRpcReachable = false

  const check = async () => {
    const before = problem
    try {
      problem = await kept.examine()
      isRpcReachable = true
    } catch (error) {
      isRpcReachable = false
      problem = kept.describeFailure(error)
      logger.debug({ network, error }, 'network.check_failed')
    }
    if (problem === before) return
    if (problem === null) logger.info({ network }, 'network.serving')
    else logger.error({ network, problem }, 'network.not_serving')
  }

  const stopped = new AbortController()
  const rounds = (async () => {
    while (await sleep(roundMs, stopped.signal)) await check()
  })()

  return {
    health: () => ({
      network,
      isServing: problem === null,
      isRpcReachable,
      problem,
      balanceLevel: kept.getBalanceLevel(),
      signers: kept.listSigners(),
      endpoints: kept.listEndpoints(),
    }),
    check,
    close: async () => {
      stopped.abort()
      await rounds
    },
  }
}
