import type { ChainContext, OpenChain } from '../chain.js'
import { createCrossCheckLimit } from '../common/crossCheckLimit.js'
import { createMinimumPayment } from '../common/minimumPayment.js'
import { createNetworkMonitor } from '../common/networkMonitor.js'
import { requireToken } from '../common/requireToken.js'
import { createJsonRpcEndpoint } from '../nodes/jsonRpcEndpoint.js'
import { createAssociatedAccounts } from './encoding/associatedAccount.js'
import { tokenPrograms } from './encoding/programs.js'
import { createPrepare } from './exact/prepare.js'
import { createExactScheme } from './exact/scheme.js'
import { createSimulate } from './exact/simulate.js'
import { createMonitoredNetwork, findWrongChain, WrongChainError } from './monitoredNetwork.js'
import { createSolanaNetwork } from './network.js'
import { coinDecimals } from './networks.js'
import { createRpc, type Rpc } from './rpc/rpc.js'
import type { SolanaNetworkSettings, SolanaSettings } from './settings.js'
import { createFeePayerBalances } from './transactions/feePayerBalances.js'
import { createFeePayers, type FeePayers } from './transactions/feePayers.js'
import { createStatusWatcher } from './transactions/statusWatcher.js'
import { createSubmit } from './transactions/submit.js'

/**
 * Opens every configured cluster. A wrong key or an endpoint of another cluster stops the start; an
 * unreachable endpoint only keeps its cluster out of `/supported`.
 */
export const open = async (settings: SolanaSettings, context: ChainContext): Promise<OpenChain> => {
  const feePayers = createFeePayers(settings.privateKeys)
  const networks = await Promise.all(
    settings.networks.map((network) => openNetwork(settings, network, feePayers, context)),
  )
  return {
    schemes: networks.map(({ scheme }) => scheme),
    health: () => networks.map(({ monitor }) => monitor.health()),
    close: async () => {
      await Promise.all(networks.map(({ monitor }) => monitor.close()))
    },
  }
}

const openNetwork = async (
  family: SolanaSettings,
  network: SolanaNetworkSettings,
  feePayers: FeePayers,
  { clock, limiter, logger, minPaymentGasShare, requiresCrossCheck: isRequired = true }: ChainContext,
) => {
  const { maxComputeUnits, maxPriorityFeeLamports, lowBalanceSettlements } = family
  const endpoints = network.rpcUrls.map((url) => createJsonRpcEndpoint(url, family.rpcTimeoutMs))
  const rpc = createRpc(network.network, endpoints, logger)
  if (network.usesPublicRpc) {
    logger.warn(
      { network: network.network, hint: 'set SOLANA_RPC_URL_<cluster> for production' },
      'network.uses_public_rpc',
    )
  }
  await rpc.probe()
  const wrong = findWrongChain(rpc)
  if (wrong !== null) throw new WrongChainError(network.reference, wrong)

  const balances = createFeePayerBalances(network.network, {
    rpc,
    feePayers,
    maxPriorityFeeLamports,
    lowBalanceSettlements,
    logger,
  })
  const monitored = requireToken(createMonitoredNetwork(network, { rpc, balances }), {
    assets: network.tokens.map(({ asset }) => asset),
    acceptsAnyToken: network.acceptsAnyToken,
    variable: network.tokensVariable,
    hasToken: (mint) => hasMint(rpc, mint),
  })
  const monitor = createNetworkMonitor(monitored, logger)
  await monitor.check()

  const findAssociatedAccount = createAssociatedAccounts()
  const prepare = createPrepare(network, {
    maxComputeUnits,
    maxPriorityFeeLamports,
    feePayers: feePayers.addresses,
    findAssociatedAccount,
  })
  const minimum = createMinimumPayment({
    network: network.network,
    settings: network.minimumPayment,
    gasShare: minPaymentGasShare,
    coinDecimals,
  })
  const { crossCheckAmount } = family
  const limit = createCrossCheckLimit({ endpoints, crossCheckAmount, isRequired, logger })
  const opened = createSolanaNetwork({
    settings: network,
    rpc,
    findAssociatedAccount,
    signers: feePayers.addresses,
    minimum,
    isTooLarge: limit.isTooLarge,
  })
  const statuses = createStatusWatcher(rpc, network.pollIntervalMs)
  const scheme = createExactScheme({
    family,
    network,
    opened,
    rpc,
    feePayers,
    prepare,
    simulate: createSimulate(rpc),
    submit: createSubmit(rpc, feePayers, statuses),
    limiter,
    clock,
    canPay: balances.canPay,
    minimum,
  })
  return { scheme: limit.apply(scheme), monitor }
}

const hasMint = async (rpc: Pick<Rpc, 'getAccounts'>, mint: string): Promise<boolean> => {
  const [account = null] = await rpc.getAccounts([mint])
  return account !== null && tokenPrograms.includes(account.owner)
}
