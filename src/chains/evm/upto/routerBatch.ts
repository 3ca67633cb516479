import { encodeFunctionData, type Hex, keccak256, stringToHex, toFunctionSelector } from 'viem'
import { isSameAddress } from '../abi/address.js'
import { tokenAbi } from '../abi/contracts.js'
import { uptoRouterAbi } from '../contracts/uptoRouterAbi.js'
import { exactProxyAddress } from '../exactPermit2/contracts.js'
import type { BatchContract } from '../transactions/batching/batchContract.js'
import type { ContractCall } from '../transactions/settlementCall.js'
import type { Routers } from './routers.js'

/** What the router makes in one transaction, of all schemes: permits, Permit2 by x402's proxies, and EIP-3009. */
export const createRouterBatch = ({ shared, isDeployed }: Routers): BatchContract => ({
  address: shared,
  isDeployed,
  canCarry: (call) => isSettle(call, shared) || isProxyCall(call) || isTransfer(call),
  plan: (calls) => {
    if (calls.length === 0 || calls.length > maxCalls) throw new Error('The batch has a wrong size')
    return {
      to: shared,
      data: encodeFunctionData({
        abi: uptoRouterAbi,
        functionName: 'execute',
        args: [
          calls.map(({ id, to, data }) => ({
            target: to,
            // Permits and EIP-3009 have events of their own.
            id: isProxyCall({ to }) ? executionId(id) : noId,
            data,
          })),
        ],
      }),
      readResults: (answer) => {
        if (!/^0x[0-9a-fA-F]{64}$/.test(answer)) return null
        const executed = BigInt(answer)
        return calls.map((_, index) => ((executed >> BigInt(index)) & 1n) === 1n)
      },
    }
  },
  isBatch: (data) => data.startsWith(executeSelector),
})

/** What the router's `Executed` names: the payment's identity. */
export const executionId = (id: string): Hex => keccak256(stringToHex(id))

const selectorOf = (name: string): string =>
  uptoRouterAbi.flatMap((item) =>
    item.type === 'function' && item.name === name ? [toFunctionSelector(item)] : [],
  )[0] ?? ''

const maxCalls = 255
const noId: Hex = `0x${'00'.repeat(32)}`
const settleSelector = selectorOf('settle')
const executeSelector = selectorOf('execute')
const [vrsForm, bytesForm] = tokenAbi
const transferSelectors = [toFunctionSelector(vrsForm), toFunctionSelector(bytesForm)]

const isSettle = ({ to, data }: ContractCall, router: Hex): boolean =>
  isSameAddress(to, router) && data.startsWith(settleSelector)

const isProxyCall = ({ to }: Pick<ContractCall, 'to'>): boolean => isSameAddress(to, exactProxyAddress)

const isTransfer = ({ data }: ContractCall): boolean =>
  transferSelectors.some((selector) => data.startsWith(selector))
