import type { ChainContext, NetworkHealth, OpenChain } from '../chain.js'
import { createCrossCheckLimit } from '../common/crossCheckLimit.js'
import { createHourlyBudget } from '../common/hourlyBudget.js'
import { createMinimumPayment } from '../common/minimumPayment.js'
import { createNetworkMonitor } from '../common/networkMonitor.js'
import { requireToken } from '../common/requireToken.js'
import { sponsoredForms } from '../common/sponsoredRecipients.js'
import { createSponsoring } from '../common/sponsoring.js'
import { createJsonRpcEndpoint } from '../nodes/jsonRpcEndpoint.js'
import { readAddress } from './encoding/cells.js'
import { createFindRequests } from './exact/findRequests.js'
import { createExactScheme } from './exact/scheme.js'
import { createMonitoredNetwork, findWrongChain, WrongChainError } from './monitoredNetwork.js'
import { createTonNetwork } from './network.js'
import { coinDecimals } from './networks.js'
import { createRpc } from './rpc/rpc.js'
import type { TonNetworkSettings, TonSettings } from './settings.js'
import { createJettonRegistry } from './tokens/jettonRegistry.js'
import { createRelayMaintenance } from './transactions/relayMaintenance.js'
import { createRelayQueue } from './transactions/relayQueue.js'
import { createRelayWallets, deriveRelayKey, type RelayKey } from './transactions/relayWallets.js'

/**
 * Opens every configured network. A wrong mnemonic or an endpoint of another network stops the start; an
 * unreachable endpoint only keeps its network out of `/supported`.
 */
export const open = async (settings: TonSettings, context: ChainContext): Promise<OpenChain> => {
  const key = await deriveRelayKey(settings.mnemonic)
  const networks = await Promise.all(
    settings.networks.map((network) => openNetwork(settings, network, key, context)),
  )
  return {
    schemes: networks.map(({ scheme }) => scheme),
    health: () => networks.map(reportHealth),
    close: async () => {
      await Promise.all(networks.map(({ close }) => close()))
    },
  }
}

const openNetwork = async (
  family: TonSettings,
  network: TonNetworkSettings,
  key: RelayKey,
  context: ChainContext,
) => {
  const { clock, lanes, limiter, logger, minPaymentGasShare, requiresCrossCheck: isRequired = true } = context
  const sponsoring = createSponsoring({
    network: network.network,
    terms: context.sponsoring ?? null,
    addressForm: sponsoredForms.ton,
    normalize: (address) => readAddress(address)?.toRawString() ?? null,
    failures: ['transaction_failed'],
    clock,
  })
  const { rpcTimeoutMs, expiryMarginSeconds } = family
  const headers = network.apiKey === null ? {} : { 'x-api-key': network.apiKey }
  const endpoints = network.rpcUrls.map((url) =>
    // toncenter does not support JSON-RPC batches.
    createJsonRpcEndpoint(url, rpcTimeoutMs, { headers, takesBatches: false }),
  )
  const rpc = createRpc(network, endpoints, logger)
  if (network.usesPublicRpc) {
    logger.warn(
      { network: network.network, hint: 'set TON_RPC_URL_<network> for production' },
      'network.uses_public_rpc',
    )
  }
  await rpc.probe()
  if (findWrongChain(rpc) !== null) throw new WrongChainError(network.name, network.zeroState)

  const wallets = createRelayWallets(key, network.globalId, family.relayWallets)
  const jettons = createJettonRegistry(rpc, network)
  const witnesses = endpoints.map((endpoint) => {
    const alone = createRpc(network, [endpoint], logger)
    return {
      host: endpoint.host,
      rpc: alone,
      jettons: createJettonRegistry(alone, network),
      findRequests: createFindRequests(alone),
    }
  })
  const listWitnesses = () => {
    const endpointHealth = rpc.listHealth()
    return witnesses.flatMap((witness, index) => (endpointHealth[index]?.isUp === true ? [witness.rpc] : []))
  }
  const monitored = createMonitoredNetwork(network, { family, rpc, listWitnesses, wallets, lanes, logger })
  const required = requireToken(monitored, {
    assets: network.tokens.map(({ asset }) => asset),
    acceptsAnyToken: network.acceptsAnyToken,
    variable: network.tokensVariable,
    hasToken: jettons.isDeployed,
  })
  const monitor = createNetworkMonitor(required, logger)
  await monitor.check()
  const { canPay, findLowestBalance } = monitored
  const budget = createHourlyBudget(limiter, {
    network: network.network,
    purpose: 'relay',
    key: `gas:${network.network}`,
    limit: network.relayBudgetPerHour,
  })
  const relaying = {
    network,
    rpc,
    listWitnesses,
    wallets,
    canPay,
    lanes,
    budget,
    clock,
    logger,
    expiryMarginSeconds,
  }
  const maintenance = createRelayMaintenance(relaying)
  const queue = createRelayQueue(relaying)
  const judging = { rpc, jettons, findRequests: createFindRequests(rpc), witnesses }
  const minimum = createMinimumPayment({
    network: network.network,
    settings: network.minimumPayment,
    gasShare: minPaymentGasShare,
    coinDecimals,
  })
  const signers = wallets.map(({ signer }) => signer)
  const { crossCheckAmount } = family
  const limit = createCrossCheckLimit({ endpoints, crossCheckAmount, isRequired, logger })
  const { isTooLarge } = limit
  const opened = createTonNetwork({ settings: network, jettons, signers, minimum, isTooLarge })
  const scheme = createExactScheme({
    family,
    network,
    opened,
    ...judging,
    wallets,
    queue,
    clock,
    canPay,
    findLowestBalance,
    sponsoring,
    minimum,
  })
  const close = async () => {
    await Promise.all([monitor.close(), maintenance.close(), queue.close()])
  }
  return { scheme: limit.apply(scheme), monitor, maintenance, close }
}

const reportHealth = ({ monitor, maintenance }: Awaited<ReturnType<typeof openNetwork>>): NetworkHealth => {
  const health = monitor.health()
  const signers = health.signers.map((each) => ({
    ...each,
    laneRepairs: maintenance.countRepairs(each.signer),
  }))
  return { ...health, signers, stuckLanes: maintenance.listStuck() }
}
