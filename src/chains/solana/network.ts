import { withSignal } from '../../concurrency/deadline.js'
import type { Network } from '../../schemes/network.js'
import type { MinimumPayment } from '../common/minimumPayment.js'
import { listKnownTokens } from '../common/tokens.js'
import type { FindAssociatedAccount } from './encoding/associatedAccount.js'
import { readAddress } from './encoding/base58.js'
import { coinDecimals, findKnownNetwork } from './networks.js'
import { readBalance } from './rpc/readBalance.js'
import type { Rpc } from './rpc/rpc.js'
import type { SolanaNetworkSettings } from './settings.js'
import { getBlockStatus } from './transactions/blockStatus.js'
import { baseFee } from './transactions/fees.js'

// A confirmed block follows after some slots of 0.4 s each.
const secondsToSettle = 2

interface NetworkDependencies extends Pick<Network, 'isTooLarge'> {
  readonly settings: SolanaNetworkSettings
  readonly rpc: Rpc
  readonly findAssociatedAccount: FindAssociatedAccount
  readonly signers: readonly string[]
  readonly minimum: MinimumPayment
}

export const createSolanaNetwork = ({
  settings,
  rpc,
  findAssociatedAccount,
  signers,
  minimum,
  isTooLarge,
}: NetworkDependencies): Network => {
  const { network: id } = settings
  const isAddress = (text: string): boolean => readAddress(text) !== null
  return {
    id,
    isTestnet: findKnownNetwork(settings.reference)?.isTestnet ?? false,
    signers,
    secondsToSettle,
    settlementsPerSecond: () => null,
    isAddress,
    // Base58 has one spelling for each key.
    normalizeAddress: readAddress,
    assetForm: 'an address',
    isAsset: isAddress,
    listTokens: () => listKnownTokens(settings.tokens),
    listMinimums: () =>
      minimum.list(
        settings.tokens.map(({ asset }) => asset),
        baseFee,
      ),
    balances: {
      read: async (asset, holder) => {
        const [mint, owner] = [readAddress(asset), readAddress(holder)]
        if (mint === null || owner === null) return 0n
        return await readBalance({ network: id, rpc, findAssociatedAccount }, { mint, owner })
      },
    },
    // Without the priority fee, which clients choose.
    fees: {
      estimate: async () => ({
        amount: baseFee,
        symbol: 'SOL',
        decimals: coinDecimals,
        paidBy: 'facilitator',
      }),
    },
    isTooLarge,
    vouchers: null,
    routers: null,
    getBlockStatus: (block, signal) => withSignal(getBlockStatus(rpc.endpoints, block), signal),
  }
}
