import type { ChainContext, OpenChain } from '../chain.js'
import { createKeeper } from '../keeper.js'
import { createJsonRpcEndpoint } from '../nodes/jsonRpcEndpoint.js'
import { createAssociatedAccounts } from './encoding/associatedAccount.js'
import { createExactScheme } from './exact.js'
import { createExaminedNetwork, findWrongCluster, WrongClusterError } from './examinedNetwork.js'
import { createStatusWatcher } from './outcome/statusWatcher.js'
import { createPrepare } from './payment/prepare.js'
import { createRpc } from './rpc/rpc.js'
import { createFeePayers, type FeePayers } from './sending/feePayers.js'
import { createFeeRunway } from './sending/feeRunway.js'
import { createSubmit } from './sending/submit.js'
import type { SolanaNetworkSettings, SolanaSettings } from './settings.js'
import { createRehearse } from './simulation/rehearse.js'

/**
 * Opens every configured cluster. A wrong key or an endpoint of another cluster stops the start; a node that does not
 * answer only keeps its cluster out of `/supported` until it does.
 */
export const open = async (settings: SolanaSettings, context: ChainContext): Promise<OpenChain> => {
  const feePayers = createFeePayers(settings.privateKeys)
  const networks = await Promise.all(
    settings.networks.map((network) => openNetwork(settings, network, feePayers, context)),
  )
  return {
    schemes: networks.map(({ scheme }) => scheme),
    health: () => networks.map(({ keeper }) => keeper.health()),
    close: async () => {
      await Promise.all(networks.map(({ keeper }) => keeper.close()))
    },
  }
}

const openNetwork = async (
  family: SolanaSettings,
  network: SolanaNetworkSettings,
  feePayers: FeePayers,
  { clock, limiter, logger }: ChainContext,
) => {
  const { maxComputeUnits, maxPriorityFeeLamports, lowRunwaySettles } = family
  const endpoints = network.rpcUrls.map((url) => createJsonRpcEndpoint(url, family.rpcTimeoutMs))
  const rpc = createRpc(network.network, endpoints, logger)
  if (network.usesPublicRpc) {
    logger.warn(
      { network: network.network },
      'network.uses_public_rpc: set SOLANA_RPC_URL_<cluster> for production',
    )
  }
  await rpc.probe()
  const wrong = findWrongCluster(rpc)
  if (wrong !== null) throw new WrongClusterError(network.reference, wrong)

  const runway = createFeeRunway(network.network, {
    rpc,
    feePayers,
    maxPriorityFeeLamports,
    lowRunwaySettles,
    logger,
  })
  const keeper = createKeeper(createExaminedNetwork(network, { rpc, runway }), logger)
  await keeper.check()

  const prepare = createPrepare(network, {
    maxComputeUnits,
    maxPriorityFeeLamports,
    feePayers: feePayers.addresses,
    findAssociatedAccount: createAssociatedAccounts(),
  })
  const statuses = createStatusWatcher(rpc, network.pollIntervalMs)
  const scheme = createExactScheme({
    family,
    network,
    rpc,
    feePayers,
    prepare,
    rehearse: createRehearse(rpc),
    submit: createSubmit(rpc, feePayers, statuses),
    limiter,
    clock,
    canPay: runway.canPay,
  })
  return { scheme, keeper }
}
