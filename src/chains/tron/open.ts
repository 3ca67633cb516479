import type { ChainContext, OpenChain } from '../chain.js'
import { createCrossCheckLimit } from '../common/crossCheckLimit.js'
import { createMinimumPayment } from '../common/minimumPayment.js'
import { createNetworkMonitor } from '../common/networkMonitor.js'
import { requireToken } from '../common/requireToken.js'
import { sponsoredForms } from '../common/sponsoredRecipients.js'
import { createSponsoring } from '../common/sponsoring.js'
import { formatAddress, readAddress } from './encoding/address.js'
import { createDelegationCost } from './energy/delegationCost.js'
import { createEnergyDelegator } from './energy/energyDelegator.js'
import { createExactScheme } from './exact/scheme.js'
import { isRecoveryNative } from './exact/signature.js'
import { createMonitoredNetwork, findWrongChain, WrongChainError } from './monitoredNetwork.js'
import { createTronNetwork } from './network.js'
import { coinDecimals } from './networks.js'
import { createPriceCache } from './rpc/prices.js'
import { hasToken } from './rpc/readBalance.js'
import { createRpc } from './rpc/rpc.js'
import type { TronNetworkSettings, TronSettings } from './settings.js'

/**
 * Opens every configured network. A wrong key or an endpoint of another network stops the start; an
 * unreachable endpoint only keeps its network out of `/supported`.
 */
export const open = async (settings: TronSettings, context: ChainContext): Promise<OpenChain> => {
  if (!isRecoveryNative) {
    context.logger.warn(
      { hint: 'no native secp256k1 addon fits this machine' },
      'signature.native_addon_missing',
    )
  }
  const networks = await Promise.all(
    settings.networks.map((network) => openNetwork(settings, network, context)),
  )
  return {
    schemes: networks.map(({ scheme }) => scheme),
    health: () => networks.map(({ monitor }) => monitor.health()),
    close: async () => {
      await Promise.all(
        networks.map(async ({ monitor, sponsor }) => {
          await monitor.close()
          await sponsor?.close()
        }),
      )
    },
  }
}

const openNetwork = async (family: TronSettings, network: TronNetworkSettings, context: ChainContext) => {
  const { clock, limiter, logger, minPaymentGasShare, requiresCrossCheck: isRequired = true } = context
  const sponsoring = createSponsoring({
    network: network.network,
    terms: context.sponsoring ?? null,
    addressForm: sponsoredForms.tron,
    normalize: (text) => {
      const address = readAddress(text)
      return address === null ? null : formatAddress(address)
    },
    // A transfer that no block holds although its energy was delegated: the payer used the energy, or what else it needs.
    failures: ['transaction_failed', 'transfer_event_mismatch', 'authorization_expired_unsettled'],
    clock,
  })
  const rpc = createRpc(network, { timeoutMs: family.rpcTimeoutMs, logger })
  const sponsor =
    family.sponsor === null
      ? null
      : createEnergyDelegator(network, family.sponsor, { rpc, limiter, clock, logger })
  await rpc.probe()
  const wrongChain = findWrongChain(rpc)
  if (wrongChain !== null) throw new WrongChainError(network.name, network.chainId, wrongChain)

  const monitored = requireToken(createMonitoredNetwork(network, { rpc, sponsor }), {
    assets: network.tokens.map(({ asset }) => asset),
    acceptsAnyToken: network.acceptsAnyToken,
    variable: network.tokensVariable,
    hasToken: (contract) => hasToken(rpc, contract),
  })
  const monitor = createNetworkMonitor(monitored, logger)
  await monitor.check()
  const { expiryMarginSeconds, crossCheckAmount } = family
  const minimum = createMinimumPayment({
    network: network.network,
    settings: network.minimumPayment,
    gasShare: minPaymentGasShare,
    coinDecimals,
  })
  const readPrices = createPriceCache(rpc, clock)
  const delegationCost = createDelegationCost()
  const { endpoints } = rpc
  const limit = createCrossCheckLimit({ endpoints, crossCheckAmount, isRequired, logger })
  const opened = createTronNetwork({
    settings: network,
    rpc,
    sponsor,
    readPrices,
    delegationCost,
    minimum,
    isTooLarge: limit.isTooLarge,
  })
  const scheme = createExactScheme({
    network,
    opened,
    readPrices,
    delegationCost,
    rpc,
    sponsor,
    sponsoring,
    expiryMarginSeconds,
    crossCheckAmount,
    clock,
    minimum,
  })
  return {
    scheme: limit.apply(scheme),
    monitor,
    sponsor,
  }
}
