import type { ChainContext, OpenChain } from '../chain.js'
import { createHourlyBudget } from '../common/hourlyBudget.js'
import { openSettlingFamily, type UnopenedNetwork } from '../common/settling/openFamily.js'
import { createSponsoring, sponsoredForms } from '../common/sponsoring.js'
import { createJsonRpcEndpoint } from '../nodes/jsonRpcEndpoint.js'
import { readAddress } from './encoding/cells.js'
import { createFindRequests } from './exact/findRequests.js'
import { createExactScheme } from './exact/scheme.js'
import { createTonNetwork } from './network.js'
import { coinDecimals } from './networks.js'
import { createRpc } from './rpc/rpc.js'
import type { TonNetworkSettings, TonSettings } from './settings.js'
import { createJettonRegistry } from './tokens/jettons.js'
import { createRelayBalances } from './transactions/relayAccounts.js'
import { createRelayMaintenance } from './transactions/relayMaintenance.js'
import { createRelayQueue } from './transactions/relayQueue.js'
import { createRelayWallets, deriveRelayKey, type RelayKey } from './transactions/relayWallets.js'

/** A wrong mnemonic stops the start. */
export const open = async (settings: TonSettings, context: ChainContext): Promise<OpenChain> => {
  const key = await deriveRelayKey(settings.mnemonic)
  const family = { ...settings, coinDecimals, urlVariable: 'TON_RPC_URL_<network>' }
  return await openSettlingFamily(family, context, (network) =>
    prepareNetwork(settings, network, key, context),
  )
}

const prepareNetwork = (
  family: TonSettings,
  network: TonNetworkSettings,
  key: RelayKey,
  context: ChainContext,
): UnopenedNetwork => {
  const { clock, lanes, limiter, logger } = context
  const sponsoring = createSponsoring({
    network: network.network,
    terms: context.sponsoring ?? null,
    addressForm: sponsoredForms.ton,
    normalize: (address) => readAddress(address)?.toRawString() ?? null,
    failures: ['transaction_failed'],
    clock,
  })
  const headers = network.apiKey === null ? {} : { 'x-api-key': network.apiKey }
  const endpoints = network.rpcUrls.map((url) =>
    // toncenter does not support JSON-RPC batches.
    createJsonRpcEndpoint(url, family.rpcTimeoutMs, { headers, takesBatches: false }),
  )
  const rpc = createRpc(network, endpoints, logger)
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
  const balances = createRelayBalances(network, { family, rpc, listWitnesses, wallets, lanes, logger })
  return {
    nodes: { ...rpc, endpoints },
    describeWrongChain: () =>
      `TON_RPC_URL_${network.name}: the endpoint serves another network than the one with zero state ${network.zeroState}`,
    findOwnProblem: async () => {
      await balances.measure()
      return balances.list().some(({ settlementsLeft }) => settlementsLeft > 0)
        ? null
        : 'no relay wallet has enough TON: fund at least one'
    },
    listSigners: balances.list,
    getBalanceLevel: balances.getLevel,
    hasToken: jettons.isDeployed,
    start: (terms) => {
      const { canPay, findLowest } = balances
      const budget = createHourlyBudget(limiter, {
        network: network.network,
        purpose: 'relay',
        key: `gas:${network.network}`,
        limit: network.relayBudgetPerHour,
      })
      const { expiryMarginSeconds } = family
      const nodes = { rpc, listWitnesses }
      const relaying = {
        ...nodes,
        network,
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
      const signers = wallets.map(({ signer }) => signer)
      const scheme = createExactScheme({
        family,
        network,
        opened: createTonNetwork({ settings: network, jettons, signers }, terms),
        rpc,
        jettons,
        findRequests: createFindRequests(rpc),
        witnesses,
        wallets,
        queue,
        clock,
        canPay,
        findLowestBalance: findLowest,
        sponsoring,
        minimum: terms.minimum,
      })
      return {
        scheme,
        completeHealth: (health) => ({
          ...health,
          signers: health.signers.map((each) => ({
            ...each,
            laneRepairs: maintenance.countRepairs(each.signer),
          })),
          stuckLanes: maintenance.listStuck(),
          queued: queue.countQueued(),
        }),
        close: async () => {
          await Promise.all([maintenance.close(), queue.close()])
        },
      }
    },
  }
}
