import { Secret } from '../../platform/secret.js'
import type { DirectChain } from '../../schemes/exactDirect/directChain.js'
import type { ChainContext, OpenChain } from '../chain.js'
import { createCheckedLookUp } from '../common/direct/crossCheck.js'
import type { DirectNode } from '../common/direct/node.js'
import { openDirectFamily } from '../common/direct/openDirect.js'
import type { DirectSettings } from '../common/direct/settings.js'
import { createTokenList } from '../common/direct/tokens.js'
import { createJsonRpcEndpoint } from '../nodes/jsonRpcEndpoint.js'
import { readAccountId, readHash } from './addresses.js'
import { lookUpTransaction } from './lookUp.js'
import { hasToken, proveChain, readGasPrice, readTokenBalance } from './rpc.js'
import type { NearNetworkSettings } from './settings.js'
import { isSignedBy } from './signedClaim.js'

const maxHeadAgeSeconds = 60

export const open = (
  settings: DirectSettings<NearNetworkSettings['own']>,
  context: ChainContext,
): Promise<OpenChain> =>
  openDirectFamily(settings, context, (network, { rpcTimeoutMs, crossCheckAmount }) => {
    const headers =
      network.apiKey === null ? {} : { authorization: new Secret(`Bearer ${network.apiKey.reveal()}`) }
    const endpoints = network.rpcUrls.map((url) =>
      createJsonRpcEndpoint(url, rpcTimeoutMs, { headers, takesBatches: false }),
    )
    return {
      endpoints,
      prove: proveChain,
      maxHeadAgeSeconds,
      createChain: (node) => createChain(network, node, crossCheckAmount),
    }
  })

// Blocks take about a second, finality about three.
const minAgeSeconds = 30
const secondsToFinality = 3

// What `ft_transfer` burns, with its receipts: about 5 Tgas.
const typicalGas = 5_000_000_000_000n

const createChain = (
  { network, isTestnet, tokens, signers, pollIntervalMs }: NearNetworkSettings,
  node: DirectNode,
  crossCheckAmount: bigint,
): DirectChain => ({
  ...createTokenList(tokens, { readAsset: readAccountId }),
  network,
  signers,
  carriesMemo: true,
  isTestnet,
  minAgeSeconds,
  secondsToFinality,
  pollIntervalMs,
  readAddress: readAccountId,
  readAsset: readAccountId,
  readTransaction: readHash,
  // Neither the payload nor `extra` names the asset again.
  readClaimedAsset: () => null,
  findContradiction: () => null,
  lookUp: createCheckedLookUp(node, lookUpTransaction, crossCheckAmount),
  hasAsset: (token) => hasToken(node.ask, token),
  readBalance: (token, account) => readTokenBalance(node.ask, { token, account }),
  estimateFee: async () => ({
    amount: (await readGasPrice(node.ask)) * typicalGas,
    symbol: 'NEAR',
    decimals: 24,
  }),
  isSignedBy: (claim) => isSignedBy(claim, node.ask),
})
