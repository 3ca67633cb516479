import type { Network } from '../../schemes/network.js'
import type { MinimumPayment } from '../common/minimumPayment.js'
import { networkUnavailable } from '../common/networkUnavailable.js'
import { completeTokenFacts, listKnownTokens } from '../common/tokens.js'
import { readAddress } from './encoding/cells.js'
import { coinDecimals, findKnownNetwork } from './networks.js'
import type { TonNetworkSettings } from './settings.js'
import type { JettonRegistry } from './tokens/jettonRegistry.js'
import { typicalNanoTon } from './transactions/relayMessage.js'

// A payment takes up to four blocks, of the wallet, the two jetton wallets and the masterchain, about 5 s apart.
const secondsToSettle = 20

interface NetworkDependencies extends Pick<Network, 'isTooLarge'> {
  readonly settings: TonNetworkSettings
  readonly jettons: JettonRegistry
  readonly signers: readonly string[]
  readonly minimum: MinimumPayment
}

export const createTonNetwork = ({
  settings,
  jettons,
  signers,
  minimum,
  isTooLarge,
}: NetworkDependencies): Network => {
  const { network: id } = settings
  const known = findKnownNetwork(settings.name)
  const builtInTokens = known?.tokens ?? []
  const normalize = (text: string): string | null => readAddress(text)?.toRawString() ?? null
  const isAddress = (text: string): boolean => readAddress(text) !== null
  return {
    id,
    isTestnet: known?.isTestnet ?? false,
    signers,
    secondsToSettle,
    settlementsPerSecond: () => null,
    isAddress,
    normalizeAddress: normalize,
    assetForm: 'an address',
    isAsset: isAddress,
    listTokens: () =>
      listKnownTokens(
        settings.tokens.map((token) =>
          completeTokenFacts({ ...token, asset: normalize(token.asset) ?? token.asset }, builtInTokens),
        ),
      ),
    // Only relayed payments have one: for the others the payer pays.
    listMinimums: () =>
      minimum.list(
        settings.tokens.map(({ asset }) => normalize(asset) ?? asset),
        typicalNanoTon,
      ),
    balances: {
      read: async (asset, holder) => {
        const [master, owner] = [readAddress(asset), readAddress(holder)]
        if (master === null || owner === null) return 0n
        const balance = await jettons.findBalance(master, owner)
        if (balance !== null) return balance
        throw networkUnavailable(id, new Error(`${asset} did not answer as a jetton does`))
      },
    },
    // It is for a relayed payment; otherwise the payer's wallet pays about the same.
    fees: {
      estimate: async () => ({
        amount: typicalNanoTon,
        symbol: 'TON',
        decimals: coinDecimals,
        paidBy: 'facilitator',
      }),
    },
    isTooLarge,
    vouchers: null,
    routers: null,
    // A block in the masterchain is final, and nodes report no others.
    getBlockStatus: async () => 'final',
  }
}
