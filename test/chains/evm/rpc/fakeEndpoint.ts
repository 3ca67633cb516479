import { type Hex, numberToHex } from 'viem'
import { type Endpoint, RpcError } from '../../../../src/chains/nodes/endpoint.js'

/** What an endpoint answers to a method: a result, an error that is thrown, or a promise of either. */
export type Script = Record<string, (params: unknown) => unknown>

/** An endpoint without a network. */
export interface FakeEndpoint extends Endpoint {
  /** How often a method was asked. */
  count(method: string): number
  /** Changes what some methods answer; `*` for every method without an answer of its own. */
  answer(script: Script): void
  /** Ends what `*` was told. */
  heal(): void
  /** Sets the head that it tells. */
  setHead(number: number, timestamp?: number): void
}

/** The hash of a block of the one chain that all fake endpoints agree on. */
export const hashOf = (number: number | bigint): Hex => numberToHex(BigInt(number), { size: 32 })

/** Creates an endpoint of chain 84532 that is at block 100. */
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

/** Never answers. */
export const hang = (): Promise<never> => new Promise(() => {})

/** An answer after a while. */
export const after = <T>(milliseconds: number, value: T): Promise<T> =>
  new Promise((resolve) => setTimeout(() => resolve(value), milliseconds))
