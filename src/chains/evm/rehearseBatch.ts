import type { Hex } from 'viem'
import { decodeAggregate } from './aggregate.js'
import { type BatchedCall, planBatch } from './batch.js'
import { highestGasPrice } from './fees.js'
import type { Prepared } from './prepare.js'
import type { Rpc } from './rpc.js'
import type { Sending } from './simulate.js'

/** What came of a rehearsal of several payments in one transaction. */
export type Rehearsal<Item> =
  | { readonly result: 'passes'; readonly call: BatchedCall }
  | {
      readonly result: 'divided'
      /** Passed, and may be rehearsed again without the others. */
      readonly together: readonly Item[]
      /** Would fail, or run a wallet's code: an account with code (EIP-7702) could burn the others' gas. */
      readonly alone: readonly Item[]
      /** Fail beside another payment of the same payer: to be asked again when that one is mined. */
      readonly conflicting: readonly Item[]
    }

/** Who would send a batch, at which price, and with how much gas. */
export interface BatchSending extends Sending {
  readonly gas: bigint
}

/**
 * Runs a batch against the chain's present state, with the very gas that it will have, and finds out who would
 * spoil it.
 */
export const rehearseBatch = async <Item extends { readonly prepared: Prepared }>(
  rpc: Rpc,
  items: readonly Item[],
  { sender, fees, gas }: BatchSending,
): Promise<Rehearsal<Item>> => {
  const call = planBatch(items.map(({ prepared }) => prepared.transfer))
  const [codes, answer] = await Promise.all([
    Promise.all(items.map((item) => rpc.getCode(payerOf(item)))),
    rpc.call({ from: sender, gasPrice: highestGasPrice(fees), ...call, gas }),
  ])
  const hasCode = items.filter((_, index) => codes[index] !== '0x')
  if (hasCode.length > 0) {
    const together = items.filter((item) => !hasCode.includes(item))
    return { result: 'divided', together, alone: hasCode, conflicting: [] }
  }
  // Nothing to read: the whole call failed.
  const results = (answer.succeeds ? decodeAggregate(answer.value, items.length) : null) ?? []
  const together = items.filter((_, index) => results[index]?.succeeds === true)
  if (together.length === items.length) return { result: 'passes', call }
  if (together.length === 0) return { result: 'divided', together: [], alone: items, conflicting: [] }

  const payers = new Set(together.map(payerOf))
  const failing = items.filter((item) => !together.includes(item))
  return {
    result: 'divided',
    together,
    alone: failing.filter((item) => !payers.has(payerOf(item))),
    conflicting: failing.filter((item) => payers.has(payerOf(item))),
  }
}

const payerOf = ({ prepared }: { readonly prepared: Prepared }): Hex => prepared.candidate.authorization.from
