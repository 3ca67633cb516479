import { type Hex, hexToBigInt, numberToHex } from 'viem'
import { z } from 'zod'
import { sleep, withSignal, withTimeout } from '../../../../concurrency/deadline.js'
import type { BlockReference } from '../../../../ports/settlementJournal.js'
import type { BlockStatus } from '../../../../schemes/network.js'
import {
  agreeOnBlock,
  type Ballot,
  canCrossCheck,
  passesCrossCheck,
  type Vote,
} from '../../../nodes/crossCheck.js'
import type { Endpoint } from '../../../nodes/endpoint.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { Receipt } from '../../rpc/wireShapes.js'

export interface ReceiptPolicy {
  readonly confirmations: number
  /** Whether a second endpoint must return the same receipt, where there is one. */
  readonly isCrossChecked: boolean
}

/**
 * Null unless the receipt has the requested hash, its block is canonical on the same node and deep enough,
 * and no other healthy node contradicts it. From the cross-check amount on, a second node must agree.
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
    isCrossChecked && canCrossCheck(rpc.endpoints)
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

const contradictionWaitMs = 500

/**
 * Enough healthy endpoints return the same receipt, and none contradicts it. Once enough have, the others have a moment to
 * contradict; silent ones are not waited for.
 */
const isConfirmedTwice = async (rpc: Rpc, receipt: Receipt): Promise<boolean> => {
  const { endpoints } = rpc
  const ballots: Ballot[] = []
  const isProven = () => passesCrossCheck({ ballots, endpoints, outcome: 'success' })
  const enough = new AbortController()
  const voting = Promise.all(
    rpc.listWitnesses().map(async (witness) => {
      const vote = await rpc
        .getReceipt(receipt.transactionHash, witness)
        .then((other) => voteOnReceipt(other, receipt))
        .catch((): Vote => 'unknown')
      ballots.push({ host: witness.host, vote })
      if (isProven()) enough.abort()
    }),
  )
  await withSignal(voting, enough.signal).catch(() => undefined)
  const isOver = new AbortController()
  if (isProven()) await Promise.race([voting, sleep(contradictionWaitMs, isOver.signal)])
  isOver.abort()
  return isProven()
}

const voteOnReceipt = (other: Receipt | null, receipt: Receipt): Vote => {
  if (other === null) return 'unknown'
  return areSame(other, receipt) ? 'confirms' : 'contradicts'
}

/** `behind`: the second endpoint does not have the block yet. */
type Confirmation = 'agrees' | 'contradicts' | 'behind' | 'silent'

// Healthy nodes have a block within moments of each other; a silent one is not waited for.
const pausesMs = [40, 80, 160, 320]
const secondEndpointTimeoutMs = 750

/** No other healthy endpoint has a different block at that height. */
const isUncontradicted = async (rpc: Rpc, receipt: Receipt): Promise<boolean> => {
  const [, ...others] = rpc.listWitnesses()
  if (others.length === 0) return true
  for (const pauseMs of pausesMs) {
    const confirmation = await askOthers(rpc, receipt, others)
    if (confirmation !== 'behind') return confirmation !== 'contradicts'
    await sleep(pauseMs)
  }
  return false
}

const askOthers = async (rpc: Rpc, receipt: Receipt, others: readonly Endpoint[]): Promise<Confirmation> => {
  const asked = others.map((other) => askOther(rpc, receipt, other))
  const agreements = asked.map(async (confirmation) => {
    if ((await confirmation) !== 'agrees') throw new Error('The endpoint disagrees')
  })
  try {
    await Promise.any(agreements)
    return 'agrees'
  } catch {
    const confirmations = await Promise.all(asked)
    if (confirmations.includes('contradicts')) return 'contradicts'
    return confirmations.includes('behind') ? 'behind' : 'silent'
  }
}

const askOther = async (rpc: Rpc, receipt: Receipt, endpoint: Endpoint): Promise<Confirmation> => {
  const asking = Promise.all([
    rpc.getBlock(receipt.blockNumber, endpoint),
    rpc.getReceipt(receipt.transactionHash, endpoint).catch(() => null),
  ])
  try {
    const [block, other] = await withTimeout(asking, secondEndpointTimeoutMs)
    if (other !== null && !areSame(other, receipt)) return 'contradicts'
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

/** A node can have a block and lack receipts of it, so the other endpoints are asked for those; a silent one is not waited for. */
export const withOtherReceipts = (rpc: Rpc): Rpc => ({
  ...rpc,
  getReceipt: async (transaction, endpoint) => {
    const receipt = await rpc.getReceipt(transaction, endpoint)
    if (receipt !== null || endpoint !== undefined) return receipt
    const [, ...others] = rpc.listWitnesses()
    const found = others.map(async (other) => {
      const elsewhere = await rpc.getReceipt(transaction, other)
      if (elsewhere === null) throw new Error('The endpoint lacks the receipt')
      return elsewhere
    })
    return await withTimeout(Promise.any(found), secondEndpointTimeoutMs).catch(() => null)
  },
})

const hex = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value))
const header = z.object({ number: hex.transform((value) => hexToBigInt(value)), hash: hex }).nullable()

/** Whether a block is still canonical, by agreement of the nodes. */
export const getBlockStatus = (
  endpoints: readonly Endpoint[],
  block: BlockReference,
  finalityDepth: number,
): Promise<BlockStatus> => agreeOnBlock(endpoints, (endpoint) => askEndpoint(endpoint, block, finalityDepth))

const askEndpoint = async (
  endpoint: Endpoint,
  { number, hash }: BlockReference,
  finalityDepth: number,
): Promise<BlockStatus> => {
  const ask = (tag: string) => endpoint.request('eth_getBlockByNumber', [tag, false], header)
  const [found, head] = await Promise.all([ask(numberToHex(number)), ask('latest')])
  // One URL may balance over several nodes, of which one lags behind.
  if (found == null || head == null || found.number !== number) return 'unknown'
  const depth = head.number - number
  if (found.hash.toLowerCase() === hash.toLowerCase()) {
    return depth >= BigInt(finalityDepth) ? 'final' : 'canonical'
  }
  // A node's head may itself be replaced.
  return depth > 0n ? 'orphaned' : 'unknown'
}
