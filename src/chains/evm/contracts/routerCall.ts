import { encodeEventTopics, encodeFunctionData, type Hex } from 'viem'
import { isSameAddress } from '../abi/address.js'
import { keccak } from '../abi/words.js'
import type { Receipt } from '../rpc/wireShapes.js'
import { type ExpectedTransfer, isTransfer } from '../tokens/erc20.js'
import type { ContractCall } from '../transactions/settlementCall.js'
import { uptoRouterAbi } from './uptoRouterAbi.js'

const [executedTopic] = encodeEventTopics({ abi: uptoRouterAbi, eventName: 'Executed' })

/** The router's event names a payment by the hash of its id. */
export const hashCallId = (id: string): Hex => keccak(id)

/** One call through the router, which reverts as the call does. */
export const encodeExecuteOne = (id: string, { to, data }: ContractCall): Hex =>
  encodeFunctionData({
    abi: uptoRouterAbi,
    functionName: 'executeOne',
    args: [{ target: to, id: hashCallId(id), data }],
  })

/** A call that returns a word where the router is deployed: calls of an address without code succeed. */
export const planRouterRead = (router: Hex, recipient: Hex): ContractCall => ({
  to: router,
  data: encodeFunctionData({ abi: uptoRouterAbi, functionName: 'routerOf', args: [recipient] }),
})

/** Whether a transaction made calls by the router. */
export const hasExecuted = ({ logs }: Receipt, router: Hex | null): boolean =>
  router !== null &&
  logs.some(({ address, topics: [topic] }) => isSameAddress(address, router) && topic === executedTopic)

/**
 * What the router's events show of a payment; null if it did not execute it. The transfer must be the call's own: after
 * the event of the call before.
 */
export const judgeExecuted = (
  { status, logs }: Receipt,
  {
    router,
    id,
    transfer,
  }: { readonly router: Hex; readonly id: string; readonly transfer: ExpectedTransfer },
): 'paid' | 'unpaid' | null => {
  if (!status) return null
  const hash = hashCallId(id)
  let isPaid = false
  for (const log of logs) {
    if (isTransfer(log, transfer)) isPaid = true
    if (!isSameAddress(log.address, router) || log.topics[0] !== executedTopic) continue
    if (log.topics[1]?.toLowerCase() === hash) return isPaid ? 'paid' : 'unpaid'
    isPaid = false
  }
  return null
}
