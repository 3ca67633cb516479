import type { ChainContext, OpenChain } from '../chain.js'
import { createNetworkMonitor } from '../common/networkMonitor.js'
import { createJsonRpcEndpoint } from '../nodes/jsonRpcEndpoint.js'
import { createExactScheme } from './exact/scheme.js'
import { createMonitoredNetwork, describeWrongChain } from './monitoredNetwork.js'
import { createToncenter, type Toncenter } from './rpc/rpc.js'
import type { TonNetworkSettings, TonSettings } from './settings.js'
import { createJettonRegistry } from './tokens/jettonRegistry.js'
import { createRelayMaintenance } from './transactions/relayMaintenance.js'
import { createRelayQueue } from './transactions/relayQueue.js'
import { createRelayWallets, deriveRelayKey, type RelayKey } from './transactions/relayWallets.js'

/**
 * Opens every configured TON network. A wrong mnemonic or an endpoint of another network stops the start; a node
 * that does not answer only keeps its network out of `/supported` until it does.
 */
export const open = async (settings: TonSettings, context: ChainContext): Promise<OpenChain> => {
  const key = await deriveRelayKey(settings.mnemonic)
  const networks = await Promise.all(
    settings.networks.map((network) => openNetwork(settings, network, key, context)),
  )
  return {
    schemes: networks.map(({ scheme }) => scheme),
    health: () => networks.map(({ monitor }) => monitor.health()),
    close: async () => {
      await Promise.all(networks.map(({ close }) => close()))
    },
  }
}

const openNetwork = async (
  family: TonSettings,
  network: TonNetworkSettings,
  key: RelayKey,
  { clock, lanes, limiter, logger }: ChainContext,
) => {
  const { rpcTimeoutMs, expiryMarginSeconds } = family
  const headers = network.apiKey === null ? {} : { 'x-api-key': network.apiKey }
  const endpoints = network.rpcUrls.map((url) =>
    // Its gateway takes one request at a time.
    createJsonRpcEndpoint(url, rpcTimeoutMs, { headers, takesBatches: false }),
  )
  const api = createToncenter(network, endpoints, logger)
  if (network.usesPublicRpc) {
    logger.warn(
      { network: network.network },
      'network.uses_public_rpc: set TON_RPC_URL_<network> for production',
    )
  }
  await refuseWrongChains(api, network)

  const wallets = createRelayWallets(key, network.globalId, family.relayWallets)
  const jettons = createJettonRegistry(api, network)
  const witnesses = endpoints.map((endpoint) => {
    const alone = createToncenter(network, [endpoint], logger)
    return { api: alone, jettons: createJettonRegistry(alone, network) }
  })
  const monitored = createMonitoredNetwork(network, { family, api, wallets, lanes, logger })
  const monitor = createNetworkMonitor(monitored, logger)
  await monitor.check()
  const { canPay, findPoorest } = monitored
  const relaying = { network, api, wallets, canPay, lanes, limiter, clock, logger, expiryMarginSeconds }
  const maintenance = createRelayMaintenance(relaying)
  const queue = createRelayQueue(relaying)
  const judging = { api, jettons, witnesses }
  const scheme = createExactScheme({
    family,
    network,
    ...judging,
    wallets,
    queue,
    clock,
    canPay,
    findPoorest,
  })
  const close = async () => {
    await Promise.all([monitor.close(), maintenance.close(), queue.close()])
  }
  return { scheme, monitor, close }
}

/** Every endpoint that answers must serve the network that it was configured for. */
const refuseWrongChains = async (api: Toncenter, { name, zeroState }: TonNetworkSettings): Promise<void> => {
  await api.probe()
  const isWrong = api.listHealth().some(({ wrongChain }) => wrongChain !== null)
  if (isWrong) throw new Error(describeWrongChain(name, zeroState))
}
