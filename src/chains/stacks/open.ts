import { toCaip19 } from '../../protocol/assetId.js'
import type { DirectChain } from '../../schemes/exactDirect/directChain.js'
import type { ChainContext, OpenChain } from '../chain.js'
import { createCheckedLookUp } from '../common/direct/crossCheck.js'
import { readHexHash } from '../common/direct/hexHash.js'
import type { DirectNode } from '../common/direct/node.js'
import { openDirectFamily } from '../common/direct/openDirect.js'
import type { DirectSettings } from '../common/direct/settings.js'
import { createTokenList } from '../common/direct/tokens.js'
import { createPathEndpoint } from '../nodes/pathEndpoint.js'
import { readContractPrincipal, readPrincipal } from './addresses.js'
import { createFindTokenName, createLookUp } from './lookUp.js'
import { findTokenNames, proveChain, readFeeRate, readTokenBalance } from './rpc.js'
import type { StacksNetworkSettings, StacksOwnSettings } from './settings.js'
import { isSignedBy } from './signedClaim.js'

// Blocks follow each other within seconds, but wait for Bitcoin when signers change.
const maxHeadAgeSeconds = 1_800

export const open = (
  settings: DirectSettings<StacksOwnSettings>,
  context: ChainContext,
): Promise<OpenChain> =>
  openDirectFamily(settings, context, (network, { rpcTimeoutMs, crossCheckAmount }) => {
    const headers = network.apiKey === null ? {} : { 'x-api-key': network.apiKey }
    const endpoints = network.rpcUrls.map((url) => createPathEndpoint(url, rpcTimeoutMs, headers))
    return {
      endpoints,
      prove: proveChain,
      maxHeadAgeSeconds,
      createChain: (node) => createChain(network, node, crossCheckAmount),
    }
  })

const maxLength = 256

// Confirmations take seconds each; Bitcoin blocks ten minutes on average, and twenty often enough.
const minAgeSeconds = 120
const burnBlockSeconds = 1_200

// Usual times, for estimates.
const secondsPerBlock = 6
const usualBurnBlockSeconds = 600

// A signed call of `transfer` with a post-condition has this size.
const transferBytes = 350n

const createChain = (
  settings: StacksNetworkSettings,
  node: DirectNode,
  crossCheckAmount: bigint,
): DirectChain => {
  const { chainId } = settings
  const tokens = settings.tokens.map(({ asset: listed, ...token }) => {
    const [asset = '', name = null] = listed.split('::')
    return { ...token, asset, name }
  })
  const pinned = tokens.flatMap(({ asset, name }): [string, string][] =>
    name === null ? [] : [[asset, name]],
  )
  const read = createLookUp(settings, createFindTokenName(new Map(pinned)))
  const readAsset = (text: string) => (text.length > maxLength ? null : readContractPrincipal(text, chainId))
  const list = createTokenList(tokens, {
    readAsset,
    formatAsset: (asset) => toCaip19(settings.network, asset),
    describeMore: (asset) => ({ contractAddress: asset, networkName: settings.name }),
  })

  return {
    ...list,
    network: settings.network,
    signers: settings.signers,
    carriesMemo: true,
    isTestnet: settings.isTestnet,
    secondsToFinality:
      settings.own.CONFIRMATIONS * secondsPerBlock + settings.own.BURN_CONFIRMATIONS * usualBurnBlockSeconds,
    minAgeSeconds: minAgeSeconds + settings.own.BURN_CONFIRMATIONS * burnBlockSeconds,
    pollIntervalMs: settings.pollIntervalMs,
    readAddress: (text) => (text.length > maxLength ? null : readPrincipal(text, chainId)),
    readAsset,
    readTransaction: readHexHash,
    readClaimedAsset: ({ contractAddress }) => {
      if (contractAddress === undefined || contractAddress === null) return null
      return typeof contractAddress === 'string' ? (readAsset(contractAddress) ?? 'invalid') : 'invalid'
    },
    // Clients pay `extra.contractAddress` and ignore `asset`.
    findContradiction: (asset, { contractAddress }) =>
      contractAddress === undefined || contractAddress === asset
        ? null
        : `extra.contractAddress: clients would pay it, and it is not the asset ${asset}`,
    lookUp: createCheckedLookUp(node, read, crossCheckAmount),
    hasAsset: async (contract) => (await findTokenNames(node.ask, contract)) !== null,
    readBalance: (contract, owner) => readTokenBalance(node.ask, { contract, owner }),
    estimateFee: async () => ({
      amount: (await readFeeRate(node.ask)) * transferBytes,
      symbol: 'STX',
      decimals: 6,
    }),
    isSignedBy: async (claim) => isSignedBy(claim, chainId),
  }
}
