import type { ChainContext, EndpointStatus, NetworkHealth, SignerHealth } from '../chain.js'
import type { EndpointReport } from '../nodes/endpointPool.js'

interface NetworkMonitor {
  health(): NetworkHealth
  /** Probes the endpoints and measures balances. Never throws. */
  check(): Promise<void>
  close(): Promise<void>
}

type MonitorContext = Pick<ChainContext, 'clock' | 'logger' | 'activity'>

export interface MonitoredNetwork {
  readonly network: string
  /** Null when the network can settle; throws when no endpoint answers. */
  findProblem(): Promise<string | null>
  /** Operators read it; it holds no secrets. */
  describeFailure(error: unknown): string
  listSigners(): readonly SignerHealth[]
  getBalanceLevel(): NetworkHealth['balanceLevel']
  listEndpoints(): readonly EndpointStatus[]
}

const roundMs = 5_000
// Nodes count calls. A payment reads anew what has become too old for it, such as fees.
const idleAfterMs = 60_000
const idleRoundMs = 15_000
// Below a minute: for so long the time of a newest block is remembered, and some families accept a newest block.
const maxIdleRoundMs = 45_000

/** How long the findings of the last check are recent enough. */
const choosePauseMs = (usedAt: number, instances: number): number =>
  performance.now() - usedAt < idleAfterMs ? 0 : Math.min(idleRoundMs * instances, maxIdleRoundMs)

/**
 * The caller awaits the first `check`; further rounds run until `close`: every 5 s while the network is used or has a problem,
 * otherwise every 15 s, or 30 s where two instances check it, or 45 s where more do.
 */
export const createNetworkMonitor = (
  monitored: MonitoredNetwork,
  { clock, logger, activity }: MonitorContext,
): NetworkMonitor => {
  const { network } = monitored
  let problem: string | null = 'not checked yet'
  let isRpcReachable = false
  let checkedAt = Number.NEGATIVE_INFINITY

  const isDue = (): boolean => {
    if (problem !== null || activity === undefined) return true
    const pauseMs = choosePauseMs(activity.findUsedAt(network), activity.countInstances())
    return performance.now() - checkedAt >= pauseMs
  }

  const check = async () => {
    const before = problem
    checkedAt = performance.now()
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
    while (await clock.sleep(roundMs, stopped.signal)) {
      if (isDue()) await check()
    }
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

interface TokenRequirement<Asset> {
  /** Offered tokens, in the form that `hasToken` takes. */
  readonly assets: readonly Asset[]
  /** True: any other token is settled as well, and none is required. */
  readonly acceptsAnyToken: boolean
  /** Variable that lists the tokens. */
  readonly variable: string
  /** Whether the network has the token. Throws only if the chain is unavailable. */
  hasToken(asset: Asset): Promise<boolean>
}

/**
 * Without any of its tokens a network refuses every payment, so it does not serve. Nodes are asked until one token was
 * found, and not again.
 */
export const requireToken = <Network extends MonitoredNetwork, Asset>(
  monitored: Network,
  { assets, acceptsAnyToken, variable, hasToken }: TokenRequirement<Asset>,
): Network => {
  let isFound = acceptsAnyToken

  const findTokenProblem = async (): Promise<string | null> => {
    if (isFound) return null
    const answers = await Promise.allSettled(assets.map(hasToken))
    isFound = answers.some((answer) => answer.status === 'fulfilled' && answer.value)
    if (isFound) return null
    const failed = answers.find((answer) => answer.status === 'rejected')
    if (failed !== undefined) throw new UnknownTokensError(failed.reason)
    return `the network has none of the tokens: check ${variable}`
  }

  return {
    ...monitored,
    findProblem: async () => (await monitored.findProblem()) ?? (await findTokenProblem()),
    describeFailure: (error) =>
      error instanceof UnknownTokensError ? error.message : monitored.describeFailure(error),
  }
}

/** Nodes prove the chain, and do not answer whether it has a token. */
class UnknownTokensError extends Error {
  constructor(cause: unknown) {
    super('its nodes do not answer which tokens it has', { cause })
    this.name = 'UnknownTokensError'
  }
}

export interface NetworkNodes {
  /** Resolves to whether an endpoint is available. */
  probe(): Promise<boolean>
  listHealth(): readonly EndpointReport[]
}

/** What a family checks of one network. */
export interface NetworkChecks extends Pick<MonitoredNetwork, 'listSigners' | 'getBalanceLevel'> {
  readonly nodes: NetworkNodes
  /** Tells operators that an endpoint serves another chain. */
  describeWrongChain(actual: string): string
  /** Asked while a node is available. Null when the network can settle. */
  findOwnProblem(): Promise<string | null>
}

interface MonitoringTerms<Asset> extends NetworkChecks {
  readonly network: string
  readonly tokens: TokenRequirement<Asset>
}

/** Checks a network for the first time, and then in the rounds of `createNetworkMonitor`. Throws `WrongChainError`. */
export const startMonitor = async <Asset>(
  { network, nodes, tokens, describeWrongChain, findOwnProblem, ...signers }: MonitoringTerms<Asset>,
  context: MonitorContext,
): Promise<NetworkMonitor> => {
  const findWrongChain = (): WrongChainError | null => {
    const wrong = nodes.listHealth().find(({ wrongChain }) => wrongChain !== null)?.wrongChain ?? null
    return wrong === null ? null : new WrongChainError(describeWrongChain(wrong))
  }
  await nodes.probe()
  const wrongChain = findWrongChain()
  if (wrongChain !== null) throw wrongChain
  const monitored: MonitoredNetwork = {
    network,
    findProblem: async () => {
      if (!(await nodes.probe())) throw new Error('No endpoint responds')
      return await findOwnProblem()
    },
    describeFailure: () => findWrongChain()?.message ?? 'no node answers',
    listSigners: signers.listSigners,
    getBalanceLevel: signers.getBalanceLevel,
    listEndpoints: () => nodes.listHealth().map(({ headTimestamp: _, ...status }) => status),
  }
  const monitor = createNetworkMonitor(requireToken(monitored, tokens), context)
  await monitor.check()
  return monitor
}

/** A configuration error, not an outage: it stops the start. */
class WrongChainError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WrongChainError'
  }
}
