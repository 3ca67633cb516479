import { sleep } from '../../concurrency/deadline.js'
import type { Logger } from '../../ports/logger.js'
import type { EndpointStatus, NetworkHealth, SignerHealth } from '../chain.js'

interface NetworkMonitor {
  health(): NetworkHealth
  /** Probes the endpoints and measures balances. Never throws. */
  check(): Promise<void>
  close(): Promise<void>
}

export interface MonitoredNetwork {
  readonly network: string
  /** Null when the network can settle; throws when no endpoint answers. */
  findProblem(): Promise<string | null>
  /** For operators; holds no secrets. */
  describeFailure(error: unknown): string
  listSigners(): readonly SignerHealth[]
  getBalanceLevel(): NetworkHealth['balanceLevel']
  listEndpoints(): readonly EndpointStatus[]
}

const roundMs = 5_000

/** The caller awaits the first `check`; further rounds run every 5 s until `close`. */
export const createNetworkMonitor = (monitored: MonitoredNetwork, logger: Logger): NetworkMonitor => {
  const { network } = monitored
  let problem: string | null = 'not checked yet'
  let isRpcReachable = false

  const check = async () => {
    const before = problem
    try {
      problem = await monitored.findProblem()
      isRpcReachable = true
    } catch (error) {
      isRpcReachable = false
      problem = monitored.describeFailure(error)
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
      balanceLevel: monitored.getBalanceLevel(),
      signers: monitored.listSigners(),
      endpoints: monitored.listEndpoints(),
    }),
    check,
    close: async () => {
      stopped.abort()
      await rounds
    },
  }
}
