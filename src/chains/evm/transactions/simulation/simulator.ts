import { createMicroBatcher } from '../../../../concurrency/microBatcher.js'
import { type ContractPresence, isPresent } from '../../rpc/presence.js'
import type { UntrustedUse } from '../../rpc/untrustedCalls.js'
import { canShare, type SettlementCall } from '../settlementCall.js'
import { divideIndependent } from './divideIndependent.js'
import { type Nodes, type Sending, type Simulation, simulateCall } from './simulate.js'
import { maxGroupSize, simulateInOneCall } from './simulateInOneCall.js'

/** Concurrent simulations share an `eth_call`. */
export interface Simulator {
  /** In the latest state. */
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
  // Halved when a whole group fails, plus one otherwise: adapts to a node's limit, or to payer code that
  // burns gas.
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
      // Untrusted code could burn the gas of all, or detect a shared simulation; others take no call by Multicall3.
      if (multicall.peek() !== true || !canShare(call) || call.batchedBy !== 'any') {
        return simulateCall({ rpc, payerCalls, use }, call, sending)
      }
      return new Promise((resolve, reject) => batcher.add({ call, sending, use, resolve, reject }))
    },
  }
}
