import { z } from 'zod'
import { toCaip19 } from '../../../protocol/assetId.js'
import type { Fields } from '../../../protocol/fields.js'
import type { DirectChain } from '../../../schemes/exactDirect/directChain.js'
import { createCheckedLookUp } from '../../common/direct/crossCheck.js'
import type { DirectNode } from '../../common/direct/node.js'
import type { DirectNetworkSettings } from '../../common/direct/settings.js'
import { createTokenList } from '../../common/direct/tokens.js'
import { readOperationHash, readTezosAddress, readTezosAsset } from '../encoding/identifiers.js'
import { balanceShape } from '../rpc/source.js'
import { lookUpTezos } from './lookUp.js'
import { isSignedByAccount } from './signedClaim.js'

interface TezosChainDependencies {
  readonly node: DirectNode
  readonly crossCheckAmount: bigint
}

export const createTezosChain = (
  { network, isTestnet, tokens, signers, pollIntervalMs }: DirectNetworkSettings,
  { node, crossCheckAmount }: TezosChainDependencies,
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
  lookUp: createCheckedLookUp(node, lookUpTezos, crossCheckAmount),
  hasAsset: (asset) => {
    const [contract = '', tokenId = ''] = asset.split(':')
    return node.ask('token', { contract, tokenId }, z.boolean())
  },
  readBalance: (asset, owner) => {
    const [contract = '', tokenId = ''] = asset.split(':')
    return node.ask('balance', { contract, tokenId, owner }, balanceShape)
  },
  // No fee: which price of gas bakers take is a setting of each, which public nodes do not show.
  isSignedBy: async (claim) => isSignedByAccount(claim),
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
