import type { Hex } from 'viem'
import { sleep } from '../../../../concurrency/deadline.js'
import type { CallAnswer, CallRequest, Rpc } from '../../rpc/rpc.js'
import type { UntrustedCalls, UntrustedUse } from '../../rpc/untrustedCalls.js'
import { type Fees, highestGasPrice } from '../fees/fees.js'
import type { ContractCall, ReadAnswers, RevertReason, SettlementCall } from '../settlementCall.js'

/** Sender and price of a transaction; a contract can recognize a simulation by its missing price. */
export interface Sending {
  readonly sender: Hex
  readonly fees: Fees
}

/** What the reads of the call returned, and why it fails, if it does. */
export type Simulation =
  | { readonly reads: ReadAnswers }
  | { readonly reads: ReadAnswers; readonly refused: RevertReason }

/** Where calls are made that run code of the payer's choice: never beside those of others. */
export type PayerCalls = Pick<UntrustedCalls, 'call' | 'estimateGas'>

export interface Nodes {
  readonly rpc: Rpc
  readonly payerCalls: PayerCalls
  /** Whose share the payer's code uses. */
  readonly use: UntrustedUse
}

export const simulateCall = async (
  { rpc, payerCalls, use }: Nodes,
  call: SettlementCall,
  { sender, fees }: Sending,
  read = readAll,
): Promise<Simulation> => {
  const { to, data, gasCap, probe } = call
  const terms = { from: sender, gas: gasCap, gasPrice: highestGasPrice(fees) }
  const run = (request: CallRequest & { readonly gas: bigint }) =>
    call.runsPayerCode
      ? payerCalls.call(request, use, ({ succeeds }) => (succeeds ? usuallyUnused(gasCap) : 0n))
      : rpc.call(request)
  const [answer, reads, probed] = await Promise.all([
    retryTooEarly(call, (at) => run({ to, data, ...terms, ...at })),
    read(rpc, call),
    probe === null ? null : run({ ...terms, ...probe }).then(readResult),
  ])
  const refused = answer.succeeds ? call.findContradiction(reads, probed) : call.explainRevert(answer, reads)
  return refused === null ? { reads } : { reads, refused }
}

// A call does not say what it used; of the payments that are valid, most use no more than a fifth.
const usuallyUnused = (gasCap: bigint): bigint => (gasCap * 4n) / 5n

/** Gas limit, never above the call's cap; or why the call would fail. */
export const estimateCall = async (
  { rpc, payerCalls, use }: Nodes,
  call: SettlementCall,
  { sender, fees }: Sending,
): Promise<{ readonly gas: bigint } | RevertReason> => {
  const { to, data, gasCap, worthGas = gasCap, reorgGas } = call
  const request = { from: sender, to, data, gasPrice: highestGasPrice(fees) }
  const estimate = await retryTooEarly(call, (at) =>
    call.runsPayerCode
      ? payerCalls.estimateGas({ ...request, gas: gasCap, ...at }, use)
      : rpc.estimateGas({ ...request, ...at }),
  )
  if (!estimate.succeeds) return call.explainRevert(estimate, await readAll(rpc, call))
  if (estimate.value > gasCap) return { reason: 'gas_limit_exceeded' }
  if (estimate.value > worthGas) {
    return {
      reason: 'payment_below_minimum',
      message: `The settlement takes ${estimate.value} gas, and the payment is worth ${worthGas} at most`,
    }
  }
  const roomy = withMargin(estimate.value) + reorgGas
  if (roomy > gasCap) return { gas: gasCap }
  return { gas: roomy }
}

/** Other transactions of the block may change what a call costs. */
export const withMargin = (gas: bigint): bigint => (gas * 12n) / 10n

export const readAll = (rpc: Rpc, { reads }: Pick<SettlementCall, 'reads'>): Promise<ReadAnswers> =>
  Promise.all(reads.map((read: ContractCall) => ask(rpc, read)))

const ask = async (rpc: Rpc, request: CallRequest): Promise<Hex | null> => readResult(await rpc.call(request))

const readResult = (answer: CallAnswer<Hex>): Hex | null => (answer.succeeds ? answer.value : null)

// The pauses cover the next block of a fast chain, within a caller's patience.
const pausesMs = [0, 1_000, 1_500]

/**
 * The call is due by the local clock, but contracts compare with block time, and the latest block may be
 * older: retries against `pending` until the next block must have arrived.
 */
const retryTooEarly = async <T>(
  call: SettlementCall,
  request: (at: Pick<CallRequest, 'at'>) => Promise<CallAnswer<T>>,
): Promise<CallAnswer<T>> => {
  let answer = await request({})
  for (const pauseMs of pausesMs) {
    if (answer.succeeds || !call.isTooEarly(answer)) return answer
    if (pauseMs > 0) await sleep(pauseMs)
    answer = await request({ at: 'pending' })
  }
  return answer
}
