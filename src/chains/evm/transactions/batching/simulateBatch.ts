import { decodeAggregate } from '../../abi/multicall.js'
import type { Prepared } from '../../exact/prepare.js'
import type { Rpc } from '../../rpc/rpc.js'
import { tryCall } from '../../rpc/tryCall.js'
import { highestGasPrice } from '../fees/fees.js'
import type { Sending } from '../simulation/simulate.js'
import { type BatchedCall, planBatch } from './batch.js'

/** What came of a rehearsal of several payments in one transaction. */
export type BatchSimulation<Item> =
  | { readonly result: 'passes'; readonly call: BatchedCall }
  | {
      readonly result: 'divided'
      /** To be sent each for itself; a group of one finds out by itself why it would fail. */
      readonly groups: readonly (readonly Item[])[]
      /** Fail beside another payment of the same payer: to be asked again when the first group is mined. */
      readonly conflicting: readonly Item[]
    }

// Ethereum refuses transactions of more than 16,777,216 gas (EIP-7825); half of that finds room in a block sooner.
const maxGasPerTransaction = 8_000_000n

/** Who would send a batch, at which price, and with how much gas. */
export interface BatchSending extends Sending {
  readonly gas: bigint
}

/**
 * Runs a batch against the chain's present state, with the very gas that it will have, and finds out who would
 * spoil it.
 */
export const simulateBatch = async <Item extends { readonly prepared: Prepared }>(
  rpc: Rpc,
  items: readonly Item[],
  { sender, fees, gas }: BatchSending,
): Promise<BatchSimulation<Item>> => {
  if (gas > maxGasPerTransaction) return divide(halve(items))
  const call = planBatch(items.map(({ prepared }) => prepared.transfer))
  const [withCode, balance, answer] = await Promise.all([
    findPayersWithCode(rpc, items),
    rpc.getBalance(sender),
    // Without a price: whether our account can pay is asked of its balance, and no code of payers runs.
    tryCall(rpc, { from: sender, ...call, gas }),
  ])
  // Code could burn the others' gas (EIP-7702), and answer differently when it is paid for.
  const alone = items.filter((item) => withCode.has(payerOf(item)))
  if (alone.length > 0) return divide([items.filter((item) => !alone.includes(item)), ...single(alone)])
  // Nodes want the whole limit to be there. And some take only smaller calls.
  if (gas * highestGasPrice(fees) > balance || answer === null) return divide(halve(items))

  const results = decodeAggregate(answer, items.length) ?? []
  const together = items.filter((_, index) => results[index]?.succeeds === true)
  if (together.length === items.length) return { result: 'passes', call }
  if (together.length === 0) return divide(single(items))
  const payers = new Set(together.map(payerOf))
  const failing = items.filter((item) => !together.includes(item))
  return divide(
    [together, ...single(failing.filter((item) => !payers.has(payerOf(item))))],
    failing.filter((item) => payers.has(payerOf(item))),
  )
}

const divide = <Item>(
  groups: readonly (readonly Item[])[],
  conflicting: readonly Item[] = [],
): BatchSimulation<Item> => ({
  result: 'divided',
  groups: groups.filter(({ length }) => length > 0),
  conflicting,
})

const single = <Item>(items: readonly Item[]): readonly (readonly Item[])[] => items.map((item) => [item])

const halve = <Item>(items: readonly Item[]): readonly (readonly Item[])[] => {
  const middle = Math.ceil(items.length / 2)
  return [items.slice(0, middle), items.slice(middle)]
}

const findPayersWithCode = async (
  rpc: Rpc,
  items: readonly { readonly prepared: Prepared }[],
): Promise<ReadonlySet<string>> => {
  const payers = new Map(items.map((item) => [payerOf(item), item.prepared.candidate.authorization.from]))
  const found = await Promise.all(
    [...payers].map(async ([payer, address]) => ((await rpc.getCode(address)) === '0x' ? [] : [payer])),
  )
  return new Set(found.flat())
}

const payerOf = ({ prepared }: { readonly prepared: Prepared }): string =>
  prepared.candidate.authorization.from.toLowerCase()
