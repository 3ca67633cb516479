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
import type { BatchContract } from '../batching/batchContract.js'
import { highestGasPrice } from '../fees/fees.js'
import { canShare, type ReadAnswers, type SettlementCall } from '../settlementCall.js'
import { type Nodes, readAll, type Sending, type Simulation, simulateCall } from './simulate.js'

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

interface SimulatorDependencies extends Omit<Nodes, 'use'> {
  /** Whether the network has Multicall3. */
  readonly multicall: ContractPresence
  /** What calls that do not take any caller are simulated by, where they name it. */
  readonly batchContracts: readonly BatchContract[]
}

export const createSimulator = ({
  rpc,
  payerCalls,
  multicall,
  batchContracts,
}: SimulatorDependencies): Simulator => {
  const simulateAlone =
    (read: typeof readAll) =>
    ({ call, sending, use, resolve, reject }: Waiting): Promise<void> =>
      simulateCall({ rpc, payerCalls, use }, call, sending, read).then(resolve, reject)
  const shareByAny = createSharing(
    (calls, sending) => simulateInOneCall(rpc, calls, sending),
    simulateAlone(readAll),
  )
  const sharing = batchContracts.map((contract) => ({
    contract,
    share: createSharing(
      (calls, sending) => simulateByContract(rpc, { contract, calls }, sending),
      simulateAlone(readInOneCall),
    ),
  }))

  /** Untrusted code could burn the gas of all, or detect a shared simulation; what has parts takes more gas. */
  const findSharing = async (call: SettlementCall): Promise<((waiting: Waiting) => void) | null> => {
    if (multicall.peek() === null) void isPresent(multicall)
    if (multicall.peek() !== true || !canShare(call) || call.parts !== undefined) return null
    if (call.batchedBy === 'any') return shareByAny
    const found = sharing.find(
      ({ contract }) => contract.address === call.batchedBy && contract.canCarry(call),
    )
    return found !== undefined && (await found.contract.isDeployed()) ? found.share : null
  }

  return {
    simulate: async (call, sending, use) => {
      const share = await findSharing(call)
      if (share === null) return await simulateCall({ rpc, payerCalls, use }, call, sending)
      return await new Promise((resolve, reject) => share({ call, sending, use, resolve, reject }))
    },
  }
}

/** Calls that wait together are simulated at once; what that leaves unclear, alone. */
const createSharing = (
  simulateTogether: (calls: readonly SettlementCall[], sending: Sending) => Promise<SharedSimulation>,
  simulateAlone: (waiting: Waiting) => Promise<void>,
): ((waiting: Waiting) => void) => {
  // It is halved when a whole group fails, and grows by one otherwise: it adapts to a node's limit, or to payer code
  // that burns gas.
  let groupSize = maxGroupSize

  const simulateGroup = async (group: readonly Waiting[]): Promise<void> => {
    const [first] = group
    if (first === undefined) return
    const calls = group.map(({ call }) => call)
    const { results, isOutOfGas } = await simulateTogether(calls, first.sending)
    groupSize = isOutOfGas ? Math.max(1, Math.floor(group.length / 2)) : Math.min(groupSize + 1, maxGroupSize)
    for (const [index, one] of group.entries()) {
      const result = results[index]
      if (result !== undefined && result !== 'unclear') one.resolve(result)
      // One that is alone is under way until it ends, so that those which come meanwhile wait for each other.
      else if (group.length === 1) await simulateAlone(one)
      else void simulateAlone(one)
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
  return batcher.add
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

/*
 * A payment by permit that deploys the router of its recipient takes up to 235k gas; the contract divides equally what
 * there is, so that no call takes the share of another.
 */
const gasPerCarriedCall = 260_000n

interface Carried {
  readonly contract: BatchContract
  readonly calls: readonly SettlementCall[]
}

/** The contract says only which calls fail, so that those are simulated alone; Multicall3 makes the reads. */
const simulateByContract = async (
  rpc: Rpc,
  { contract, calls }: Carried,
  { sender, fees }: Sending,
): Promise<SharedSimulation> => {
  const unclear = calls.map(() => 'unclear' as const)
  // By itself it fails with a reason at once.
  if (calls.length === 1) return { results: unclear, isOutOfGas: false }
  const { to, data, readResults } = contract.plan(calls)
  const gas = gasPerMulticall + gasPerCarriedCall * BigInt(calls.length)
  const [answer, reads] = await Promise.all([
    tryCall(rpc, { from: sender, to, data, gas, gasPrice: highestGasPrice(fees) }),
    readTogether(rpc, calls),
  ])
  const executed = answer === null ? null : readResults(answer)
  if (executed === null) return { results: unclear, isOutOfGas: true }
  const results = calls.map((call, index): SharedResult => {
    const own = reads?.[index]
    if (executed[index] !== true || own === undefined || own.includes(null)) return 'unclear'
    const refused = call.findContradiction(own, null)
    return refused === null ? { reads: own } : { reads: own, refused }
  })
  return { results, isOutOfGas: false }
}

/** What the reads of each call return, in one `eth_call`; null where that fails. */
const readTogether = async (
  rpc: Rpc,
  calls: readonly Pick<SettlementCall, 'reads'>[],
): Promise<readonly ReadAnswers[] | null> => {
  const inner = calls.flatMap(({ reads }) => reads.map(({ to, data }) => ({ target: to, data })))
  const answer = await tryCall(rpc, { to: multicallAddress, data: encodeAggregate(inner) })
  const answers = answer === null ? null : decodeAggregate(answer, inner.length)
  if (answers === null) return null
  let next = 0
  return calls.map(({ reads }) => {
    const own = answers.slice(next, next + reads.length)
    next += reads.length
    return own.map(({ succeeds, data }) => (succeeds ? data : null))
  })
}

/** As `readAll`. One read can burn the gas of the others: if one fails, each is made by itself. */
const readInOneCall: typeof readAll = async (rpc, call) => {
  const [answers] = (await readTogether(rpc, [call])) ?? []
  return answers === undefined || answers.includes(null) ? await readAll(rpc, call) : answers
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
