import { type Hex, numberToHex } from 'viem'
import { type Endpoint, RpcError } from '../../../../src/chains/nodes/endpoint.js'

/** Response to a method: a result, an error to throw, or a promise of either. */
export type Script = Record<string, (params: unknown) => unknown>

/** An in-memory endpoint. */
export interface FakeEndpoint extends Endpoint {
  /** Number of requests for a method. */
  count(method: string): number
  /** Overrides responses; `*` for all methods without their own. */
  answer(script: Script): void
  /** Ends the override of `*`. */
  heal(): void
  /** Sets the reported head. */
  setHead(number: number, timestamp?: number): void
}

/** Block hashes of the chain that all fake endpoints share. */
export const hashOf = (number: number | bigint): Hex => numberToHex(BigInt(number), { size: 32 })

/** Chain 84532 at block 100. */
export const createFakeEndpoint = (host: string): FakeEndpoint => {
  const calls: string[] = []
  let head = { number: 100, timestamp: Math.floor(Date.now() / 1_000) }
  const block = (number: number) => ({
    number: numberToHex(number),
    hash: hashOf(number),
    timestamp: numberToHex(head.timestamp),
    baseFeePerGas: '0x3e8',
  })
  let script: Script = {}
  const standard: Script = {
    eth_chainId: () => numberToHex(84532),
    eth_getBlockByNumber: (params) => {
      const [at] = Array.isArray(params) ? params : []
      if (at === 'latest') return block(head.number)
      return Number(at) <= head.number ? block(Number(at)) : null
    },
    eth_getBalance: () => '0x1',
    eth_getCode: () => '0x',
    eth_getTransactionReceipt: () => null,
    eth_sendRawTransaction: () => `0x${'00'.repeat(32)}`,
  }
  return {
    host,
    count: (method) => calls.filter((call) => call === method).length,
    answer: (changed) => {
      script = { ...script, ...changed }
    },
    heal: () => {
      script = {}
    },
    setHead: (number, timestamp = head.timestamp) => {
      head = { number, timestamp }
    },
    request: async (method, params, schema) => {
      calls.push(method)
      const answer = script[method] ?? script['*'] ?? standard[method]
      if (answer === undefined) throw new RpcError(-32601, 'Method not found', null)
      const result = await answer(params)
      if (result instanceof Error) throw result
      return schema.parse(result)
    },
  }
}

/** Never responds. */
export const hang = (): Promise<never> => new Promise(() => {})
