import { canonicalAsset } from '../../protocol/assetId.js'
import type { Scheme } from '../scheme.js'
import type { DirectChain } from './directChain.js'

type NetworkFacts = Pick<
  Scheme,
  'normalizeAddress' | 'isTestnet' | 'listTokens' | 'readBalance' | 'estimateFee' | 'secondsToSettle'
>

/** What payers and their wallets are shown of a network on which they pay themselves. */
export const describeNetworkFacts = (chain: DirectChain): NetworkFacts => {
  const { network, isTestnet, secondsToFinality, readAddress, listTokens, estimateFee } = chain
  return {
    normalizeAddress: readAddress,
    isTestnet,
    // Settle waits until the transfer is final.
    secondsToSettle: secondsToFinality,
    listTokens,
    readBalance: async (named, holder) => {
      const asset = chain.readAsset(canonicalAsset(network, named))
      const owner = readAddress(holder)
      // Contracts that the operator does not list are not called.
      if (asset === null || owner === null || !chain.isOffered(asset)) return 0n
      return await chain.readBalance(asset, owner)
    },
    ...(estimateFee === undefined
      ? {}
      : {
          estimateFee: async () => ({ ...(await estimateFee()), paidBy: 'payer' }),
        }),
  }
}
