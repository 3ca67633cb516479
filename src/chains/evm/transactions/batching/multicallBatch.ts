import { decodeFunctionData, type Hex } from 'viem'
import { decodeAggregate, encodeAggregate, multicallAbi, multicallAddress } from '../../abi/multicall.js'
import { type ContractPresence, createPresence, isPresent } from '../../rpc/presence.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { BatchContract } from './batchContract.js'

/** A call to an address without code would succeed without effect. */
export const createMulticallPresence = (rpc: Pick<Rpc, 'getCode'>): ContractPresence =>
  createPresence(async () => (await rpc.getCode(multicallAddress)) !== '0x')

/** Multicall3: makes any call. */
export const createMulticallBatch = (presence: Pick<ContractPresence, 'ask'>): BatchContract => ({
  address: multicallAddress,
  isDeployed: () => isPresent(presence),
  canCarry: () => true,
  plan: (calls) => ({
    to: multicallAddress,
    data: encodeAggregate(calls.map(({ to, data }) => ({ target: to, data }))),
    readResults: (answer) => decodeAggregate(answer, calls.length)?.map(({ succeeds }) => succeeds) ?? null,
  }),
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
