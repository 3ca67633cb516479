import { canonicalAsset } from '../../protocol/assetId.js'
import type { Network } from '../network.js'
import type { DirectChain } from './directChain.js'

/** The network of a chain on which payers pay themselves. */
export const createDirectNetwork = (
  chain: DirectChain,
  isTooLarge: Network['isTooLarge'] = () => false,
): Network => {
  const { network: id, signers, isTestnet, secondsToFinality, readAddress, readAsset, estimateFee } = chain
  return {
    id,
    isTestnet,
    signers,
    // Settle waits until the transfer is final.
    secondsToSettle: secondsToFinality,
    // We send none.
    settlementsPerSecond: () => null,
    isAddress: (text) => readAddress(text) !== null,
    normalizeAddress: readAddress,
    assetForm: 'an asset',
    isAsset: (text) => readAsset(text) !== null,
    listTokens: chain.listTokens,
    listMinimums: () => ({}),
    balances: {
      read: async (named, holder) => {
        const asset = readAsset(canonicalAsset(id, named))
        const owner = readAddress(holder)
        // Contracts that the operator does not list are not called.
        if (asset === null || owner === null || !chain.isOffered(asset)) return 0n
        return await chain.readBalance(asset, owner)
      },
    },
    fees:
      estimateFee === undefined
        ? null
        : { estimate: async () => ({ ...(await estimateFee()), paidBy: 'payer' }) },
    isTooLarge,
    vouchers: null,
    routers: null,
    // Only final transactions are confirmed.
    getBlockStatus: async () => 'final',
  }
}
