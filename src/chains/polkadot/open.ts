import { cryptoWaitReady } from '@polkadot/util-crypto'
import { toCaip19 } from '../../protocol/assetId.js'
import type { DirectChain } from '../../schemes/exactDirect/directChain.js'
import type { ChainContext, OpenChain } from '../chain.js'
import { createCheckedLookUp } from '../common/direct/crossCheck.js'
import { readHexHash } from '../common/direct/hexHash.js'
import type { DirectNode } from '../common/direct/node.js'
import { openDirectFamily } from '../common/direct/openDirect.js'
import type { DirectSettings } from '../common/direct/settings.js'
import { createTokenList } from '../common/direct/tokens.js'
import { createJsonRpcEndpoint } from '../nodes/jsonRpcEndpoint.js'
import { formatAccountKey, readAccountKey, readAssetId } from './addresses.js'
import { createBlockIndex } from './blockIndex.js'
import { createRuntimes } from './decoder.js'
import { createLookUp } from './lookUp.js'
import { getFinalizedBlock, hasAsset, proveChain, readBalance } from './rpc.js'
import { addressPrefixOf, type PolkadotNetworkSettings } from './settings.js'
import { isSignedBy } from './signedClaim.js'

// Finality can lag for minutes without a fault of the node.
const maxHeadAgeSeconds = 300

export const open = async (settings: DirectSettings, context: ChainContext): Promise<OpenChain> => {
  // sr25519 is WebAssembly.
  await cryptoWaitReady()
  return await openDirectFamily(settings, context, (network, { rpcTimeoutMs, crossCheckAmount, logger }) => {
    const endpoints = network.rpcUrls.map((url) => createJsonRpcEndpoint(url, rpcTimeoutMs))
    return {
      endpoints,
      prove: proveChain,
      maxHeadAgeSeconds,
      createChain: (node) => {
        const chain = createChain(network, node, crossCheckAmount)
        chain.prepare().catch((error: unknown) => {
          logger.warn(
            { network: network.network, error, hint: 'the first look-up loads it' },
            'runtime.not_loaded',
          )
        })
        return chain
      },
    }
  })
}

interface PolkadotChain extends DirectChain {
  /** Loads the metadata of the current runtime ahead of the first look-up. */
  prepare(): Promise<void>
}

const createChain = (
  settings: PolkadotNetworkSettings,
  node: DirectNode,
  crossCheckAmount: bigint,
): PolkadotChain => {
  const prefix = addressPrefixOf(settings.chainId)
  const format = (key: string) => formatAccountKey(key, prefix)
  const runtimes = createRuntimes()
  const read = createLookUp({
    network: settings,
    index: createBlockIndex(),
    runtimes,
    addresses: { format },
  })
  const tokens = createTokenList(settings.tokens, {
    readAsset: readAssetId,
    formatAsset: (asset) => toCaip19(settings.network, asset),
    describeMore: (asset) => ({ assetId: Number(asset), networkName: settings.name }),
  })

  return {
    ...tokens,
    network: settings.network,
    signers: settings.signers,
    carriesMemo: true,
    isTestnet: settings.isTestnet,
    // Finality takes 20 to 60 seconds.
    minAgeSeconds: 120,
    secondsToFinality: 30,
    pollIntervalMs: settings.pollIntervalMs,
    readAddress: (text) => {
      const key = readAccountKey(text)
      return key === null ? null : format(key)
    },
    readAsset: readAssetId,
    readTransaction: readHexHash,
    readClaimedAsset: ({ assetId }) =>
      assetId === undefined || assetId === null ? null : (readAssetId(assetId) ?? 'invalid'),
    // Clients pay `extra.assetId` and ignore `asset`.
    findContradiction: (asset, { assetId }) =>
      assetId === undefined || readAssetId(assetId) === asset
        ? null
        : `extra.assetId: clients would pay it, and it is not the asset ${asset}`,
    lookUp: createCheckedLookUp(node, read, crossCheckAmount),
    hasAsset: (asset) => hasAsset(node.ask, asset),
    readBalance: async (asset, address) => {
      const owner = readAccountKey(address)
      return owner === null ? 0n : await readBalance(node.ask, { asset, owner })
    },
    // Nodes state the fee of a signed extrinsic only.
    estimateFee: null,
    isSignedBy: async (claim) => isSignedBy(claim),
    prepare: async () => {
      const { hash } = await getFinalizedBlock(node.ask)
      await runtimes.getDecoder(node.ask, hash)
    },
  }
}
