import { hexToBigInt, isHex, numberToHex } from 'viem'
import type { RpcProxy } from '../support/rpcProxy.js'

const unknownBlock = numberToHex(2 ** 40)

export const makeStale = (node: RpcProxy, head: bigint): void => {
  const tag = numberToHex(head)
  /** Limits a block parameter to the stale head. */
  const clamp = (at: unknown): unknown => {
    if (isHex(at)) return hexToBigInt(at) > head ? unknownBlock : at
    return tag
  }
  for (const method of [
    'eth_call',
    'eth_getTransactionCount',
    'eth_getBalance',
    'eth_getCode',
    'eth_estimateGas',
  ]) {
    node.setFault(method, { kind: 'rewrite', change: ([about, at]) => [about, clamp(at)] })
  }
  node.setFault('eth_getBlockByNumber', { kind: 'rewrite', change: ([at, ...rest]) => [clamp(at), ...rest] })
  node.setFault('eth_blockNumber', { kind: 'tamper', change: () => tag })
  node.setFault('eth_getTransactionReceipt', {
    kind: 'tamper',
    change: (receipt) => (readBlockNumber(receipt) > head ? null : receipt),
  })
  node.setFault('eth_getLogs', {
    kind: 'tamper',
    change: (logs) => (Array.isArray(logs) ? logs.filter((log) => readBlockNumber(log) <= head) : logs),
  })
}

const readBlockNumber = (value: unknown): bigint => {
  if (typeof value !== 'object' || value === null || !('blockNumber' in value)) return 0n
  return isHex(value.blockNumber) ? hexToBigInt(value.blockNumber) : 0n
}
