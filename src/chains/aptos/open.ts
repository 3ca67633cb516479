import { toCaip19 } from '../../protocol/assetId.js'
import type { DirectChain } from '../../schemes/exactDirect/directChain.js'
import type { ChainContext } from '../chain.js'
import { createCheckedLookUp } from '../common/direct/crossCheck.js'
import type { DirectNode } from '../common/direct/node.js'
import { openDirectFamily } from '../common/direct/openDirect.js'
import type { DirectNetworkSettings, DirectSettings } from '../common/direct/settings.js'
import { createTokenList } from '../common/direct/tokens.js'
import { readAptosAddress } from './addresses.js'
import { lookUpTransaction } from './lookUp.js'
import { createEndpoint, hasFungibleAsset, proveChain, readGasPrice, readTokenBalance } from './rpc.js'
import { isSignedBy } from './signedClaim.js'

// Aptos makes several blocks per second.
const maxHeadAgeSeconds = 60

export const open = (settings: DirectSettings, context: ChainContext) =>
  openDirectFamily(settings, context, (network, { rpcTimeoutMs, crossCheckAmount }) => {
    const endpoints = network.rpcUrls.map((url) =>
      createEndpoint(url, { timeoutMs: rpcTimeoutMs, apiKey: network.apiKey }),
    )
    return {
      endpoints,
      prove: proveChain,
      maxHeadAgeSeconds,
      createChain: (node) => createChain(network, node, crossCheckAmount),
    }
  })

// A transfer to an account that holds the asset takes these units of gas.
const typicalGas = 20n

const transactionForm = /^0x[0-9a-fA-F]{64}$/

const createChain = (
  { network, isTestnet, tokens, signers, pollIntervalMs }: DirectNetworkSettings,
  node: DirectNode,
  crossCheckAmount: bigint,
): DirectChain => ({
  network,
  signers,
  carriesMemo: false,
  isTestnet,
  minAgeSeconds: 30,
  // Several blocks per second, final at once.
  secondsToFinality: 1,
  pollIntervalMs,
  readAddress: readAptosAddress,
  readAsset: readAptosAddress,
  readTransaction: (text) => (transactionForm.test(text) ? text.toLowerCase() : null),
  // The published client reads no other form of an asset.
  ...createTokenList(tokens, {
    readAsset: readAptosAddress,
    formatAsset: (asset) => toCaip19(network, asset),
  }),
  readClaimedAsset: ({ metadataAddress }) => {
    if (metadataAddress === undefined || metadataAddress === null) return null
    return (typeof metadataAddress === 'string' ? readAptosAddress(metadataAddress) : null) ?? 'invalid'
  },
  findContradiction: (asset, { metadataAddress }) =>
    metadataAddress == null ||
    (typeof metadataAddress === 'string' && readAptosAddress(metadataAddress) === asset)
      ? null
      : `extra.metadataAddress: clients would pay it, and it is not the asset ${asset}`,
  lookUp: createCheckedLookUp(node, lookUpTransaction, crossCheckAmount),
  hasAsset: (asset) => hasFungibleAsset(node.ask, asset),
  readBalance: (asset, owner) => readTokenBalance(node.ask, { asset, owner }),
  estimateFee: async () => ({
    amount: (await readGasPrice(node.ask)) * typicalGas,
    symbol: 'APT',
    decimals: 8,
  }),
  isSignedBy: (claim) => isSignedBy(claim, node.ask),
})
