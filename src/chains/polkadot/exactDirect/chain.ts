import { toCaip19 } from '../../../protocol/assetId.js'
import type { DirectChain } from '../../../schemes/exactDirect/directChain.js'
import { createCheckedLookUp } from '../../common/direct/crossCheck.js'
import { readHexHash } from '../../common/direct/hexHash.js'
import type { DirectNode } from '../../common/direct/node.js'
import { createTokenList } from '../../common/direct/tokens.js'
import { formatAccountKey, readAccountKey } from '../encoding/address.js'
import { readAssetId } from '../encoding/assetId.js'
import { addressPrefixOf } from '../networks.js'
import { getFinalizedBlock } from '../rpc/rpc.js'
import type { PolkadotNetworkSettings } from '../settings.js'
import { hasAsset, readBalance } from './balance.js'
import { createBlockIndex } from './blockIndex.js'
import { createReadTransaction } from './lookUp.js'
import { createRuntimes } from './runtimes.js'
import { isSignedBy } from './signedClaim.js'

export interface PolkadotChain extends DirectChain {
  /** Loads the metadata of the current runtime ahead of the first look-up. */
  prepare(): Promise<void>
}

export const createPolkadotChain = (
  settings: PolkadotNetworkSettings,
  node: DirectNode,
  { crossCheckAmount }: { readonly crossCheckAmount: bigint },
): PolkadotChain => {
  const prefix = addressPrefixOf(settings.chainId)
  const format = (key: string) => formatAccountKey(key, prefix)
  const runtimes = createRuntimes()
  const read = createReadTransaction({
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
    // No fee: nodes state it for a signed extrinsic only.
    isSignedBy: async (claim) => isSignedBy(claim),
    prepare: async () => {
      const { hash } = await getFinalizedBlock(node.ask)
      await runtimes.getDecoder(node.ask, hash)
    },
  }
}
