import { toWord } from '../encoding/address.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Account, Prices, Receipt, Resources, Simulation } from '../rpc/wireShapes.js'
import type { SignedTransfer } from './decode.js'

export interface ChainState {
  readonly transfer: SignedTransfer
  /** Id of the referenced block; null if it does not exist. */
  readonly referenceId: string | null
  readonly receipt: Receipt | null
  readonly account: Account | null
  readonly resources: Resources
  readonly simulation: Simulation
  readonly tokenBalance: bigint
  readonly prices: Prices
}

// Blocks that the chain may be ahead of the highest known block.
const headSlack = 1_000
// `ref_block_bytes` are the last two bytes of a block number.
const referenceRange = 0x1_0000

// balanceOf(address)
const balanceOf = '70a08231'

export const readChainState = async (
  rpc: Rpc,
  transfer: SignedTransfer,
  readPrices: () => Promise<Prices>,
): Promise<ChainState> => {
  const { owner, contract, data, transaction } = transfer
  const [referenceId, receipt, account, resources, simulation, balance, prices] = await Promise.all([
    findReferenceId(rpc, transfer.refBlockBytes),
    rpc.findReceipt(transaction),
    rpc.findAccount(owner),
    rpc.getResources(owner),
    rpc.simulate({ from: owner, to: contract, data }),
    rpc.simulate({ from: owner, to: contract, data: `${balanceOf}${toWord(owner)}` }),
    readPrices(),
  ])
  const tokenBalance = /^[0-9a-f]{64}$/.test(balance.returned) ? BigInt(`0x${balance.returned}`) : 0n
  return { transfer, referenceId, receipt, account, resources, simulation, tokenBalance, prices }
}

/** Newest block whose number ends in these two bytes. */
const findReferenceId = async (rpc: Rpc, refBlockBytes: string): Promise<string | null> => {
  if (!/^[0-9a-f]{4}$/.test(refBlockBytes)) return null
  const head = await getNewestBlockNumber(rpc)
  const low = Number.parseInt(refBlockBytes, 16)
  const top = head + headSlack
  const number = top - ((top - low) % referenceRange)
  return number < 0 ? null : ((await rpc.findHeader(number))?.id ?? null)
}

const getNewestBlockNumber = async (rpc: Rpc): Promise<number> => {
  const known = rpc.getHighestKnownBlock()
  return known > 0 ? known : (await rpc.getHead()).number
}
