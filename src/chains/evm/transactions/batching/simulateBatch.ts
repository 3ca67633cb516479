import type { Hex } from 'viem'
import { asHex } from '../../abi/words.js'
import { type Rpc, tryCall } from '../../rpc/rpc.js'
import { highestGasPrice } from '../fees/fees.js'
import type { ContractCall, SettlementCall } from '../settlementCall.js'
import type { Sending } from '../simulation/simulate.js'
import type { BatchContract } from './batchContract.js'

type BatchSimulation<Item> =
  | { readonly result: 'passes'; readonly batch: ContractCall }
  | {
      readonly result: 'divided'
      /** Each is sent on its own; the estimate of a single call shows why it would fail. */
      readonly groups: readonly (readonly Item[])[]
      /** They fail beside another call of the same payer, and are retried once the first group is mined. */
      readonly conflicting: readonly Item[]
    }

// Ethereum refuses transactions of more than 16,777,216 gas (EIP-7825); half of that is included sooner.
export const maxGasPerTransaction = 8_000_000n

/** Sender, price, gas limit and contract of a batch. */
interface BatchSending extends Sending {
  readonly gas: bigint
  readonly contract: BatchContract
}

/** Simulates in the latest state with the exact gas limit; splits the batch when a call would fail. */
export const simulateBatch = async <Item extends { readonly call: SettlementCall }>(
  rpc: Rpc,
  items: readonly Item[],
  { sender, fees, gas, contract }: BatchSending,
): Promise<BatchSimulation<Item>> => {
  if (gas > maxGasPerTransaction) return divide(halve(items))
  const { to, data, readResults } = contract.plan(items.map(({ call }) => call))
  const [withCode, balance, answer] = await Promise.all([
    findPayersWithCode(rpc, items),
    rpc.getBalance(sender),
    // It states no price: the balance is checked separately, and no untrusted code runs.
    tryCall(rpc, { from: sender, to, data, gas }),
  ])
  // A payer's code (EIP-7702) could burn the other calls' gas, and detect a simulation by its price.
  const alone = items.filter((item) => withCode.has(payerOf(item)))
  if (alone.length > 0) return divide([items.filter((item) => !alone.includes(item)), ...single(alone)])
  // Nodes require the balance to cover the whole limit, and some accept only smaller calls.
  if (gas * highestGasPrice(fees) > balance || answer === null) return divide(halve(items))

  const results = readResults(answer) ?? []
  const passing = items.filter((_, index) => results[index] === true)
  if (passing.length === items.length) return { result: 'passes', batch: { to, data } }
  if (passing.length === 0) return divide(single(items))
  const payers = new Set(passing.map(payerOf))
  const failing = items.filter((item) => !passing.includes(item))
  return divide(
    [passing, ...single(failing.filter((item) => !payers.has(payerOf(item))))],
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
  rpc: Pick<Rpc, 'findWithCode'>,
  items: readonly { readonly call: SettlementCall }[],
): Promise<ReadonlySet<Hex>> =>
  await rpc.findWithCode([...new Set(items.filter(({ call }) => call.parts === undefined).map(payerOf))])

const payerOf = ({ call }: { readonly call: SettlementCall }): Hex => asHex(call.payer.toLowerCase())
