import { decodeFunctionData, encodeEventTopics, type Hex, toFunctionSelector } from 'viem'
import { isSameAddress } from '../abi/address.js'
import { addressWord, encodeBytes, keccak, numberWord } from '../abi/words.js'
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
  encodeOne({ target: to, id: hashCallId(id), data })

/** A call that returns a word where the router is deployed: calls of an address without code succeed. */
export const planRouterRead = (router: Hex, recipient: Hex): ContractCall => ({
  to: router,
  data: `${routerOfSelector}${addressWord(recipient)}`,
})

/** The router's `settle` takes this; the names are those of its ABI. */
interface RouterPayment {
  readonly token: Hex
  readonly owner: Hex
  readonly to: Hex
  readonly maxAmount: bigint
  readonly amount: bigint
  readonly deadline: bigint
  readonly permitNonce: bigint
  /** 32 bytes. */
  readonly paymentNonce: Hex
  readonly isBound: boolean
  readonly signature: Hex
}

export const encodeSettle = (payment: RouterPayment): Hex => {
  const { token, owner, to, maxAmount, amount, deadline, permitNonce, paymentNonce } = payment
  const parties = addressWord(token) + addressWord(owner) + addressWord(to)
  const amounts = numberWord(maxAmount) + numberWord(amount)
  const times = numberWord(deadline) + numberWord(permitNonce) + paymentNonce.slice(2).toLowerCase()
  const rest =
    numberWord(payment.isBound ? 1 : 0) + numberWord(10 * wordBytes) + encodeBytes(payment.signature)
  return `${settleSelector}${numberWord(wordBytes)}${parties}${amounts}${times}${rest}`
}

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
        data: encodeMany(calls.map((call) => unwrap(call, shared, isOpenCall(call)))),
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

const maxCalls = 255
const noId: Hex = `0x${'00'.repeat(32)}`
const [vrsForm, bytesForm] = tokenAbi
const transferSelectors = [toFunctionSelector(vrsForm), toFunctionSelector(bytesForm)]

const isOwnCall = ({ to, data }: ContractCall, router: Hex): boolean =>
  isSameAddress(to, router) && (data.startsWith(settleSelector) || data.startsWith(executeOneSelector))

/** A call that already goes through the router is made directly. `isNamed`: the router's event names the payment. */
const unwrap = ({ id, to, data }: BatchedCall, router: Hex, isNamed: boolean): RouterCall => {
  const inner = isSameAddress(to, router) ? readOne(data) : null
  // Permits and EIP-3009 have events of their own.
  return inner ?? { target: to, id: isNamed ? hashCallId(id) : noId, data }
}

interface RouterCall {
  readonly target: Hex
  readonly id: Hex
  readonly data: Hex
}

/*
 * Hand-written codec of the router's calls: the layout is fixed, and the general encoder takes about 100 µs per payment.
 */

const selectorOf = (name: string): Hex => {
  const found = uptoRouterAbi.find((item) => item.type === 'function' && item.name === name)
  if (found?.type !== 'function') throw new Error(`The router has no function ${name}`)
  return toFunctionSelector(found)
}

const settleSelector = selectorOf('settle')
const executeSelector = selectorOf('execute')
const executeOneSelector = selectorOf('executeOne')
const routerOfSelector = selectorOf('routerOf')

const wordBytes = 32
const wordDigits = 64
/** Offset of a call's data: after target, id and the offset itself. */
const dataOffset = numberWord(3 * wordBytes)

const encodeCall = ({ target, id, data }: RouterCall): string =>
  addressWord(target) + id.slice(2) + dataOffset + encodeBytes(data)

const encodeOne = (call: RouterCall): Hex =>
  `${executeOneSelector}${numberWord(wordBytes)}${encodeCall(call)}`

const encodeMany = (calls: readonly RouterCall[]): Hex => {
  let offsets = ''
  let tuples = ''
  for (const call of calls) {
    // Offsets count from the first offset.
    offsets += numberWord(calls.length * wordBytes + tuples.length / 2)
    tuples += encodeCall(call)
  }
  return `${executeSelector}${numberWord(wordBytes)}${numberWord(calls.length)}${offsets}${tuples}`
}

/** The call of calldata that `encodeOne` made, whatever follows it; null for any other. */
const readOne = (data: Hex): RouterCall | null => {
  if (!data.startsWith(executeOneSelector)) return null
  const at = executeOneSelector.length + wordDigits
  const wordAt = (index: number): string => data.slice(at + index * wordDigits, at + (index + 1) * wordDigits)
  const length = Number.parseInt(wordAt(3), 16)
  const start = at + 4 * wordDigits
  const call: RouterCall = {
    target: `0x${wordAt(0).slice(-40)}`,
    id: `0x${wordAt(1)}`,
    data: `0x${data.slice(start, start + length * 2)}`,
  }
  return data.startsWith(encodeOne(call)) ? call : null
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
  return { made, alone: { to: router, data: encodeOne(call) } }
}

const movesByAuthorization = ({ data }: ContractCall): boolean =>
  transferSelectors.some((selector) => data.startsWith(selector))
