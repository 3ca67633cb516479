import { type Hex, numberToHex } from 'viem'
import { z } from 'zod'
import { AppError } from '../../../errors.js'
import type { Logger } from '../../../ports/logger.js'
import { networkUnavailable } from '../../common/networkUnavailable.js'
import { type Endpoint, RpcError } from '../../nodes/endpoint.js'
import { type ChainIdentity, type Proof, systemTime } from '../../nodes/endpointHealth.js'
import { createEndpointPool, type EndpointReport } from '../../nodes/endpointPool.js'
import { createReader } from '../../nodes/reader.js'
import { createFindWithCode } from './accountCode.js'
import { createBroadcast, type SendAnswer } from './broadcast.js'
import { createLogMemory, type LogMemory } from './logMemory.js'
import {
  type Block,
  blockShape,
  type FeeHistory,
  feeHistoryShape,
  hexShape,
  type Log,
  logShape,
  numberShape,
  quantityShape,
  type Receipt,
  receiptShape,
  type Transaction,
  transactionShape,
} from './wireShapes.js'

export interface CallRequest {
  readonly from?: Hex
  /** Null: the data is creation code. */
  readonly to: Hex | null
  readonly data: Hex
  readonly gas?: bigint
  /** In wei. A contract can distinguish a call without a price from a transaction. */
  readonly gasPrice?: bigint
  /** Latest by default. A node without the block fails. */
  readonly at?: bigint | 'pending'
}

export type CallAnswer<T> =
  | { readonly succeeds: true; readonly value: T }
  | ({ readonly succeeds: false } & CallFailure)

/** Revert data, and the node's message. */
export interface CallFailure {
  readonly data: Hex | null
  readonly message: string
}

/** Logs of one contract with given topics, between two blocks. */
export interface LogFilter {
  readonly address: Hex
  /** A list in one position matches any of its topics. */
  readonly topics: readonly (Hex | readonly Hex[])[]
  readonly fromBlock: bigint
  readonly toBlock: bigint
}

/**
 * One network's nodes. Reads go to the healthiest; the others take over when it fails or is unusually slow.
 * Every request has a deadline; when no node answers, an `AppError` with SVC-2004 is thrown. An endpoint of
 * another chain is never used.
 */
export interface Rpc {
  readonly endpoints: readonly Endpoint[]
  call(request: CallRequest): Promise<CallAnswer<Hex>>
  estimateGas(request: CallRequest): Promise<CallAnswer<bigint>>
  getChainId(endpoint?: Endpoint): Promise<number>
  getCode(address: Hex): Promise<Hex>
  /** Which of the accounts have code, in one request where an endpoint allows it; none of it is run. */
  findWithCode(accounts: readonly Hex[]): Promise<ReadonlySet<Hex>>
  getBalance(address: Hex): Promise<bigint>
  /** Transactions of an account, up to a block; `pending`: with those that a node still holds. */
  getTransactionCount(address: Hex, at: 'latest' | 'pending' | bigint): Promise<number>
  getBlock(at: 'latest' | bigint, endpoint?: Endpoint): Promise<Block | null>
  getReceipt(transaction: Hex, endpoint?: Endpoint): Promise<Receipt | null>
  getTransaction(transaction: Hex): Promise<Transaction | null>
  /** All receipts of a block; null when the node does not have the block. Not every node has the method. */
  getBlockReceipts(at: bigint): Promise<readonly Receipt[] | null>
  getLogs(filter: LogFilter): Promise<readonly Log[]>
  getPriorityFee(): Promise<bigint>
  getGasPrice(): Promise<bigint>
  /** Base fees of the last blocks and of the next one, and the tip at a percentile of each block. */
  getFeeHistory(blocks: number, percentile: number): Promise<FeeHistory>
  /** Sends to every endpoint; returns the most conclusive answer. */
  send(bytes: Hex): Promise<SendAnswer>
  /** Asks every endpoint for chain and head, which selects the one to read from; false when none answers. */
  probe(): Promise<boolean>
  listHealth(): readonly EndpointReport[]
  /** Endpoints for cross-checks: right chain, responding, in sync. */
  listWitnesses(): readonly Endpoint[]
  /** The chain as one endpoint alone reports it. */
  viewOf(endpoint: Endpoint): Rpc
  /** Limits and progress of log searches. */
  readonly logMemory: LogMemory
}

/** Asks a node, or several in turn. */
export type Ask = ReturnType<typeof createReader>
type Reads = Omit<
  Rpc,
  'endpoints' | 'send' | 'probe' | 'listHealth' | 'listWitnesses' | 'viewOf' | 'logMemory'
>

/** One network, named by its CAIP-2 identifier, through several endpoints. */
export const createRpc = (network: string, endpoints: readonly Endpoint[], logger: Logger): Rpc => {
  const time = systemTime
  const pool = createEndpointPool(endpoints, { identity: identifyEvm(network), logger, time })
  const views = new Map<Endpoint, Rpc>()
  const openView = (endpoint: Endpoint): Rpc => ({
    ...rpc,
    ...createReads(network, askOnly(endpoint)),
    endpoints: [endpoint],
    listWitnesses: () => [endpoint],
    logMemory: createLogMemory(),
  })
  const rpc: Rpc = {
    ...createReads(network, createReader(pool, { network, logger, time })),
    endpoints,
    send: createBroadcast(pool, { network, logger, time }),
    probe: pool.probe,
    listHealth: pool.report,
    listWitnesses: () => pool.listHealthy().map(({ endpoint }) => endpoint),
    viewOf: (endpoint) => {
      const view = views.get(endpoint) ?? openView(endpoint)
      views.set(endpoint, view)
      return view
    },
    logMemory: createLogMemory(),
  }
  return rpc
}

/** Asks one endpoint and no other. */
const askOnly =
  (endpoint: Endpoint): Ask =>
  async (method, params, schema, { isVerdict = () => false } = {}) => {
    try {
      return await endpoint.request(method, params, schema)
    } catch (cause) {
      // Only the chain's own result may be read as one.
      if (cause instanceof RpcError && !isVerdict(cause)) {
        throw new Error(`${endpoint.host} refuses ${method}`, { cause })
      }
      throw cause
    }
  }

/** What the nodes that are asked answer. */
export const createReads = (network: string, ask: Ask): Reads => {
  const attempt = async <Schema extends z.ZodType>(
    method: string,
    params: unknown,
    schema: Schema,
  ): Promise<CallAnswer<z.infer<Schema>>> => {
    try {
      return { succeeds: true, value: await ask(method, params, schema, { isVerdict: isExecutionFailure }) }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      if (isEmptyGasWallet(error)) throw networkUnavailable(network, error)
      return { succeeds: false, data: readRevertData(error), message: error.message }
    }
  }

  const getCode: Rpc['getCode'] = (address) => ask('eth_getCode', [address, 'latest'], hexShape)

  return {
    call: (request) => attempt('eth_call', [toWire(request), toBlockTag(request.at ?? 'latest')], hexShape),
    estimateGas: (request) => {
      const { at } = request
      const tag = at === undefined ? [] : [toBlockTag(at)]
      return attempt('eth_estimateGas', [toWire(request), ...tag], quantityShape)
    },
    getChainId: (endpoint) =>
      endpoint === undefined
        ? ask('eth_chainId', [], numberShape)
        : endpoint.request('eth_chainId', [], numberShape),
    getCode,
    findWithCode: createFindWithCode(ask, getCode),
    getBalance: (address) => ask('eth_getBalance', [address, 'latest'], quantityShape),
    getTransactionCount: (address, at) =>
      ask('eth_getTransactionCount', [address, toBlockTag(at)], numberShape),
    getBlock: (at, endpoint) => {
      const params = [toBlockTag(at), false]
      return endpoint === undefined
        ? ask('eth_getBlockByNumber', params, blockShape.nullable())
        : endpoint.request('eth_getBlockByNumber', params, blockShape.nullable())
    },
    getReceipt: (transaction, endpoint) =>
      endpoint === undefined
        ? ask('eth_getTransactionReceipt', [transaction], receiptShape.nullable())
        : endpoint.request('eth_getTransactionReceipt', [transaction], receiptShape.nullable()),
    getTransaction: (transaction) =>
      ask('eth_getTransactionByHash', [transaction], transactionShape.nullable()),
    getBlockReceipts: (at) =>
      ask('eth_getBlockReceipts', [numberToHex(at)], z.array(receiptShape).nullable()),
    getLogs: ({ address, topics, fromBlock, toBlock }) =>
      ask(
        'eth_getLogs',
        [{ address, topics, fromBlock: numberToHex(fromBlock), toBlock: numberToHex(toBlock) }],
        z.array(logShape),
        // Logs are slow on every node, and each limits such queries in its own way.
        { mayHedge: false, mayRefuse: true },
      ),
    getPriorityFee: () => ask('eth_maxPriorityFeePerGas', [], quantityShape),
    getGasPrice: () => ask('eth_gasPrice', [], quantityShape),
    getFeeHistory: (blocks, percentile) =>
      ask('eth_feeHistory', [numberToHex(blocks), 'latest', [percentile]], feeHistoryShape),
  }
}

const toBlockTag = (at: bigint | 'latest' | 'pending'): string =>
  typeof at === 'bigint' ? numberToHex(at) : at

const toWire = ({ from, to, data, gas, gasPrice }: CallRequest) => ({
  ...(from === undefined ? {} : { from }),
  ...(to === null ? {} : { to }),
  data,
  ...(gas === undefined ? {} : { gas: numberToHex(gas) }),
  ...(gasPrice === undefined ? {} : { gasPrice: numberToHex(gasPrice) }),
})

/** Identifies nodes of an EVM network, named by its CAIP-2 identifier, by their chain id. */
export const identifyEvm = (network: string): ChainIdentity => ({
  network,
  chain: network.slice(network.indexOf(':') + 1),
  prove,
})

/** Chain id and newest block, in one request. */
const prove = async (endpoint: Endpoint): Promise<Proof> => {
  const [chainId, { number, timestamp }] = await Promise.all([
    endpoint.request('eth_chainId', [], numberShape),
    endpoint.request('eth_getBlockByNumber', ['latest', false], blockShape),
  ])
  return { chain: String(chainId), head: { number, timestamp: Number(timestamp) } }
}

const executionErrorTexts =
  /revert|out ?of ?gas|gas required exceeds|invalid opcode|invalid jump|stack (under|over)flow|vm exception|intrinsic gas|opcodenotfound|stopped|insufficient (funds|balance)/i

/** Whether the call itself failed in execution: then every node returns the same error. */
export const isExecutionFailure = (refusal: RpcError): boolean =>
  refusal.code === 3 || readRevertData(refusal) !== null || executionErrorTexts.test(refusal.message)

/** Whether the sender, which is ours, cannot pay for the gas of a call. */
export const isEmptyGasWallet = (refusal: RpcError): boolean =>
  readRevertData(refusal) === null &&
  /insufficient (funds for gas|sender balance|maxfeepergas)/i.test(refusal.message)

const hexData = z.string().regex(/^0x[0-9a-fA-F]*$/)

/** Revert data of a call, or null: nodes put it in `data` or in `data.data`. */
export const readRevertData = ({ data }: RpcError): Hex | null => {
  const nested = z
    .union([hexData, z.object({ data: hexData }).transform((inner) => inner.data)])
    .safeParse(data)
  return nested.success ? `0x${nested.data.slice(2)}` : null
}

/** The result of a large call; null when it fails, or when the nodes refuse it, perhaps for its size. */
export const tryCall = async (rpc: Rpc, call: CallRequest): Promise<Hex | null> => {
  try {
    const answer = await rpc.call(call)
    return answer.succeeds ? answer.value : null
  } catch (error) {
    if (error instanceof AppError && error.cause instanceof RpcError) return null
    throw error
  }
}
