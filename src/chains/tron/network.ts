import { withSignal } from '../../concurrency/deadline.js'
import type { Network, SettlementFee } from '../../schemes/network.js'
import type { MinimumPayment } from '../common/minimumPayment.js'
import { listKnownTokens } from '../common/tokens.js'
import { formatAddress, readAddress } from './encoding/address.js'
import type { DelegationCost } from './energy/delegationCost.js'
import {
  countDelegationCost,
  type EnergyDelegator,
  typicalEnergyPerPayment,
} from './energy/energyDelegator.js'
import { coinDecimals, findKnownNetwork } from './networks.js'
import { readBalance } from './rpc/readBalance.js'
import type { Rpc } from './rpc/rpc.js'
import type { Prices } from './rpc/wireShapes.js'
import type { TronNetworkSettings } from './settings.js'
import { getBlockStatus } from './transactions/blockStatus.js'

// A block takes 3 s; the transfer waits for one, and before it for one with the delegation.
const blockSeconds = 3

// A signed transfer with its result has this size.
const transferBytes = 345

interface NetworkDependencies extends Pick<Network, 'isTooLarge'> {
  readonly settings: TronNetworkSettings
  readonly rpc: Rpc
  /** Null: payers use their own energy and TRX. */
  readonly sponsor: EnergyDelegator | null
  readonly readPrices: () => Promise<Prices>
  readonly delegationCost: DelegationCost
  readonly minimum: MinimumPayment
}

export const createTronNetwork = ({
  settings,
  rpc,
  sponsor,
  readPrices,
  delegationCost,
  minimum,
  isTooLarge,
}: NetworkDependencies): Network => {
  const { network: id, name, tokens } = settings
  const isAddress = (text: string): boolean => readAddress(text) !== null
  return {
    id,
    isTestnet: findKnownNetwork(name)?.isTestnet ?? false,
    signers: sponsor === null ? [] : [sponsor.address],
    secondsToSettle: sponsor === null ? blockSeconds : 2 * blockSeconds,
    settlementsPerSecond: () => null,
    isAddress,
    normalizeAddress: (text) => {
      const address = readAddress(text)
      return address === null ? null : formatAddress(address)
    },
    assetForm: 'an address',
    isAsset: isAddress,
    listTokens: () => listKnownTokens(tokens),
    // They apply to payments that need our energy, unless the operator sets one for all.
    listMinimums: () =>
      minimum.list(
        tokens.map(({ asset }) => asset),
        sponsor === null ? null : delegationCost.find(),
      ),
    balances: {
      read: async (asset, holder) => {
        const [contract, owner] = [readAddress(asset), readAddress(holder)]
        if (contract === null || owner === null) return 0n
        return await readBalance({ rpc, network: id }, { contract, owner })
      },
    },
    fees: {
      estimate: async () => ({
        ...estimateCost(await readPrices(), sponsor !== null),
        symbol: 'TRX',
        decimals: coinDecimals,
      }),
    },
    isTooLarge,
    vouchers: null,
    routers: null,
    getBlockStatus: (block, signal) => withSignal(getBlockStatus(rpc.endpoints, block), signal),
  }
}

/** Without sponsoring it is what a payer burns that has no energy of its own. */
const estimateCost = (
  { energyPrice, bandwidthPrice }: Prices,
  isSponsored: boolean,
): Pick<SettlementFee, 'amount' | 'paidBy'> =>
  isSponsored
    ? { amount: BigInt(countDelegationCost(2, bandwidthPrice)), paidBy: 'facilitator' }
    : {
        amount: BigInt(typicalEnergyPerPayment * energyPrice + transferBytes * bandwidthPrice),
        paidBy: 'payer',
      }
