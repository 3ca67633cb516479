import {
  type Abi,
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  decodeEventLog,
  encodeFunctionData,
  type Hex,
} from 'viem'
import { waitForReceipt } from './chainControl.js'
import { callRpc, callRpcBatch } from './jsonRpc.js'
import type { LocalChain } from './localChain.js'

/** A contract's call by any address, without its key. */
interface ContractCall {
  readonly from: Address
  readonly to: Address
  /** Of the function, and of the errors and events that may come of it. */
  readonly abi: Abi
  readonly functionName: string
  readonly args: readonly unknown[]
}

interface CallOutcome {
  /** The error's name, or the raw data of an error that the ABI lacks; null: the call was mined. */
  readonly error: string | null
  readonly errorArgs: readonly unknown[]
  /** Of the called contract, in order. */
  readonly events: readonly { readonly name: string; readonly args: unknown }[]
  readonly gasUsed: bigint
}

/** Puts what each creation code returns at its address; a constructor's storage is lost. */
export const placeContracts = async (
  url: string,
  contracts: readonly { readonly address: Address; readonly creation: Hex }[],
): Promise<void> => {
  const codes = await callRpcBatch(
    url,
    contracts.map(({ creation }) => ({ method: 'eth_call', params: [{ data: creation }, 'latest'] })),
  )
  for (const [index, { address }] of contracts.entries()) {
    await callRpc(url, 'anvil_setCode', [address, codes[index]])
  }
}

/** Simulates, and sends what does not revert. */
export const callContract = async (chain: LocalChain, call: ContractCall): Promise<CallOutcome> => {
  const { from, to, abi, functionName, args } = call
  try {
    await chain.client.simulateContract({ account: from, address: to, abi, functionName, args })
  } catch (error) {
    const reverted =
      error instanceof BaseError
        ? error.walk((cause) => cause instanceof ContractFunctionRevertedError)
        : undefined
    if (!(reverted instanceof ContractFunctionRevertedError)) throw error
    const { data, raw, reason } = reverted
    const isText = data?.errorName === 'Error' || data === undefined
    return {
      error: isText ? (reason ?? raw ?? '0x') : data.errorName,
      errorArgs: data?.args ?? [],
      events: [],
      gasUsed: 0n,
    }
  }
  await chain.fundGas(from)
  const data = encodeFunctionData({ abi, functionName, args })
  const hash = await chain.control.sendAs({ from, to, data, gas: 5_000_000n })
  const { status, logs, gasUsed } = await waitForReceipt(chain.client, hash)
  if (status !== 'success') throw new Error(`${functionName} reverted after its simulation succeeded`)
  const events = logs
    .filter(({ address }) => address.toLowerCase() === to.toLowerCase())
    .map(({ topics, data: logData }) => decodeEventLog({ abi, topics, data: logData }))
    .map(({ eventName = '', args: values }) => ({ name: eventName, args: values }))
  return { error: null, errorArgs: [], events, gasUsed }
}
