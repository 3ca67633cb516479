import { decodeFunctionResult, type Hex } from 'viem'
import { multicallAbi } from './abi.js'
import { planBatch } from './batch.js'
import { highestGasPrice } from './fees.js'
import type { Prepared } from './prepare.js'
import type { Rpc } from './rpc.js'
import type { Sending } from './simulate.js'

/** What came of a rehearsal of several payments in one transaction. */
export type Rehearsal<Item> =
  | { readonly result: 'passes'; readonly gas: bigint }
  | {
      readonly result: 'divided'
      /** Passed, and may be rehearsed again without the others. */
      readonly together: readonly Item[]
      /** Would fail, or run a wallet's code: an account with code (EIP-7702) could burn the others' gas. */
      readonly alone: readonly Item[]
      /** Fail beside another payment of the same payer: to be asked again when that one is mined. */
      readonly conflicting: readonly Item[]
    }

/** How much gas a batch that settles may use while it is asked which payments fail. */
const rehearsalGas = 16_000_000n

/** Runs a batch against the chain's present state, and finds out who would spoil it. */
export const rehearseBatch = async <Item extends { readonly prepared: Prepared }>(
  rpc: Rpc,
  items: readonly Item[],
  { sender, fees }: Sending,
): Promise<Rehearsal<Item>> => {
  const transfers = items.map(({ prepared }) => prepared.transfer)
  const call = { from: sender, gasPrice: highestGasPrice(fees) }
  const [codes, estimate] = await Promise.all([
    Promise.all(items.map((item) => rpc.getCode(payerOf(item)))),
    // One failure fails all here: an estimate that forgives failures would leave the last ones without gas.
    rpc.estimateGas({ ...call, ...planBatch(transfers, 'rehearsal') }),
  ])
  const alone = items.filter((_, index) => codes[index] !== '0x')
  if (alone.length > 0) {
    return {
      result: 'divided',
      together: items.filter((item) => !alone.includes(item)),
      alone,
      conflicting: [],
    }
  }
  if (estimate.succeeds) return { result: 'passes', gas: withReserve(estimate.value, items.length) }

  const answer = await rpc.call({ ...call, ...planBatch(transfers, 'settlement'), gas: rehearsalGas })
  const succeeds = answer.succeeds ? readSuccess(answer.value) : []
  const together = items.filter((_, index) => succeeds[index] === true)
  if (together.length === 0 || together.length === items.length) {
    return { result: 'divided', together: [], alone: items, conflicting: [] }
  }
  const payers = new Set(together.map(payerOf))
  const failing = items.filter((item) => !together.includes(item))
  return {
    result: 'divided',
    together,
    alone: failing.filter((item) => !payers.has(payerOf(item))),
    conflicting: failing.filter((item) => payers.has(payerOf(item))),
  }
}

// What a transfer costs changes a little with the state: a first payment to a recipient writes one more slot.
const reservePerPayment = 3_000n

const withReserve = (gas: bigint, payments: number): bigint =>
  (gas * 11n) / 10n + reservePerPayment * BigInt(payments) + 25_000n

const payerOf = ({ prepared }: { readonly prepared: Prepared }): Hex => prepared.candidate.authorization.from

const readSuccess = (data: Hex): readonly boolean[] => {
  try {
    return decodeFunctionResult({ abi: multicallAbi, functionName: 'aggregate3', data }).map(
      ({ success }) => success,
    )
  } catch {
    // No Multicall3 on this chain.
    return []
  }
}
