import { toWord } from '../encoding/address.js'
import type { TronRpc } from '../rpc/rpc.js'
import type { Account, Prices, Receipt, Resources, Simulation } from '../rpc/wireShapes.js'
import type { SignedTransfer } from './decode.js'

/** What the chain says of a transfer that breaks no rule of its own. */
export interface ChainState {
  readonly transfer: SignedTransfer
  /** The id of the block that the transfer names, or null where the chain has none there. */
  readonly referenceId: string | null
  readonly receipt: Receipt | null
  readonly account: Account | null
  readonly resources: Resources
  readonly simulation: Simulation
  /** In smallest units of the token. */
  readonly tokenBalance: bigint
  readonly prices: Prices
}

// The network may have come so much further than what we last heard of it.
const headSlack = 1_000
// A transfer names the last two bytes of a block's number.
const referenceRange = 0x1_0000

// balanceOf(address)
const balanceOf = '70a08231'

/** Asks the chain everything that is to be known of a transfer, at once. */
export const readChainState = async (
  node: TronRpc,
  transfer: SignedTransfer,
  readPrices: () => Promise<Prices>,
): Promise<ChainState> => {
  const { owner, contract, data, transaction } = transfer
  const [referenceId, receipt, account, resources, simulation, balance, prices] = await Promise.all([
    findReferenceId(node, transfer.refBlockBytes),
    node.findReceipt(transaction),
    node.findAccount(owner),
    node.getResources(owner),
    node.simulate({ from: owner, to: contract, data }),
    node.simulate({ from: owner, to: contract, data: `${balanceOf}${toWord(owner)}` }),
    readPrices(),
  ])
  const tokenBalance = /^[0-9a-f]{64}$/.test(balance.returned) ? BigInt(`0x${balance.returned}`) : 0n
  return { transfer, referenceId, receipt, account, resources, simulation, tokenBalance, prices }
}

/** The newest block whose number ends in these two bytes. */
const findReferenceId = async (node: TronRpc, refBlockBytes: string): Promise<string | null> => {
  if (!/^[0-9a-f]{4}$/.test(refBlockBytes)) return null
  const head = await newestNumber(node)
  const low = Number.parseInt(refBlockBytes, 16)
  const top = head + headSlack
  const number = top - ((top - low) % referenceRange)
  return number < 0 ? null : ((await node.findHeader(number))?.id ?? null)
}

const newestNumber = async (node: TronRpc): Promise<number> => {
  const known = node.findNewestNumber()
  return known > 0 ? known : (await node.getHead()).number
}
