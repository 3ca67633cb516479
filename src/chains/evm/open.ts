import type { ChainContext, NetworkHealth, OpenChain } from '../chain.js'
import { createChainClock, notableLagMs } from '../common/chainClock.js'
import { createCrossCheckLimit } from '../common/crossCheckLimit.js'
import { createNetworkMonitor, requireToken } from '../common/networkMonitor.js'
import { createPromisedCost } from '../common/promisedCost.js'
import { createJsonRpcEndpoint } from '../nodes/jsonRpcEndpoint.js'
import { createEscrowPresence } from './authCapture/contracts.js'
import { createAuthCaptureScheme } from './authCapture/scheme.js'
import { createChannelPresence } from './channels/contract.js'
import {
  type ChannelAuthorizer,
  createChannelAuthorizer,
  createCustody,
  noCustody,
} from './channels/custody.js'
import { createChannelScheme } from './channels/scheme.js'
import { batchSettler } from './contracts/batchSettler.js'
import { createContractPresence } from './contracts/deployedContract.js'
import { createRouterBatch } from './contracts/routerCalls.js'
import { createRecipientRouters, createRouters } from './contracts/routers.js'
import { highestGasCap } from './exact/call.js'
import { createTransferBatch } from './exact/transferBatch.js'
import { createExactScheme } from './exactScheme.js'
import { createMonitoredNetwork, WrongChainError } from './monitoredNetwork.js'
import { createEvmMinimum, createEvmNetwork } from './network.js'
import { createOffer } from './offer.js'
import type { CreateScheme } from './paymentMethod.js'
import { exactProxyAddress } from './permit2/exact/payload.js'
import { createProxyPresence } from './permit2/presence.js'
import { uptoProxyAddress } from './permit2/upto/payload.js'
import { isPresent } from './rpc/presence.js'
import { createRpc, type Rpc } from './rpc/rpc.js'
import {
  createContractReader,
  createUntrustedCalls,
  paymentShare,
  signatureShare,
} from './rpc/untrustedCalls.js'
import type { EvmNetworkSettings, EvmSettings } from './settings.js'
import { isRecoveryNative } from './signatures/signature.js'
import { createTokenRegistry } from './tokens/tokenRegistry.js'
import { createMulticallPresence } from './transactions/batching/batchContract.js'
import { createTransactionEngine } from './transactions/engine.js'
import { createFeeOracle } from './transactions/fees/fees.js'
import { createGasBudget, promisedGas, toGwei } from './transactions/fees/gasBudget.js'
import { createLaneMaintenance } from './transactions/lanes/laneMaintenance.js'
import { createNoncePool } from './transactions/lanes/noncePool.js'
import { createReceiptWatcher } from './transactions/receipts/receiptWatcher.js'
import { createGasBalances, createSigners, type Signers } from './transactions/signers.js'
import { createVouchers } from './upto/vouchers.js'
import { createUptoScheme } from './uptoScheme.js'

/** Every scheme of the family. To add one: add its folder and one entry here. */
export const evmSchemes: readonly CreateScheme[] = [
  createExactScheme,
  createUptoScheme,
  createAuthCaptureScheme,
  createChannelScheme,
]

/**
 * Opens every configured EVM network. A wrong key or an endpoint of another chain stops the start; a node
 * that does not answer only keeps its network out of `/supported` until it does.
 */
export const open = async (
  settings: EvmSettings,
  context: ChainContext,
  schemes: readonly CreateScheme[] = evmSchemes,
): Promise<OpenChain> => {
  const signers = createSigners(settings.privateKeys)
  const authorizers = settings.channelAuthorizerKeys.map(createChannelAuthorizer)
  if (!isRecoveryNative) {
    context.logger.warn(
      { hint: 'no native secp256k1 addon fits this machine' },
      'signature.native_addon_missing',
    )
  }
  const networks = await Promise.all(
    settings.networks.map((network) =>
      openNetwork({ family: settings, network, signers, authorizers, schemes, context }),
    ),
  )
  return {
    schemes: networks.flatMap((network) => network.schemes),
    directChains: [],
    sandbox: null,
    contractReaders: networks.map(({ contractReader }) => contractReader),
    listClockLagsMs: () => networks.map(({ chainClock }) => chainClock.getLagMs()),
    health: () => networks.map(reportHealth),
    close: async () => {
      await Promise.all(
        networks.flatMap(({ monitor, maintenance }) => [monitor.close(), maintenance.close()]),
      )
    },
  }
}

const reportHealth = ({
  monitor,
  maintenance,
  chainClock,
  offer,
  engine,
}: Awaited<ReturnType<typeof openNetwork>>): NetworkHealth => {
  const health = monitor.health()
  const signers = health.signers.map((signer) => ({
    ...signer,
    laneRepairs: maintenance.countRepairs(signer.signer),
  }))
  return {
    ...health,
    signers,
    clockLagMs: chainClock.getLagMs() ?? 0,
    queued: engine.countQueued(),
    limitations: offer.listLimitations(),
  }
}

const openNetwork = async ({
  family,
  network,
  signers,
  authorizers,
  schemes,
  context,
}: {
  readonly family: EvmSettings
  readonly network: EvmNetworkSettings
  readonly signers: Signers
  readonly authorizers: readonly ChannelAuthorizer[]
  readonly schemes: readonly CreateScheme[]
  readonly context: ChainContext
}) => {
  const { clock, lanes, limiter, logger, minPaymentGasShare, countPromised, countInstances } = context
  const { requiresCrossCheck: isRequired = true } = context
  const endpoints = network.rpcUrls.map((url) => createJsonRpcEndpoint(url, family.rpcTimeoutMs))
  const rpc = createRpc(network.network, endpoints, logger)
  if (network.usesPublicRpc) {
    logger.warn(
      { network: network.network, hint: 'set EVM_RPC_URL_<chain id> for production' },
      'network.uses_public_rpc',
    )
  }
  await refuseWrongChains(rpc, network)

  const untrusted = {
    network: network.network,
    rpc,
    rpcUrls: network.rpcUrls,
    limiter,
    timeoutMs: family.walletCallTimeoutMs,
  }
  const payerCalls = createUntrustedCalls(untrusted, paymentShare)
  const chainClock = createChainClock(clock)
  const fees = createFeeOracle(network, rpc, clock)
  const gasPerSettlement = highestGasCap(family.deploysSmartWallets)
  const balances = createGasBalances(network.network, {
    rpc,
    signers,
    gasPerSettlement,
    lowBalanceSettlements: family.lowBalanceSettlements,
    logger,
  })
  const tokens = createTokenRegistry(network, rpc)
  const multicall = createMulticallPresence(rpc)
  const routers = createRouters(rpc, signers.addresses)
  const batchContract = createContractPresence(rpc, batchSettler)
  const proxies = {
    exact: createProxyPresence(rpc, network.chainId, exactProxyAddress),
    upto: createProxyPresence(rpc, network.chainId, uptoProxyAddress),
  }
  const escrow = createEscrowPresence(rpc)
  const channels = createChannelPresence(rpc)
  const offer = createOffer(network, {
    tokens,
    escrow,
    channels,
    router: routers.presence,
    proxies,
    batchContract,
    logger,
  })
  const monitored = createMonitoredNetwork(network, {
    rpc,
    fees,
    signers,
    balances,
    offer,
    lanes,
    clock: chainClock,
  })
  const required = requireToken(monitored, {
    assets: network.tokens.map(({ address }) => address),
    acceptsAnyToken: network.acceptsAnyToken,
    variable: `EVM_TOKENS_${network.chainId}`,
    hasToken: async (address) => 'token' in (await tokens.find(address)),
  })
  const monitor = createNetworkMonitor(required, context)
  await monitor.check()
  const lagMs = chainClock.getLagMs() ?? 0
  if (lagMs > notableLagMs) {
    logger.warn(
      {
        network: network.network,
        lagMs,
        hint: 'synchronize the clock of this machine; deadlines follow the chain meanwhile',
      },
      'clock.behind_chain',
    )
  }

  const { accounts } = signers
  const { canPay } = monitored
  const receipts = createReceiptWatcher(rpc, network.pollIntervalMs)
  const pool = createNoncePool(accounts, canPay)
  const promised = createPromisedCost({
    count: async () => (await countPromised?.(network.network)) ?? [],
    costOfOne: () => toGwei((fees.findPrice() ?? 0n) * promisedGas),
    clock,
  })
  const budget = createGasBudget(network, limiter, promised)
  const shared = { rpc, fees, lanes, pool, receipts, budget, clock, logger }
  const replaceAfterMs = family.replaceAfterSeconds * 1_000
  const maintenance = createLaneMaintenance(network, { ...shared, accounts, replaceAfterMs })
  if (monitor.health().isRpcReachable) await Promise.all([maintenance.check(), isPresent(multicall)])
  const { expiryMarginSeconds, crossCheckAmount, builderCode } = family
  const engine = createTransactionEngine({
    ...shared,
    payerCalls,
    deadlineClock: chainClock,
    network,
    signers,
    canPay,
    canAfford: balances.canAfford,
    multicall,
    batchContracts: [createTransferBatch(batchContract), createRouterBatch(routers, [exactProxyAddress])],
    expiryMarginSeconds,
    crossCheckAmount,
    builderCode,
    countInstances,
    highestGasCap: gasPerSettlement,
  })
  const minimum = createEvmMinimum(network, minPaymentGasShare)
  const limit = createCrossCheckLimit({ endpoints, crossCheckAmount, isRequired, logger })
  const walletReader = createContractReader(network.network, payerCalls, 'settle')
  const opened = createEvmNetwork({
    settings: network,
    rpc,
    tokens,
    engine,
    minimum,
    isTooLarge: limit.isTooLarge,
    vouchers: createVouchers({
      chainId: network.chainId,
      contractReader: walletReader,
    }),
    routers: createRecipientRouters(rpc, routers, family.takesSharedRouterPermits),
  })
  const contractReader = createContractReader(
    network.network,
    createUntrustedCalls(untrusted, signatureShare),
  )
  const { channelCustody } = context
  const custody =
    channelCustody === undefined ? noCustody : createCustody(network, authorizers, channelCustody)
  const created = schemes.map((create) =>
    create({
      family,
      network,
      opened,
      accounts: signers.addresses,
      rpc,
      tokens,
      engine,
      clock: chainClock,
      minimum,
      routers,
      proxies,
      escrow,
      channels,
      custody,
      channelLedger: context.channelLedger ?? null,
      contractReader: walletReader,
    }),
  )
  return {
    schemes: created.map(limit.apply),
    contractReader,
    monitor,
    maintenance,
    chainClock,
    offer,
    engine,
  }
}

/** Every endpoint that answers must serve the chain that it was configured for. */
const refuseWrongChains = async (rpc: Rpc, network: EvmNetworkSettings): Promise<void> => {
  await rpc.probe()
  for (const { wrongChain } of rpc.listHealth()) {
    if (wrongChain !== null) throw new WrongChainError(network.chainId, wrongChain)
  }
}
