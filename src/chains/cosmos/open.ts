import type { DirectChain } from '../../schemes/exactDirect/directChain.js'
import type { ChainContext, OpenChain } from '../chain.js'
import { createCheckedLookUp } from '../common/direct/crossCheck.js'
import type { DirectNode } from '../common/direct/node.js'
import { openDirectFamily } from '../common/direct/openDirect.js'
import type { DirectSettings } from '../common/direct/settings.js'
import { createTokenList } from '../common/direct/tokens.js'
import { networkUnavailable } from '../common/networkUnavailable.js'
import { createJsonRpcEndpoint } from '../nodes/jsonRpcEndpoint.js'
import { readAddress, readDenom, readHash } from './addresses.js'
import { createLookUp } from './lookUp.js'
import { proveChain, readBankBalance, readGasPrices, readMinimumGasPrices, readSupply } from './rpc.js'
import type { CosmosNetworkOwn, CosmosNetworkSettings } from './settings.js'
import { isSignedBy } from './signedClaim.js'

const maxHeadAgeSeconds = 60

export const open = (settings: DirectSettings<CosmosNetworkOwn>, context: ChainContext): Promise<OpenChain> =>
  openDirectFamily(settings, context, (network, { rpcTimeoutMs, crossCheckAmount }) => {
    const endpoints = network.rpcUrls.map((url) =>
      // Nodes and gateways bound batches, in different ways.
      createJsonRpcEndpoint(url, rpcTimeoutMs, { takesBatches: false }),
    )
    return {
      endpoints,
      prove: proveChain,
      maxHeadAgeSeconds,
      createChain: (node) => createChain(network, node, crossCheckAmount),
    }
  })

// Blocks take about two seconds, and are final.
const minAgeSeconds = 30
const secondsToFinality = 2

// A transfer by the bank module takes about this.
const typicalGas = 100_000n

const createChain = (
  { network, chainId, isTestnet, tokens, signers, pollIntervalMs, own }: CosmosNetworkSettings,
  node: DirectNode,
  crossCheckAmount: bigint,
): DirectChain => {
  const { PREFIX: prefix } = own
  const list = createTokenList(tokens, {
    readAsset: readDenom,
    describeMore: (denom) => ({ assetDenom: denom }),
  })

  /** In the first token of ours that the node takes for fees. */
  const estimateFee = async () => {
    const prices = readGasPrices(await readMinimumGasPrices(node.ask))
    for (const { asset, symbol, decimals } of list.listTokens()) {
      const price = prices.find(({ denom }) => denom === asset)
      if (price !== undefined) return { amount: price.feeFor(typicalGas), symbol, decimals }
    }
    throw networkUnavailable(network, new Error('The node names no price of gas in a listed token'))
  }

  return {
    ...list,
    network,
    signers,
    carriesMemo: true,
    isTestnet,
    minAgeSeconds,
    secondsToFinality,
    pollIntervalMs,
    readAddress: (text) => readAddress(text, prefix),
    readAsset: readDenom,
    readTransaction: readHash,
    readClaimedAsset: ({ denom }) => {
      if (denom === undefined || denom === null) return null
      return typeof denom === 'string' ? (readDenom(denom) ?? 'invalid') : 'invalid'
    },
    findContradiction: (asset, extra) => {
      const field = ['denom', 'assetDenom'].find((name) => extra[name] != null && extra[name] !== asset)
      return field === undefined
        ? null
        : `extra.${field}: clients would pay it, and it is not the asset ${asset}`
    },
    lookUp: createCheckedLookUp(node, createLookUp({ chainId, prefix }), crossCheckAmount),
    hasAsset: async (denom) => (await readSupply(node.ask, denom)) > 0n,
    readBalance: (denom, address) => readBankBalance(node.ask, { denom, address }),
    estimateFee,
    isSignedBy: async (claim) => isSignedBy(claim, prefix),
  }
}
