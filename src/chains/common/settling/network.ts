import type { Network, SettlementFee } from '../../../schemes/network.js'
import type { MinimumPayment } from '../minimumPayment.js'
import { completeTokenFacts, listKnownTokens } from '../tokens.js'
import type { SettlingNetworkSettings } from './settings.js'

interface SettlingNetwork<Address>
  extends Pick<Network, 'signers' | 'secondsToSettle' | 'isTooLarge' | 'getBlockStatus'> {
  readonly settings: SettlingNetworkSettings
  readonly minimum: MinimumPayment
  /** What a settlement usually costs us, in smallest units of the native coin; null: nothing. */
  findCost(): bigint | null
  readAddress(text: string): Address | null
  /** The one spelling of an address. */
  formatAddress(address: Address): string
  /** Throws only if the chain is unavailable. */
  readBalance(asset: Address, owner: Address): Promise<bigint>
  estimateFee(): Promise<SettlementFee>
}

/** A network on which we send payments, and whose assets are named by addresses. */
export const createSettlingNetwork = <Address>({
  settings,
  minimum,
  findCost,
  readAddress,
  formatAddress,
  readBalance,
  estimateFee,
  ...own
}: SettlingNetwork<Address>): Network => {
  const isAddress = (text: string): boolean => readAddress(text) !== null
  const normalizeAddress = (text: string): string | null => {
    const address = readAddress(text)
    return address === null ? null : formatAddress(address)
  }
  const tokens = settings.tokens.map((token) =>
    completeTokenFacts(
      { ...token, asset: normalizeAddress(token.asset) ?? token.asset },
      settings.knownTokens,
    ),
  )
  return {
    ...own,
    id: settings.network,
    isTestnet: settings.isTestnet,
    settlementsPerSecond: () => null,
    isAddress,
    normalizeAddress,
    assetForm: 'an address',
    isAsset: isAddress,
    listTokens: () => listKnownTokens(tokens),
    listMinimums: () =>
      minimum.list(
        tokens.map(({ asset }) => asset),
        findCost(),
      ),
    balances: {
      read: async (named, holder) => {
        const [asset, owner] = [readAddress(named), readAddress(holder)]
        return asset === null || owner === null ? 0n : await readBalance(asset, owner)
      },
    },
    fees: { estimate: estimateFee },
    vouchers: null,
    routers: null,
  }
}
