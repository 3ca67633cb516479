import type { Hex } from 'viem'
import { createMicroBatcher } from '../../../../concurrency/microBatcher.js'
import {
  decodeAggregate,
  encodeAggregate,
  type InnerCall,
  type InnerResult,
  multicallAddress,
} from '../../abi/multicall.js'
import { type ContractPresence, isPresent } from '../../rpc/presence.js'
import { type Rpc, tryCall } from '../../rpc/rpc.js'
import type { UntrustedUse } from '../../rpc/untrustedCalls.js'
import { highestGasPrice } from '../fees/fees.js'
import { canShare, type ReadAnswers, type SettlementCall } from '../settlementCall.js'
import { type Nodes, type Sending, type Simulation, simulateCall } from './simulate.js'

/** Concurrent simulations share an `eth_call`. */
interface Simulator {
  /** Simulates in the latest state. */
  simulate(call: SettlementCall, sending: Sending, use: UntrustedUse): Promise<Simulation>
}

interface Waiting {
  readonly call: SettlementCall
  readonly sending: Sending
  readonly use: UntrustedUse
  readonly resolve: (simulation: Simulation) => void
  readonly reject: (error: unknown) => void
}

/** How long a call waits for others while simulations are in flight. */
const maxWaitMs = 3

export const createSimulator = (
  { rpc, payerCalls }: Omit<Nodes, 'use'>,
  multicall: ContractPresence,
): Simulator => {
  // It is halved when a whole group fails, and grows by one otherwise: it adapts to a node's limit, or to payer code
  // that burns gas.
  let groupSize = maxGroupSize

  const simulateAlone = ({ call, sending, use, resolve, reject }: Waiting): void => {
    simulateCall({ rpc, payerCalls, use }, call, sending).then(resolve, reject)
  }

  const simulateGroup = async (group: readonly Waiting[]): Promise<void> => {
    const [first] = group
    if (first === undefined) return
    const calls = group.map(({ call }) => call)
    const { results, isOutOfGas } = await simulateInOneCall(rpc, calls, first.sending)
    groupSize = isOutOfGas ? Math.max(1, Math.floor(group.length / 2)) : Math.min(groupSize + 1, maxGroupSize)
    for (const [index, one] of group.entries()) {
      const result = results[index]
      if (result === undefined || result === 'unclear') simulateAlone(one)
      else one.resolve(result)
    }
  }

  const batcher = createMicroBatcher<Waiting>({
    maxItems: () => groupSize,
    maxWaitMs,
    run: async (gathered) => {
      const groups = divideIndependent(gathered, ({ call }) => call, groupSize)
      await Promise.all(
        groups.map((group) =>
          simulateGroup(group).catch((error: unknown) => {
            for (const { reject } of group) reject(error)
          }),
        ),
      )
    },
  })

  return {
    simulate: (call, sending, use) => {
      if (multicall.peek() === null) void isPresent(multicall)
      // Untrusted code could burn the gas of all, or detect a shared simulation; others take no call by Multicall3, or more gas.
      const isUsual = canShare(call) && call.batchedBy === 'any' && call.parts === undefined
      if (multicall.peek() !== true || !isUsual) {
        return simulateCall({ rpc, payerCalls, use }, call, sending)
      }
      return new Promise((resolve, reject) => batcher.add({ call, sending, use, resolve, reject }))
    },
  }
}

/** `unclear`: simulate it alone. */
type SharedResult = Simulation | 'unclear'

interface SharedSimulation {
  /** They are in the order of the calls. */
  readonly results: readonly SharedResult[]
  /** The node refused the request, or several calls ran out of gas. */
  readonly isOutOfGas: boolean
}

/**
 * The node simulates while further requests are parsed; larger groups make both wait for each other (at 64
 * connections, groups of 50 cost a fifth of the throughput).
 */
const maxGroupSize = 20
/*
 * A token payment by ECDSA takes up to 103k gas, its two reads and their share of the multicall another 30k.
 * Twenty of them stay far below the limit of one transaction (EIP-7825, 16.7M) and the caps of nodes.
 */
const gasPerSettlement = 160_000n
const gasPerMulticall = 100_000n

/** Each call is preceded by its scheme's reads. */
const simulateInOneCall = async (
  rpc: Rpc,
  calls: readonly SettlementCall[],
  { sender, fees }: Sending,
): Promise<SharedSimulation> => {
  const inner: InnerCall[] = []
  for (const { reads, to, data } of calls) {
    for (const read of reads) inner.push({ target: read.to, data: read.data })
    inner.push({ target: to, data })
  }
  const answer = await tryCall(rpc, {
    from: sender,
    to: multicallAddress,
    data: encodeAggregate(inner),
    gas: gasPerMulticall + gasPerSettlement * BigInt(calls.length),
    gasPrice: highestGasPrice(fees),
  })
  const answers = answer === null ? null : decodeAggregate(answer, inner.length)
  if (answers === null) return { results: calls.map(() => 'unclear'), isOutOfGas: true }

  const results: SharedResult[] = []
  let failedWithoutData = 0
  let next = 0
  for (const call of calls) {
    const own = next + call.reads.length
    const reads = answers.slice(next, own).map(({ succeeds, data }) => (succeeds ? data : null))
    const settled = answers[own]
    results.push(settled === undefined ? 'unclear' : judge(call, settled, reads))
    if (settled?.succeeds === false && settled.data === '0x') failedWithoutData += 1
    next = own + 1
  }
  // An out-of-gas failure returns no data; a single call may have burned only its own gas.
  return { results, isOutOfGas: failedWithoutData > 1 }
}

/** Uses only what the scheme's reads prove: other failures may be caused by other calls. */
const judge = (call: SettlementCall, { succeeds, data }: InnerResult, reads: ReadAnswers): SharedResult => {
  const contradiction = call.findContradiction(reads, null)
  if (succeeds) return contradiction === null ? { reads } : { reads, refused: contradiction }
  if (data === '0x' || contradiction === null || reads.includes(null)) return 'unclear'
  const failure = { data, message: '' }
  return call.isTooEarly(failure) ? 'unclear' : { reads, refused: call.explainRevert(failure, reads) }
}

/** In EIP-55 form. */
export interface Parties {
  readonly payer: Hex
  readonly payTo: Hex
}

// Groups open to further calls; bounds the search to a constant per call.
const maxOpenGroups = 8

/**
 * Divides calls into groups whose members cannot affect each other: no payer twice, and no payer as a
 * recipient. In a shared simulation each call sees the effects of earlier ones.
 */
export const divideIndependent = <Item>(
  items: readonly Item[],
  partiesOf: (item: Item) => Parties,
  maxSize: number,
): readonly (readonly Item[])[] => {
  const groups: Group<Item>[] = []
  let open: Group<Item>[] = []
  for (const item of items) {
    const parties = partiesOf(item)
    let group = open.find((candidate) => isIndependent(candidate, parties))
    if (group === undefined) {
      group = { items: [], payers: new Set(), recipients: new Set() }
      groups.push(group)
      open = [...open.slice(1 - maxOpenGroups), group]
    }
    group.items.push(item)
    group.payers.add(parties.payer)
    group.recipients.add(parties.payTo)
    if (group.items.length >= maxSize) open = open.filter((other) => other !== group)
  }
  return groups.map((group) => group.items)
}

interface Group<Item> {
  readonly items: Item[]
  readonly payers: Set<Hex>
  readonly recipients: Set<Hex>
}

const isIndependent = ({ payers, recipients }: Group<unknown>, { payer, payTo }: Parties): boolean =>
  !payers.has(payer) && !recipients.has(payer) && !payers.has(payTo)
