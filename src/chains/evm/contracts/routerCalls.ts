import { decodeFunctionData, encodeEventTopics, encodeFunctionData, type Hex, toFunctionSelector } from 'viem'
import { isSameAddress } from '../abi/address.js'
import { keccak } from '../abi/words.js'
import { isPresent } from '../rpc/presence.js'
import type { Receipt } from '../rpc/wireShapes.js'
import { type ExpectedTransfer, isTransfer, tokenAbi } from '../tokens/erc20.js'
import type { BatchContract, BatchedCall, CarriedCall } from '../transactions/batching/batchContract.js'
import type { ContractCall } from '../transactions/settlementCall.js'
import type { Routers } from './routers.js'
import { uptoRouterAbi } from './uptoRouterAbi.js'

const [executedTopic] = encodeEventTopics({ abi: uptoRouterAbi, eventName: 'Executed' })

/** The router's event names a payment by the hash of its id. */
const hashCallId = (id: string): Hex => keccak(id)

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

/**
 * What the router makes in one transaction, of all schemes: permits, EIP-3009, and calls of contracts that take any caller
 * and whose events name no payment.
 */
export const createRouterBatch = (
  { shared, presence }: Pick<Routers, 'shared' | 'presence'>,
  openContracts: readonly Hex[],
): BatchContract => {
  const isOpenCall = ({ to }: Pick<ContractCall, 'to'>): boolean =>
    openContracts.some((contract) => isSameAddress(to, contract))

  return {
    address: shared,
    isDeployed: () => isPresent(presence),
    canCarry: (call) => isOwnCall(call, shared) || isOpenCall(call) || movesByAuthorization(call),
    plan: (calls) => {
      if (calls.length === 0 || calls.length > maxCalls) throw new Error('The batch has a wrong size')
      return {
        to: shared,
        data: encodeFunctionData({
          abi: uptoRouterAbi,
          functionName: 'execute',
          args: [calls.map((call) => unwrap(call, shared, isOpenCall(call)))],
        }),
        readResults: (answer) => {
          if (!/^0x[0-9a-fA-F]{64}$/.test(answer)) return null
          const executed = BigInt(answer)
          return calls.map((_, index) => ((executed >> BigInt(index)) & 1n) === 1n)
        },
      }
    },
    isBatch: (data) => data.startsWith(executeSelector),
    listCalls: (data) => decodeCalls(data).map((call) => separate(call, shared)),
  }
}

const selectorOf = (name: string): string =>
  uptoRouterAbi.flatMap((item) =>
    item.type === 'function' && item.name === name ? [toFunctionSelector(item)] : [],
  )[0] ?? ''

const maxCalls = 255
const noId: Hex = `0x${'00'.repeat(32)}`
const settleSelector = selectorOf('settle')
const executeSelector = selectorOf('execute')
const executeOneSelector = selectorOf('executeOne')
const [vrsForm, bytesForm] = tokenAbi
const transferSelectors = [toFunctionSelector(vrsForm), toFunctionSelector(bytesForm)]

const isOwnCall = ({ to, data }: ContractCall, router: Hex): boolean =>
  isSameAddress(to, router) && (data.startsWith(settleSelector) || data.startsWith(executeOneSelector))

/** A call that already goes through the router is made directly. `isNamed`: the router's event names the payment. */
const unwrap = ({ id, to, data }: BatchedCall, router: Hex, isNamed: boolean) => {
  if (isSameAddress(to, router) && data.startsWith(executeOneSelector)) {
    const { args } = decodeFunctionData({ abi: uptoRouterAbi, data })
    const [call] = args ?? []
    if (typeof call === 'object' && 'target' in call) return call
  }
  // Permits and EIP-3009 have events of their own.
  return { target: to, id: isNamed ? hashCallId(id) : noId, data }
}

interface RouterCall {
  readonly target: Hex
  readonly id: Hex
  readonly data: Hex
}

const decodeCalls = (data: Hex): readonly RouterCall[] => {
  try {
    const decoded = decodeFunctionData({ abi: uptoRouterAbi, data })
    return decoded.functionName === 'execute' ? decoded.args[0] : []
  } catch {
    return []
  }
}

/** The router stays the caller of what its event names: the proxy takes some calls from it alone. */
const separate = (call: RouterCall, router: Hex): CarriedCall => {
  const made = { to: call.target, data: call.data }
  if (call.id === noId) return { made, alone: made }
  const data = encodeFunctionData({ abi: uptoRouterAbi, functionName: 'executeOne', args: [call] })
  return { made, alone: { to: router, data } }
}

const movesByAuthorization = ({ data }: ContractCall): boolean =>
  transferSelectors.some((selector) => data.startsWith(selector))
