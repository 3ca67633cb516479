import { decodeFunctionData, type Hex, isAddressEqual, parseTransaction } from 'viem'
import { decodeAggregate, encodeAggregate, multicallAbi, multicallAddress } from '../../abi/multicall.js'
import { asHex } from '../../abi/words.js'
import { type ContractPresence, createPresence, isPresent } from '../../rpc/presence.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { ContractCall, SettlementCall } from '../settlementCall.js'

/** A contract that makes many calls in one transaction; each may fail without affecting the others. */
export interface BatchContract {
  readonly address: Hex
  /** False while no node answers. */
  isDeployed(): Promise<boolean>
  canCarry(call: ContractCall): boolean
  /** Takes only calls that it can carry. */
  plan(calls: readonly BatchedCall[]): Batch
  /** Whether calldata sent to it carries several calls, or one whose failure does not revert the transaction. */
  isBatch(data: Hex): boolean
  /** The calls of a batch. */
  listCalls(data: Hex): readonly CarriedCall[]
}

export interface CarriedCall {
  /** The call as the contract makes it. */
  readonly made: ContractCall
  /** The same call in a transaction of its own. */
  readonly alone: ContractCall
}

export type BatchedCall = Pick<SettlementCall, 'id' | 'to' | 'data'>

export interface Batch extends ContractCall {
  /** Calldata that makes the same calls, and reverts if one of them does: an estimate of `data` would let them run out of gas. */
  encodeStrict?(): Hex
  /** Which calls succeeded, in the order that was given; null for the answer of something else. */
  readResults(answer: Hex): readonly boolean[] | null
}

/** Whether the status of a transaction proves nothing about each of its calls. */
export const isBatch = (bytes: string, contracts: readonly BatchContract[]): boolean =>
  findBatch(bytes, contracts) !== null

/** The calls of recorded bytes; null where they are no batch. */
export const listBatchedCalls = (
  bytes: string,
  contracts: readonly BatchContract[],
): readonly CarriedCall[] | null => {
  const batch = findBatch(bytes, contracts)
  return batch === null ? null : batch.contract.listCalls(batch.data)
}

const findBatch = (bytes: string, contracts: readonly BatchContract[]) => {
  const { to, data } = parseTransaction(asHex(bytes))
  if (to == null || data === undefined) return null
  const contract = contracts.find(({ address }) => isAddressEqual(to, address))
  return contract?.isBatch(data) === true ? { contract, data } : null
}

/** A call to an address without code would succeed without effect. */
export const createMulticallPresence = (rpc: Pick<Rpc, 'getCode'>): ContractPresence =>
  createPresence(async () => (await rpc.getCode(multicallAddress)) !== '0x')

/** Multicall3 makes any call. */
export const createMulticallBatch = (presence: Pick<ContractPresence, 'ask'>): BatchContract => ({
  address: multicallAddress,
  isDeployed: () => isPresent(presence),
  canCarry: () => true,
  plan: (calls) => {
    const inner = calls.map(({ to, data }) => ({ target: to, data }))
    return {
      to: multicallAddress,
      data: encodeAggregate(inner),
      encodeStrict: () => encodeAggregate(inner, { mayFail: false }),
      readResults: (answer) => decodeAggregate(answer, calls.length)?.map(({ succeeds }) => succeeds) ?? null,
    }
  },
  isBatch: (data) => decodeCalls(data).filter(({ allowFailure }) => allowFailure).length > 1,
  listCalls: (data) =>
    decodeCalls(data).map(({ target, callData }) => {
      const call = { to: target, data: callData }
      return { made: call, alone: call }
    }),
})

const decodeCalls = (data: Hex) => {
  try {
    return decodeFunctionData({ abi: multicallAbi, data }).args[0]
  } catch {
    return []
  }
}
