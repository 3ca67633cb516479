import type { DirectChain } from '../../../schemes/exactDirect/directChain.js'
import { createCheckedLookUp } from '../../common/direct/crossCheck.js'
import type { DirectNode } from '../../common/direct/node.js'
import { createTokenList } from '../../common/direct/tokens.js'
import { readAccountId } from '../encoding/accountId.js'
import { readHash } from '../encoding/base58.js'
import { hasToken, readGasPrice, readTokenBalance } from '../rpc/rpc.js'
import type { NearNetworkSettings } from '../settings.js'
import { readDirectTransaction } from './lookUp.js'
import { isSignedBy } from './signedClaim.js'

// Blocks take about a second, finality about three.
const minAgeSeconds = 30
const secondsToFinality = 3

// What `ft_transfer` burns, with its receipts: about 5 Tgas.
const typicalGas = 5_000_000_000_000n

export const createNearChain = (
  { network, isTestnet, tokens, signers, pollIntervalMs }: NearNetworkSettings,
  node: DirectNode,
  crossCheckAmount: bigint,
): DirectChain => ({
  ...createTokenList(tokens, { readAsset: readAccountId }),
  network,
  signers,
  isTestnet,
  minAgeSeconds,
  secondsToFinality,
  pollIntervalMs,
  readAddress: readAccountId,
  readAsset: readAccountId,
  readTransaction: readHash,
  lookUp: createCheckedLookUp(node, readDirectTransaction, crossCheckAmount),
  hasAsset: (token) => hasToken(node.ask, token),
  readBalance: (token, account) => readTokenBalance(node.ask, { token, account }),
  estimateFee: async () => ({
    amount: (await readGasPrice(node.ask)) * typicalGas,
    symbol: 'NEAR',
    decimals: 24,
  }),
  isSignedBy: (claim) => isSignedBy(claim, node.ask),
})
