import { type Hex, hexToBigInt, hexToNumber, numberToHex } from 'viem'
import { z } from 'zod'
import { AppError } from '../../errors.js'
import type { Logger } from '../../ports/logger.js'
import { type Endpoint, RpcRefusal } from './endpoint.js'
import { notSettling } from './notSettling.js'

const hex = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value))
const quantity = hex.transform((value) => hexToBigInt(value))
const number = hex.transform((value) => hexToNumber(value))

const log = z.object({ address: hex, topics: z.array(hex), data: hex, transactionHash: hex.nullish() })
const receipt = z.object({
  transactionHash: hex,
  blockHash: hex,
  blockNumber: quantity,
  status: z.enum(['0x0', '0x1']).transform((status) => status === '0x1'),
  logs: z.array(log),
})
const block = z.object({
  number: quantity,
  hash: hex,
  timestamp: quantity,
  baseFeePerGas: quantity.nullish(),
  /** Hashes of its transactions. */
  transactions: z.array(hex).nullish(),
})

/** A log as nodes answer it. */
export type Log = z.infer<typeof log>
/** A transaction's receipt; `status` is true when the transaction did not revert. */
export type Receipt = z.infer<typeof receipt>
/** A block's header; `timestamp` in Unix seconds. */
export type Block = z.infer<typeof block>

/** A call as it would be sent. */
export interface CallRequest {
  readonly from?: Hex
  readonly to: Hex
  readonly data: Hex
  readonly gas?: bigint
  /** In wei. A contract can tell a simulation without a price from a transaction. */
  readonly gasPrice?: bigint
  /** The state that is asked; the latest unless told. A node that has not got a block does not answer. */
  readonly at?: bigint | 'pending'
}

/** What a call answered, or that it failed inside the chain. */
export type CallAnswer<T> =
  | { readonly succeeds: true; readonly value: T }
  | ({ readonly succeeds: false } & CallFailure)

/** Why a call failed inside the chain; the message is the node's. */
export interface CallFailure {
  readonly data: Hex | null
  readonly message: string
}

/** What became of handing signed bytes to a node. `unknown`: they may have entered, they may not. */
export type SendAnswer = 'entered' | 'nonce_used' | 'refused' | 'unknown'

/**
 * One network's nodes, tried in order. Everything that is asked has a deadline; when no node answers, an
 * `AppError` with the specification's SVC-2004 is thrown.
 */
export interface Rpc {
  readonly endpoints: readonly Endpoint[]
  call(request: CallRequest): Promise<CallAnswer<Hex>>
  estimateGas(request: CallRequest): Promise<CallAnswer<bigint>>
  getChainId(endpoint?: Endpoint): Promise<number>
  getCode(address: Hex): Promise<Hex>
  getBalance(address: Hex): Promise<bigint>
  /** How many transactions of an account are mined, up to a block. */
  getTransactionCount(address: Hex, at: 'latest' | bigint): Promise<number>
  getBlock(at: 'latest' | bigint): Promise<Block | null>
  getReceipt(transaction: Hex, endpoint?: Endpoint): Promise<Receipt | null>
  getLogs(filter: LogFilter): Promise<readonly Log[]>
  getPriorityFee(): Promise<bigint>
  getGasPrice(): Promise<bigint>
  /** Hands the bytes to every endpoint; the best of the answers counts. */
  send(bytes: Hex): Promise<SendAnswer>
}

/** Logs of one contract with given topics, between two blocks. */
export interface LogFilter {
  readonly address: Hex
  /** Where several are listed in one place, any of them. */
  readonly topics: readonly (Hex | readonly Hex[])[]
  readonly fromBlock: bigint
  readonly toBlock: bigint
}

/** Asks a network through several endpoints. */
export const createRpc = (network: string, endpoints: readonly Endpoint[], logger: Logger): Rpc => {
  // The endpoint that answered last is asked first; a dead one costs one deadline, not one per request.
  let preferred = 0

  const ask = async <Schema extends z.ZodType>(
    method: string,
    params: unknown,
    schema: Schema,
    isVerdict: (refusal: RpcRefusal) => boolean = () => false,
  ): Promise<z.infer<Schema>> => {
    let failure: unknown
    for (let attempt = 0; attempt < endpoints.length; attempt++) {
      const index = (preferred + attempt) % endpoints.length
      const endpoint = endpoints[index]
      if (endpoint === undefined) break
      try {
        const answer = await endpoint.request(method, params, schema)
        if (attempt > 0) preferred = index
        return answer
      } catch (error) {
        // What the chain says of a call is the same everywhere; any other refusal is this endpoint's own.
        if (error instanceof RpcRefusal && isVerdict(error)) throw error
        logger.warn({ network, host: endpoint.host, method, error }, 'rpc.unanswered')
        failure = error
      }
    }
    throw unavailable(network, failure)
  }

  const attempt = async <Schema extends z.ZodType>(
    method: string,
    params: unknown,
    schema: Schema,
  ): Promise<CallAnswer<z.infer<Schema>>> => {
    try {
      return { succeeds: true, value: await ask(method, params, schema, isExecutionFailure) }
    } catch (error) {
      if (!(error instanceof RpcRefusal)) throw error
      if (isEmptyGasWallet(error)) throw notSettling(network, error)
      return { succeeds: false, data: error.data, message: error.message }
    }
  }

  const sendTo = async (endpoint: Endpoint, bytes: Hex): Promise<SendAnswer> => {
    try {
      // The answered hash is not believed: ours was computed from the bytes.
      await endpoint.request('eth_sendRawTransaction', [bytes], z.unknown())
      return 'entered'
    } catch (error) {
      const answer = error instanceof RpcRefusal ? classifySendRefusal(error.message) : 'unknown'
      if (answer !== 'entered') {
        logger.warn({ network, host: endpoint.host, answer, error }, 'rpc.send_refused')
      }
      return answer
    }
  }

  return {
    endpoints,
    call: (request) => attempt('eth_call', [toWire(request), toBlockTag(request.at ?? 'latest')], hex),
    estimateGas: (request) => {
      const { at } = request
      const tag = at === undefined ? [] : [toBlockTag(at)]
      return attempt('eth_estimateGas', [toWire(request), ...tag], quantity)
    },
    getChainId: (endpoint) =>
      endpoint === undefined ? ask('eth_chainId', [], number) : endpoint.request('eth_chainId', [], number),
    getCode: (address) => ask('eth_getCode', [address, 'latest'], hex),
    getBalance: (address) => ask('eth_getBalance', [address, 'latest'], quantity),
    getTransactionCount: (address, at) => ask('eth_getTransactionCount', [address, toBlockTag(at)], number),
    getBlock: (at) => ask('eth_getBlockByNumber', [toBlockTag(at), false], block.nullable()),
    getReceipt: (transaction, endpoint) =>
      endpoint === undefined
        ? ask('eth_getTransactionReceipt', [transaction], receipt.nullable())
        : endpoint.request('eth_getTransactionReceipt', [transaction], receipt.nullable()),
    getLogs: ({ address, topics, fromBlock, toBlock }) =>
      ask(
        'eth_getLogs',
        [{ address, topics, fromBlock: numberToHex(fromBlock), toBlock: numberToHex(toBlock) }],
        z.array(log),
      ),
    getPriorityFee: () => ask('eth_maxPriorityFeePerGas', [], quantity),
    getGasPrice: () => ask('eth_gasPrice', [], quantity),
    send: async (bytes) => {
      const answers = endpoints.map((endpoint) => sendTo(endpoint, bytes))
      // One node that took the bytes is enough to go on; the others are told in the background.
      const first = await firstEntered(answers)
      if (first) return 'entered'
      const settled = await Promise.all(answers)
      return sendRank.find((answer) => settled.includes(answer)) ?? 'unknown'
    },
  }
}

// An answer that leaves the fate open outweighs a refusal: another node may have passed the bytes on.
const sendRank = ['entered', 'unknown', 'nonce_used', 'refused'] as const

const firstEntered = (answers: readonly Promise<SendAnswer>[]): Promise<boolean> =>
  new Promise((resolve) => {
    let open = answers.length
    for (const answer of answers) {
      answer.then((value) => {
        open -= 1
        if (value === 'entered') resolve(true)
        else if (open === 0) resolve(false)
      })
    }
  })

const toBlockTag = (at: bigint | 'latest' | 'pending'): string =>
  typeof at === 'bigint' ? numberToHex(at) : at

const toWire = ({ from, to, data, gas, gasPrice }: CallRequest) => ({
  ...(from === undefined ? {} : { from }),
  to,
  data,
  ...(gas === undefined ? {} : { gas: numberToHex(gas) }),
  ...(gasPrice === undefined ? {} : { gasPrice: numberToHex(gasPrice) }),
})

const unavailable = (network: string, cause: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', `No node of ${network} answers`, {
    cause,
    operationalCode: 'SVC-2004',
    retryAfterSeconds: 2,
  })

const executionWords =
  /revert|out ?of ?gas|gas required exceeds|invalid opcode|invalid jump|stack (under|over)flow|vm exception|intrinsic gas|opcodenotfound|stopped|insufficient (funds|balance)/i

const isExecutionFailure = (refusal: RpcRefusal): boolean =>
  refusal.code === 3 || refusal.data !== null || executionWords.test(refusal.message)

/** The sender of the call cannot pay for its gas. The sender is ours, so no payer is to blame. */
const isEmptyGasWallet = ({ data, message }: RpcRefusal): boolean =>
  data === null && /insufficient (funds for gas|sender balance|maxfeepergas)/i.test(message)

/** Nodes answer a send in words only; geth's, reth's, erigon's, nethermind's and anvil's are known. */
const classifySendRefusal = (message: string): SendAnswer => {
  if (/already known|already imported|known transaction|alreadyknown/i.test(message)) return 'entered'
  if (/nonce (is )?too low|nonce provided .* lower|oldnonce|nonce has already been used/i.test(message)) {
    return 'nonce_used'
  }
  // A replacement that is underpriced means that the number is taken in the pool, perhaps by these very bytes.
  if (/underpriced|replacement/i.test(message)) return 'unknown'
  if (/insufficient funds|pool is full|exceeds block gas limit|fee cap|intrinsic gas/i.test(message))
    return 'refused'
  return 'unknown'
}
