import type { Clock } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import { createDirectNetwork, type DirectChain } from '../../../schemes/exactDirect/directChain.js'
import { createExactDirectScheme } from '../../../schemes/exactDirect/scheme.js'
import type { ChainContext, OpenChain } from '../../chain.js'
import { createCrossCheckLimit } from '../crossCheckLimit.js'
import { startMonitor } from '../networkMonitor.js'
import type { DirectNode } from './node.js'
import type { DirectNetworkSettings, DirectSettings } from './settings.js'

interface DirectNetworkContext {
  readonly rpcTimeoutMs: number
  readonly crossCheckAmount: bigint
  readonly clock: Clock
  readonly logger: Logger
}

/** Ends what runs in the background. */
type CloseNetwork = () => Promise<void>

interface OpenedNetwork {
  readonly chain: DirectChain
  readonly node: DirectNode
  /** Absent: nothing runs in the background. */
  readonly close?: CloseNetwork
}

/** Builds one network; must not wait for its endpoints. */
type OpenDirectNetwork<Own> = (
  network: DirectNetworkSettings<Own>,
  context: DirectNetworkContext,
) => OpenedNetwork

/**
 * Opens every configured network. An endpoint of another chain stops the start; an unreachable or stale one only keeps
 * its network out of `/supported`.
 */
export const openDirectFamily = async <Own>(
  settings: DirectSettings<Own>,
  context: ChainContext,
  openNetwork: OpenDirectNetwork<Own>,
): Promise<OpenChain> => {
  const { rpcTimeoutMs, verifyWaitMs, crossCheckAmount } = settings
  const { clock, logger, requiresCrossCheck: isRequired = true } = context
  const opened = await Promise.all(
    settings.networks.map(async (network) => {
      const { chain, node, close } = openNetwork(network, { rpcTimeoutMs, crossCheckAmount, clock, logger })
      const monitor = await startMonitor(describeChecks(network, { chain, node }), logger).catch(
        async (error: unknown) => {
          await close?.()
          throw error
        },
      )
      const { endpoints } = node
      const limit = createCrossCheckLimit({ endpoints, crossCheckAmount, isRequired, logger })
      const scheme = createExactDirectScheme(chain, {
        network: createDirectNetwork(chain, limit.isTooLarge),
        clock,
        verifyWaitMs,
        acceptsUnverified: !isRequired,
      })
      return { chain, monitor, close, scheme: limit.apply(scheme) }
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
      await Promise.all(
        opened.map(async ({ monitor, close }) => {
          await monitor.close()
          await close?.()
        }),
      )
    },
  }
}

const describeChecks = (
  { network, tokensVariable, endpointVariables, chainId }: DirectNetworkSettings,
  { chain, node }: Pick<OpenedNetwork, 'chain' | 'node'>,
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
