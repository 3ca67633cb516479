import {
  decodeAggregate,
  encodeAggregate,
  type InnerCall,
  type InnerResult,
  multicallAddress,
} from '../../abi/multicall.js'
import { type Rpc, tryCall } from '../../rpc/rpc.js'
import { highestGasPrice } from '../fees/fees.js'
import type { ReadAnswers, SettlementCall } from '../settlementCall.js'
import type { Sending, Simulation } from './simulate.js'

/** `unclear`: simulate it alone. */
export type SharedResult = Simulation | 'unclear'

export interface SharedSimulation {
  /** In the order of the calls. */
  readonly results: readonly SharedResult[]
  /** The node refused the request, or several calls ran out of gas. */
  readonly isOutOfGas: boolean
}

/**
 * The node simulates while further requests are parsed; larger groups make both wait for each other (at 64
 * connections, groups of 50 cost a fifth of the throughput).
 */
export const maxGroupSize = 20
/*
 * A token payment by ECDSA takes up to 103k gas, its two reads and their share of the multicall another 30k.
 * Twenty of them stay far below the limit of one transaction (EIP-7825, 16.7M) and the caps of nodes.
 */
const gasPerSettlement = 160_000n
const gasPerMulticall = 100_000n

/** Each call is preceded by its scheme's reads. */
export const simulateInOneCall = async (
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
  if (succeeds) return contradiction === null ? { reads } : { refused: contradiction }
  if (data === '0x' || contradiction === null || reads.includes(null)) return 'unclear'
  const failure = { data, message: '' }
  return call.isTooEarly(failure) ? 'unclear' : { refused: call.explainRevert(failure, reads) }
}
