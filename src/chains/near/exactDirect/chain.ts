import type { DirectChain } from '../../../schemes/exactDirect/directChain.js'
import { createCheckedLookUp } from '../../common/direct/crossCheck.js'
import type { DirectNode } from '../../common/direct/node.js'
import { createTokenList } from '../../common/direct/tokens.js'
import { readAccountId } from '../encoding/accountId.js'
import { readHash } from '../encoding/base58.js'
import type { NearNetworkSettings } from '../settings.js'
import { readDirectTransaction } from './lookUp.js'
import { isSignedBy } from './signedClaim.js'

// Blocks take about a second, finality about three.
const minAgeSeconds = 30

export const createNearChain = (
  { network, tokens, signers, pollIntervalMs }: NearNetworkSettings,
  node: DirectNode,
  crossCheckAmount: bigint,
): DirectChain => ({
  ...createTokenList(tokens, { readAsset: readAccountId }),
  network,
  signers,
  minAgeSeconds,
  pollIntervalMs,
  readAddress: readAccountId,
  readAsset: readAccountId,
  readTransaction: readHash,
  lookUp: createCheckedLookUp(node, readDirectTransaction, crossCheckAmount),
  isSignedBy: (claim) => isSignedBy(claim, node.ask),
})
