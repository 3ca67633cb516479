import type { RevertReason } from '../../exact/explainRevert.js'
import type { Prepared } from '../../exact/prepare.js'
import type { Rpc } from '../../rpc/rpc.js'
import { divideIndependent } from './divideIndependent.js'
import type { MulticallPresence } from './multicallPresence.js'
import { type Sending, simulateTransfer } from './simulate.js'
import { maxBatchSize, simulateInOneCall } from './simulateInOneCall.js'

/** Simulates transfers of one network; those that are asked for at the same time share one call. */
export interface Simulator {
  /** Asks the chain whether the very transfer that settle will send would succeed; null when it would. */
  simulate(prepared: Prepared, sending: Sending): Promise<RevertReason | null>
}

/** A transfer that waits for its simulation. */
interface Waiting {
  readonly prepared: Prepared
  readonly sending: Sending
  readonly resolve: (revertReason: RevertReason | null) => void
  readonly reject: (error: unknown) => void
}

/** How long a transfer waits for company while others are being simulated. */
const windowMs = 3

/** Builds the simulator of one network. */
export const createSimulator = (rpc: Rpc, multicall: MulticallPresence): Simulator => {
  let waiting: Waiting[] = []
  let inFlight = 0
  let timer: NodeJS.Timeout | null = null
  // Halved by every batch that fails as a whole, and back by one with every other: what makes batches fail, be
  // it a node's limit or a payer whose code burns their gas, soon finds few companions to disturb.
  let batchSize = maxBatchSize

  const simulateAlone = ({ prepared, sending, resolve, reject }: Waiting): void => {
    simulateTransfer(rpc, prepared, sending).then(resolve, reject)
  }

  const simulateBatch = async (batch: readonly Waiting[], { sending }: Waiting): Promise<void> => {
    const transfers = batch.map(({ prepared }) => prepared)
    const { verdicts, isOutOfGas } = await simulateInOneCall(rpc, transfers, sending)
    batchSize = isOutOfGas ? Math.max(1, Math.floor(batch.length / 2)) : Math.min(batchSize + 1, maxBatchSize)
    for (const [index, one] of batch.entries()) {
      const verdict = verdicts[index]
      if (verdict === undefined || verdict === 'unclear') simulateAlone(one)
      else one.resolve(verdict)
    }
  }

  const flush = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    const gathered = waiting
    waiting = []
    for (const batch of divideIndependent(gathered, toParties, batchSize)) {
      const [first] = batch
      if (first === undefined) continue
      inFlight += 1
      simulateBatch(batch, first)
        .catch((error: unknown) => {
          for (const { reject } of batch) reject(error)
        })
        .finally(() => {
          inFlight -= 1
          if (inFlight === 0 && waiting.length > 0) flush()
        })
    }
  }

  const enqueue = (one: Waiting): void => {
    waiting.push(one)
    if (waiting.length >= batchSize) flush()
    else if (waiting.length > 1) return
    else if (inFlight === 0) setImmediate(flush)
    else timer = setTimeout(flush, windowMs)
  }

  return {
    simulate: (prepared, sending) => {
      // Code of strangers could burn the gas of all, or tell the two apart.
      const canShare = multicall.known === true && prepared.transfer.isBatchable
      if (multicall.known === null) void multicall.ask()
      if (!canShare) return simulateTransfer(rpc, prepared, sending)
      return new Promise((resolve, reject) => enqueue({ prepared, sending, resolve, reject }))
    },
  }
}

const toParties = ({ prepared }: Waiting) => prepared.candidate.authorization
