import type { Scheme } from '../../../schemes/scheme.js'
import type { ChainContext, NetworkHealth, OpenChain } from '../../chain.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import { createCrossCheckLimit } from '../crossCheckLimit.js'
import { createMinimumPayment, type MinimumPayment } from '../minimumPayment.js'
import { type NetworkChecks, type NetworkNodes, startMonitor } from '../networkMonitor.js'
import type { SettlingNetworkSettings, SettlingSettings } from './settings.js'

interface Family<Settings extends SettlingNetworkSettings>
  extends Pick<SettlingSettings<Settings>, 'networks' | 'crossCheckAmount'> {
  /** Decimals of the native coin. */
  readonly coinDecimals: number
  /** Names the variable of endpoints, for operators. */
  readonly urlVariable: string
}

/** One network whose nodes have not been asked anything yet. */
export interface UnopenedNetwork extends NetworkChecks {
  readonly nodes: NetworkNodes & { readonly endpoints: readonly Endpoint[] }
  /** Whether the network has a token of the settings. Throws only if the chain is unavailable. */
  hasToken(asset: string): Promise<boolean>
  /** Called once, after the nodes have been checked. */
  start(terms: SettlingTerms): StartedNetwork
}

export interface SettlingTerms {
  readonly minimum: MinimumPayment
  readonly isTooLarge: Scheme['network']['isTooLarge']
}

interface StartedNetwork {
  readonly scheme: Scheme
  /** Adds what the family knows beside signers and endpoints. */
  readonly completeHealth?: (health: NetworkHealth) => NetworkHealth
  /** Ends what runs in the background. */
  readonly close?: () => Promise<void>
}

/**
 * Opens every configured network of a family that sends payments. An endpoint of another chain stops the start; an
 * unreachable one only keeps its network out of `/supported`.
 */
export const openSettlingFamily = async <Settings extends SettlingNetworkSettings>(
  { networks, crossCheckAmount, coinDecimals, urlVariable }: Family<Settings>,
  context: ChainContext,
  prepareNetwork: (network: Settings) => UnopenedNetwork,
): Promise<OpenChain> => {
  const { logger, minPaymentGasShare, requiresCrossCheck: isRequired = true } = context
  const opened = await Promise.all(
    networks.map(async (settings) => {
      const { network, acceptsAnyToken, tokensVariable: variable } = settings
      const unopened = prepareNetwork(settings)
      if (settings.usesPublicRpc) {
        logger.warn({ network, hint: `set ${urlVariable} for production` }, 'network.uses_public_rpc')
      }
      const assets = settings.tokens.map(({ asset }) => asset)
      const tokens = { assets, acceptsAnyToken, variable, hasToken: unopened.hasToken }
      const monitor = await startMonitor({ network, ...unopened, tokens }, context)
      const minimum = createMinimumPayment({
        network,
        settings: settings.minimumPayment,
        gasShare: minPaymentGasShare,
        coinDecimals,
      })
      const { endpoints } = unopened.nodes
      const limit = createCrossCheckLimit({ endpoints, crossCheckAmount, isRequired, logger })
      const started = unopened.start({ minimum, isTooLarge: limit.isTooLarge })
      return { ...started, monitor, scheme: limit.apply(started.scheme) }
    }),
  )
  return {
    schemes: opened.map(({ scheme }) => scheme),
    directChains: [],
    sandbox: null,
    contractReaders: [],
    listClockLagsMs: () => [],
    health: () =>
      opened.map(({ monitor, completeHealth = (health) => health }) => completeHealth(monitor.health())),
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
