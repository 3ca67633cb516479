import { withSignal } from '../../concurrency/deadline.js'
import type { BlockReference } from '../../ports/settlementJournal.js'
import type { BlockStatus, Network, SettlementFee } from '../../schemes/network.js'
import { networkUnavailable } from '../common/networkUnavailable.js'
import { createSettlingNetwork } from '../common/settling/network.js'
import type { SettlingTerms } from '../common/settling/openFamily.js'
import { agreeOnBlock } from '../nodes/crossCheck.js'
import type { Endpoint } from '../nodes/endpoint.js'
import { formatAddress, readAddress, type TronAddress, toWord } from './encoding/address.js'
import { countDelegationCost, type DelegationCost, typicalEnergyPerPayment } from './energy/energyCosts.js'
import type { EnergyDelegator } from './energy/energyDelegator.js'
import { coinDecimals } from './networks.js'
import type { Rpc } from './rpc/rpc.js'
import { headerShape, type Prices } from './rpc/wireShapes.js'
import type { TronNetworkSettings } from './settings.js'

// A block takes 3 s; the transfer waits for one, and before it for one with the delegation.
const blockSeconds = 3

// A signed transfer with its result has this size.
const transferBytes = 345

interface NetworkDependencies {
  readonly settings: TronNetworkSettings
  readonly rpc: Rpc
  /** Null: payers use their own energy and TRX. */
  readonly sponsor: EnergyDelegator | null
  readonly readPrices: () => Promise<Prices>
  readonly delegationCost: DelegationCost
}

export const createTronNetwork = (
  { settings, rpc, sponsor, readPrices, delegationCost }: NetworkDependencies,
  terms: SettlingTerms,
): Network =>
  createSettlingNetwork({
    ...terms,
    settings,
    signers: sponsor === null ? [] : [sponsor.address],
    secondsToSettle: sponsor === null ? blockSeconds : 2 * blockSeconds,
    // It applies to payments that need our energy, unless the operator sets a minimum for all.
    findCost: () => (sponsor === null ? null : delegationCost.find()),
    readAddress,
    formatAddress,
    readBalance: (contract, owner) => readBalance({ rpc, network: settings.network }, { contract, owner }),
    estimateFee: async () => ({
      ...estimateCost(await readPrices(), sponsor !== null),
      symbol: 'TRX',
      decimals: coinDecimals,
    }),
    getBlockStatus: (block, signal) =>
      withSignal(
        agreeOnBlock(rpc.endpoints, (endpoint) => askEndpoint(endpoint, block)),
        signal,
      ),
  })

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

// balanceOf(address)
const balanceOf = '70a08231'

const wordForm = /^[0-9a-f]{64}$/

interface BalanceQuery {
  readonly contract: TronAddress
  readonly owner: TronAddress
}

/** Reads the newest block. Any answer but one number means that the address is no token. */
export const readBalance = async (
  { rpc, network }: { readonly rpc: Pick<Rpc, 'simulate'>; readonly network: string },
  query: BalanceQuery,
): Promise<bigint> => {
  const balance = await findBalance(rpc, query)
  if (balance !== null) return balance
  throw networkUnavailable(network, new Error(`${formatAddress(query.contract)} did not answer balanceOf`))
}

/** Whether the contract answers as a token does. */
export const hasToken = async (rpc: Pick<Rpc, 'simulate'>, contract: string): Promise<boolean> => {
  const address = readAddress(contract)
  return address !== null && (await findBalance(rpc, { contract: address, owner: address })) !== null
}

const findBalance = async (
  rpc: Pick<Rpc, 'simulate'>,
  { contract, owner }: BalanceQuery,
): Promise<bigint | null> => {
  const answer = await rpc.simulate({ from: owner, to: contract, data: `${balanceOf}${toWord(owner)}` })
  return answer.succeeds && wordForm.test(answer.returned) ? BigInt(`0x${answer.returned}`) : null
}

/** Whether a block is still canonical; solid blocks are final. */
const askEndpoint = async (endpoint: Endpoint, block: BlockReference): Promise<BlockStatus> => {
  const number = String(block.number)
  const [solid, found, head] = await Promise.all([
    endpoint.request('/walletsolidity/getblock', { id_or_num: number, detail: false }, headerShape),
    endpoint.request('/wallet/getblock', { id_or_num: number, detail: false }, headerShape),
    endpoint.request('/wallet/getblock', { detail: false }, headerShape),
  ])
  if (solid !== null && String(solid.number) === number) return solid.id === block.hash ? 'final' : 'orphaned'
  if (found === null || head === null || String(found.number) !== number) return 'unknown'
  if (found.id === block.hash) return 'canonical'
  // A node's newest block may itself be orphaned.
  return BigInt(head.number) > block.number ? 'orphaned' : 'unknown'
}
