import type { Hex } from 'viem'
import { sleep, withSignal } from '../../../../deadline.js'
import type { Endpoint } from '../../../nodes/endpoint.js'
import type { Receipt, Rpc } from '../../rpc/rpc.js'

/** What must hold before a receipt is believed. */
export interface ReceiptPolicy {
  readonly confirmations: number
  /** Demands that a second endpoint tells the same, where there is one. */
  readonly isCrossChecked: boolean
}

/**
 * A receipt that can be built on, or null: it names our own hash, its block is on the chain that the node itself
 * has, deep enough, and no other healthy node contradicts it; where the value is high, a second one must agree.
 */
export const findReceipt = async (
  rpc: Rpc,
  transaction: Hex,
  { confirmations, isCrossChecked }: ReceiptPolicy,
): Promise<Receipt | null> => {
  const receipt = await rpc.getReceipt(transaction)
  if (receipt === null || receipt.transactionHash.toLowerCase() !== transaction.toLowerCase()) return null

  const [canonical, head, isBelieved] = await Promise.all([
    rpc.getBlock(receipt.blockNumber),
    confirmations > 1 ? rpc.getBlock('latest') : null,
    isCrossChecked && rpc.endpoints.length > 1
      ? isConfirmedTwice(rpc, receipt)
      : isUncontradicted(rpc, receipt),
  ])
  if (canonical?.hash !== receipt.blockHash) return null
  if (
    confirmations > 1 &&
    (head === null || head.number - receipt.blockNumber + 1n < BigInt(confirmations))
  ) {
    return null
  }
  return isBelieved ? receipt : null
}

/** Of all that can be asked, two tell the very same. */
const isConfirmedTwice = (rpc: Rpc, receipt: Receipt): Promise<boolean> =>
  new Promise((resolve) => {
    const witnesses = rpc.listWitnesses()
    let agreeing = 0
    let open = witnesses.length
    if (open < 2) resolve(false)
    for (const witness of witnesses) {
      void rpc
        .getReceipt(receipt.transactionHash, witness)
        .then((told) => told !== null && areSame(told, receipt))
        .catch(() => false)
        .then((agrees) => {
          open -= 1
          if (agrees) agreeing += 1
          if (agreeing > 1) resolve(true)
          else if (open === 0) resolve(false)
        })
    }
  })

/** What a second endpoint makes of a receipt. `behind`: it has not got that block yet. */
type Confirmation = 'agrees' | 'contradicts' | 'behind' | 'silent'

// A healthy node has the block within moments of the first one. Who is silent for longer is not waited for.
const pausesMs = [40, 80, 160, 320]
const opinionDeadlineMs = 750

/** Another endpoint at the head of the chain, where there is one that answers, has the same block there. */
const isUncontradicted = async (rpc: Rpc, receipt: Receipt): Promise<boolean> => {
  const [, ...others] = rpc.listWitnesses()
  if (others.length === 0) return true
  for (const pauseMs of pausesMs) {
    const opinion = await askOthers(rpc, receipt, others)
    if (opinion !== 'behind') return opinion !== 'contradicts'
    await sleep(pauseMs)
  }
  return false
}

const askOthers = async (rpc: Rpc, receipt: Receipt, others: readonly Endpoint[]): Promise<Confirmation> => {
  const asked = others.map((other) => askOther(rpc, receipt, other))
  const agreements = asked.map(async (opinion) => {
    if ((await opinion) !== 'agrees') throw new Error('It does not agree')
  })
  try {
    await Promise.any(agreements)
    return 'agrees'
  } catch {
    const opinions = await Promise.all(asked)
    if (opinions.includes('contradicts')) return 'contradicts'
    return opinions.includes('behind') ? 'behind' : 'silent'
  }
}

const askOther = async (rpc: Rpc, receipt: Receipt, other: Endpoint): Promise<Confirmation> => {
  const asking = Promise.all([
    rpc.getBlock(receipt.blockNumber, other),
    rpc.getReceipt(receipt.transactionHash, other).catch(() => null),
  ])
  try {
    const [block, told] = await withSignal(asking, AbortSignal.timeout(opinionDeadlineMs))
    if (told !== null && !areSame(told, receipt)) return 'contradicts'
    if (block === null) return 'behind'
    return block.hash === receipt.blockHash ? 'agrees' : 'contradicts'
  } catch {
    return 'silent'
  }
}

const areSame = (left: Receipt, right: Receipt): boolean =>
  left.blockHash === right.blockHash &&
  left.status === right.status &&
  describeLogs(left) === describeLogs(right)

const describeLogs = ({ logs }: Receipt): string =>
  JSON.stringify(logs.map(({ address, topics, data }) => [address, ...topics, data])).toLowerCase()
