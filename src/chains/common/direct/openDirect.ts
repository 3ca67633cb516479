import type { Logger } from '../../../ports/logger.js'
import { createDirectNetwork, type DirectChain } from '../../../schemes/exactDirect/directChain.js'
import { createExactDirectScheme } from '../../../schemes/exactDirect/scheme.js'
import type { ChainContext, OpenChain } from '../../chain.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import { createCrossCheckLimit } from '../crossCheckLimit.js'
import { startMonitor } from '../networkMonitor.js'
import { createDirectNode, type DirectNode, type DirectNodeOptions } from './node.js'
import type { DirectNetworkSettings, DirectSettings } from './settings.js'

interface DirectNetworkContext {
  readonly rpcTimeoutMs: number
  readonly crossCheckAmount: bigint
  readonly logger: Logger
}

/** One network whose nodes have not been asked anything yet. */
interface UnopenedNetwork extends Pick<DirectNodeOptions, 'prove' | 'maxHeadAgeSeconds'> {
  readonly endpoints: readonly Endpoint[]
  createChain(node: DirectNode): DirectChain
}

/**
 * Opens every configured network. An endpoint of another chain stops the start; an unreachable or stale one only keeps
 * its network out of `/supported`.
 */
export const openDirectFamily = async <Own>(
  settings: DirectSettings<Own>,
  context: ChainContext,
  prepareNetwork: (network: DirectNetworkSettings<Own>, context: DirectNetworkContext) => UnopenedNetwork,
): Promise<OpenChain> => {
  const { rpcTimeoutMs, verifyWaitMs, crossCheckAmount } = settings
  const { clock, logger, requiresCrossCheck: isRequired = true } = context
  const opened = await Promise.all(
    settings.networks.map(async (network) => {
      const { endpoints, prove, maxHeadAgeSeconds, createChain } = prepareNetwork(network, {
        rpcTimeoutMs,
        crossCheckAmount,
        logger,
      })
      const node = createDirectNode(endpoints, {
        network: network.network,
        chain: network.chainId,
        prove,
        maxHeadAgeSeconds,
        logger,
      })
      const chain = createChain(node)
      const monitor = await startMonitor(describeChecks(network, { chain, node }), context)
      const limit = createCrossCheckLimit({ endpoints, crossCheckAmount, isRequired, logger })
      const scheme = createExactDirectScheme(chain, {
        network: createDirectNetwork(chain, limit.isTooLarge),
        clock,
        verifyWaitMs,
        acceptsUnverified: !isRequired,
      })
      return { chain, monitor, scheme: limit.apply(scheme) }
    }),
  )
  return {
    schemes: opened.map(({ scheme }) => scheme),
    directChains: opened.map(({ chain }) => chain),
    sandbox: null,
    contractReaders: [],
    listClockLagsMs: () => [],
    health: () => opened.map(({ monitor }) => monitor.health()),
    close: async () => {
      await Promise.all(opened.map(({ monitor }) => monitor.close()))
    },
  }
}

const describeChecks = (
  { network, tokensVariable, endpointVariables, chainId }: DirectNetworkSettings,
  { chain, node }: { readonly chain: DirectChain; readonly node: DirectNode },
) => ({
  network,
  nodes: node,
  describeWrongChain: (actual: string) =>
    `${endpointVariables.join(' or ')}: the endpoint serves chain ${actual}, not ${chainId}`,
  findOwnProblem: async () =>
    node.isFresh()
      ? null
      : `the newest block of its nodes is ${Math.round(node.findHeadAgeSeconds() ?? 0)} s old`,
  listSigners: () => [],
  // We send nothing, so we need no funds.
  getBalanceLevel: () => 'ok' as const,
  tokens: {
    assets: chain.assets,
    acceptsAnyToken: false,
    variable: tokensVariable,
    hasToken: chain.hasAsset,
  },
})
