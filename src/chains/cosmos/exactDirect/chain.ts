import type { DirectChain } from '../../../schemes/exactDirect/directChain.js'
import { createCheckedLookUp } from '../../common/direct/crossCheck.js'
import type { DirectNode } from '../../common/direct/node.js'
import { createTokenList } from '../../common/direct/tokens.js'
import { networkUnavailable } from '../../common/networkUnavailable.js'
import { readAddress } from '../encoding/address.js'
import { readDenom } from '../encoding/denom.js'
import { readHash } from '../encoding/hash.js'
import { readBankBalance, readMinimumGasPrices, readSupply } from '../rpc/rpc.js'
import type { CosmosNetworkSettings } from '../settings.js'
import { readGasPrices } from './gasPrice.js'
import { createReadTransaction } from './lookUp.js'
import { isSignedBy } from './signedClaim.js'

// Blocks take about two seconds, and are final.
const minAgeSeconds = 30
const secondsToFinality = 2

// A transfer by the bank module takes about this.
const typicalGas = 100_000n

export const createCosmosChain = (
  { network, chainId, isTestnet, tokens, signers, pollIntervalMs, own }: CosmosNetworkSettings,
  node: DirectNode,
  crossCheckAmount: bigint,
): DirectChain => {
  const { PREFIX: prefix } = own
  const list = createTokenList(tokens, {
    readAsset: readDenom,
    describeMore: (denom) => ({ assetDenom: denom }),
  })

  /** In the first token of ours that the node takes for fees. */
  const estimateFee = async () => {
    const prices = readGasPrices(await readMinimumGasPrices(node.ask))
    for (const { asset, symbol, decimals } of list.listTokens()) {
      const price = prices.find(({ denom }) => denom === asset)
      if (price !== undefined) return { amount: price.feeFor(typicalGas), symbol, decimals }
    }
    throw networkUnavailable(network, new Error('The node names no price of gas in a listed token'))
  }

  return {
    ...list,
    network,
    signers,
    isTestnet,
    minAgeSeconds,
    secondsToFinality,
    pollIntervalMs,
    readAddress: (text) => readAddress(text, prefix),
    readAsset: readDenom,
    readTransaction: readHash,
    readClaimedAsset: ({ denom }) => {
      if (denom === undefined || denom === null) return null
      return typeof denom === 'string' ? (readDenom(denom) ?? 'invalid') : 'invalid'
    },
    findContradiction: (asset, extra) => {
      const field = ['denom', 'assetDenom'].find((name) => extra[name] != null && extra[name] !== asset)
      return field === undefined
        ? null
        : `extra.${field}: clients would pay it, and it is not the asset ${asset}`
    },
    lookUp: createCheckedLookUp(node, createReadTransaction({ chainId, prefix }), crossCheckAmount),
    hasAsset: async (denom) => (await readSupply(node.ask, denom)) > 0n,
    readBalance: (denom, address) => readBankBalance(node.ask, { denom, address }),
    estimateFee,
    isSignedBy: async (claim) => isSignedBy(claim, prefix),
  }
}
