import type { DirectChain } from '../../../schemes/exactDirect/directChain.js'
import { createCheckedLookUp } from '../../common/direct/crossCheck.js'
import type { DirectNode } from '../../common/direct/node.js'
import { createTokenList } from '../../common/direct/tokens.js'
import { readAddress } from '../encoding/address.js'
import { readDenom } from '../encoding/denom.js'
import { readHash } from '../encoding/hash.js'
import type { CosmosNetworkSettings } from '../settings.js'
import { createReadTransaction } from './lookUp.js'
import { isSignedBy } from './signedClaim.js'

// Blocks take about two seconds, and are final.
const minAgeSeconds = 30

export const createCosmosChain = (
  { network, chainId, tokens, signers, pollIntervalMs, own: { PREFIX: prefix } }: CosmosNetworkSettings,
  node: DirectNode,
  crossCheckAmount: bigint,
): DirectChain => ({
  ...createTokenList(tokens, {
    readAsset: readDenom,
    describeMore: (denom) => ({ assetDenom: denom }),
  }),
  network,
  signers,
  minAgeSeconds,
  pollIntervalMs,
  readAddress: (text) => readAddress(text, prefix),
  readAsset: readDenom,
  readTransaction: readHash,
  readClaimedAsset: ({ denom }) => {
    if (denom === undefined || denom === null) return null
    return typeof denom === 'string' ? (readDenom(denom) ?? 'invalid') : 'invalid'
  },
  lookUp: createCheckedLookUp(node, createReadTransaction({ chainId, prefix }), crossCheckAmount),
  isSignedBy: async (claim) => isSignedBy(claim, prefix),
})
