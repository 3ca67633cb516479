import type { ChainContext, OpenChain } from '../chain.js'
import { openSettlingFamily, type UnopenedNetwork } from '../common/settling/openFamily.js'
import { createJsonRpcEndpoint } from '../nodes/jsonRpcEndpoint.js'
import { createAssociatedAccounts, tokenPrograms } from './encoding/tokenAccounts.js'
import { createPrepare } from './exact/prepare.js'
import { createExactScheme } from './exact/scheme.js'
import { createSimulate } from './exact/simulate.js'
import { createSolanaNetwork } from './network.js'
import { coinDecimals } from './networks.js'
import { createRpc, type Rpc } from './rpc/rpc.js'
import type { SolanaNetworkSettings, SolanaSettings } from './settings.js'
import { createFeePayerBalances, createFeePayers, type FeePayers } from './transactions/feePayers.js'
import { createStatusWatcher, createSubmit } from './transactions/submit.js'

/** A wrong key stops the start. */
export const open = async (settings: SolanaSettings, context: ChainContext): Promise<OpenChain> => {
  const feePayers = createFeePayers(settings.privateKeys)
  const family = { ...settings, coinDecimals, urlVariable: 'SOLANA_RPC_URL_<cluster>' }
  return await openSettlingFamily(family, context, (network) =>
    prepareNetwork(settings, network, feePayers, context),
  )
}

const prepareNetwork = (
  family: SolanaSettings,
  network: SolanaNetworkSettings,
  feePayers: FeePayers,
  { clock, limiter, logger }: ChainContext,
): UnopenedNetwork => {
  const { maxComputeUnits, maxPriorityFeeLamports, lowBalanceSettlements } = family
  const endpoints = network.rpcUrls.map((url) => createJsonRpcEndpoint(url, family.rpcTimeoutMs))
  const rpc = createRpc(network.network, endpoints, logger)
  const balances = createFeePayerBalances(network.network, {
    rpc,
    feePayers,
    maxPriorityFeeLamports,
    lowBalanceSettlements,
    logger,
  })
  return {
    nodes: rpc,
    describeWrongChain: (actual) =>
      `SOLANA_RPC_URL_${network.reference}: the endpoint serves the cluster ${actual}`,
    findOwnProblem: async () => {
      await balances.measure()
      return balances.list().some(({ settlementsLeft }) => settlementsLeft > 0)
        ? null
        : 'no fee payer has enough SOL for a settlement: fund at least one'
    },
    listSigners: balances.list,
    getBalanceLevel: balances.getLevel,
    hasToken: (mint) => hasMint(rpc, mint),
    start: (terms) => {
      const findAssociatedAccount = createAssociatedAccounts()
      const signers = feePayers.addresses
      const statuses = createStatusWatcher(rpc, network.pollIntervalMs)
      const scheme = createExactScheme({
        family,
        network,
        opened: createSolanaNetwork({ settings: network, rpc, findAssociatedAccount, signers }, terms),
        rpc,
        feePayers,
        prepare: createPrepare(network, {
          maxComputeUnits,
          maxPriorityFeeLamports,
          feePayers: signers,
          findAssociatedAccount,
        }),
        simulate: createSimulate(rpc),
        submit: createSubmit(rpc, feePayers, statuses),
        limiter,
        clock,
        canPay: balances.canPay,
        minimum: terms.minimum,
      })
      return { scheme }
    },
  }
}

const hasMint = async (rpc: Pick<Rpc, 'getAccounts'>, mint: string): Promise<boolean> => {
  const [account = null] = await rpc.getAccounts([mint])
  return account !== null && tokenPrograms.includes(account.owner)
}
