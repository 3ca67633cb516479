import { z } from 'zod'
import type { Secret } from '../../platform/secret.js'
import { toCaip19 } from '../../protocol/assetId.js'
import type { Fields } from '../../protocol/fields.js'
import type { DirectChain } from '../../schemes/exactDirect/directChain.js'
import type { ChainContext } from '../chain.js'
import { createCheckedLookUp } from '../common/direct/crossCheck.js'
import type { DirectNode } from '../common/direct/node.js'
import { openDirectFamily } from '../common/direct/openDirect.js'
import type { DirectNetworkSettings, DirectSettings } from '../common/direct/settings.js'
import { createTokenList } from '../common/direct/tokens.js'
import { readOperationHash, readTezosAddress, readTezosAsset } from './addresses.js'
import { lookUpTransaction } from './lookUp.js'
import { createOctezEndpoint, createTzktEndpoint, proveChain } from './rpc.js'
import { isSignedBy } from './signedClaim.js'
import { balanceShape } from './source.js'

interface OwnSettings {
  readonly TZKT_URL?: readonly Secret[] | undefined
}

// A block takes 6 to 8 seconds, more when bakers miss their turn.
const maxHeadAgeSeconds = 180

/** Octez nodes and indexers are endpoints of one network: either kind suffices, and all are asked in a cross-check. */
export const open = (settings: DirectSettings<OwnSettings>, context: ChainContext) =>
  openDirectFamily(settings, context, (network, { rpcTimeoutMs, crossCheckAmount }) => {
    const { chainId, rpcUrls, own } = network
    const endpoints = [
      ...(own.TZKT_URL ?? []).map((url) => createTzktEndpoint(url, chainId, rpcTimeoutMs)),
      ...rpcUrls.map((url) => createOctezEndpoint(url, chainId, rpcTimeoutMs)),
    ]
    return {
      endpoints,
      prove: proveChain,
      maxHeadAgeSeconds,
      createChain: (node) => createChain(network, node, crossCheckAmount),
    }
  })

const createChain = (
  { network, isTestnet, tokens, signers, pollIntervalMs }: DirectNetworkSettings,
  node: DirectNode,
  crossCheckAmount: bigint,
): DirectChain => ({
  network,
  signers,
  carriesMemo: false,
  isTestnet,
  // A payment is final after about 15 seconds.
  minAgeSeconds: 60,
  secondsToFinality: 15,
  pollIntervalMs,
  readAddress: readTezosAddress,
  readAsset: readTezosAsset,
  readTransaction: readOperationHash,
  // CAIP-19: the published client reads no colon before a token id.
  ...createTokenList(tokens, {
    readAsset: readTezosAsset,
    formatAsset: (asset) => toCaip19(network, asset),
  }),
  readClaimedAsset,
  findContradiction: (asset, { contractAddress, tokenId }) => {
    const [contract, id] = asset.split(':')
    const isContract = contractAddress == null || contractAddress === contract
    const isToken = tokenId == null || tokenId === id || tokenId === Number(id)
    if (isContract && isToken) return null
    const field = isContract ? 'tokenId' : 'contractAddress'
    return `extra.${field}: clients would pay it, and it is not of the asset ${asset}`
  },
  lookUp: createCheckedLookUp(node, lookUpTransaction, crossCheckAmount),
  hasAsset: (asset) => {
    const [contract = '', tokenId = ''] = asset.split(':')
    return node.ask('token', { contract, tokenId }, z.boolean())
  },
  readBalance: (asset, owner) => {
    const [contract = '', tokenId = ''] = asset.split(':')
    return node.ask('balance', { contract, tokenId, owner }, balanceShape)
  },
  // Which price of gas bakers take is a setting of each, which public nodes do not show.
  estimateFee: null,
  isSignedBy: async (claim) => isSignedBy(claim),
})

/** Clients write the token id as a number, the specification as a text. */
const readClaimedAsset = ({ contractAddress, tokenId }: Fields): string | 'invalid' | null => {
  const hasContract = contractAddress !== undefined && contractAddress !== null
  const hasTokenId = tokenId !== undefined && tokenId !== null
  if (!hasContract) return hasTokenId ? 'invalid' : null
  if (typeof contractAddress !== 'string' || readTezosAddress(contractAddress) === null) return 'invalid'
  if (!hasTokenId) return readTezosAsset(contractAddress) ?? 'invalid'
  const isId = typeof tokenId === 'string' || (typeof tokenId === 'number' && Number.isSafeInteger(tokenId))
  return isId ? (readTezosAsset(`${contractAddress}:${tokenId}`) ?? 'invalid') : 'invalid'
}
