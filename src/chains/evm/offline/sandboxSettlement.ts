import {
  decodeFunctionData,
  encodeFunctionResult,
  type Hex,
  maxUint256,
  toHex,
  zeroAddress,
  zeroHash,
} from 'viem'
import type { Logger } from '../../../ports/logger.js'
import type { SandboxChannel, SandboxChannels } from '../../../ports/sandbox.js'
import { isSameAddress } from '../abi/address.js'
import { settlementAbi, settlementAddress } from '../channels/contract.js'
import { encodeBitmapCall } from '../permit2/call.js'
import { createRpc, type Rpc } from '../rpc/rpc.js'
import { encodeStateCall } from '../tokens/authorizations.js'

/* The chain as the rules of channels read it: the settlement has what the sandbox's database has, and accounts have no code. */

interface SandboxChain {
  readonly network: string
  readonly channels: SandboxChannels
  readonly logger: Logger
}

const selectorOf = (data: Hex): string => data.slice(0, 10)

/** The journal knows which authorizations are used. */
const uses = [encodeStateCall(zeroAddress, zeroHash), encodeBitmapCall({ from: zeroAddress, nonce: 0n })].map(
  selectorOf,
)

const empty: SandboxChannel = { balance: 0n, totalClaimed: 0n, refundNonce: 0n }

export const createSandboxRpc = ({ network, channels, logger }: SandboxChain): Rpc => {
  const readChannels = async (calls: readonly Hex[]): Promise<Hex> => {
    const decoded = calls.map((data) => decodeFunctionData({ abi: settlementAbi, data }))
    const ids = decoded.map(({ args = [] }) => String(args[0]))
    const known = await channels.find(network, [...new Set(ids)])
    const results = decoded.map(({ functionName }, index) => {
      const { balance, totalClaimed, refundNonce } = known.get(ids[index] ?? '') ?? empty
      switch (functionName) {
        case 'channels':
          return encodeFunctionResult({ abi: settlementAbi, functionName, result: [balance, totalClaimed] })
        case 'refundNonce':
          return encodeFunctionResult({ abi: settlementAbi, functionName, result: refundNonce })
        case 'pendingWithdrawals':
          // A payer would have to send a transaction.
          return encodeFunctionResult({ abi: settlementAbi, functionName, result: [0n, 0] })
        default:
          throw new Error(`The sandbox does not execute ${functionName}`)
      }
    })
    return encodeFunctionResult({ abi: settlementAbi, functionName: 'multicall', result: results })
  }

  const readSettlement = async (data: Hex): Promise<Hex> => {
    const { functionName, args } = decodeFunctionData({ abi: settlementAbi, data })
    if (functionName === 'multicall') return await readChannels(args[0])
    if (functionName !== 'receivers') throw new Error(`The sandbox does not execute ${functionName}`)
    const { totalClaimed, totalSettled } = await channels.findReceiver(network, ...args)
    return encodeFunctionResult({ abi: settlementAbi, functionName, result: [totalClaimed, totalSettled] })
  }

  /** Balances and allowances are sufficient. */
  const readToken = (data: Hex): Hex => toHex(uses.includes(selectorOf(data)) ? 0n : maxUint256, { size: 32 })

  return {
    ...createRpc(network, [], logger),
    getCode: async () => '0x',
    findWithCode: async () => new Set(),
    call: async ({ to, data }) => ({
      succeeds: true,
      value:
        to !== null && isSameAddress(to, settlementAddress) ? await readSettlement(data) : readToken(data),
    }),
  }
}
