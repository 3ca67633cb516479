import { z } from 'zod'
import { createFailureLog } from '../../../failureLog.js'
import type { Logger } from '../../../ports/logger.js'
import { type Endpoint, RpcError, readRateLimit } from '../../nodes/endpoint.js'
import {
  type ChainIdentity,
  type EndpointHealth,
  type HealthTime,
  type Proof,
  systemTime,
} from '../../nodes/endpointHealth.js'
import {
  broadcastToAll,
  createEndpointPool,
  type EndpointPool,
  type EndpointReport,
} from '../../nodes/endpointPool.js'
import { createPathEndpoint } from '../../nodes/pathEndpoint.js'
import { createReader } from '../../nodes/reader.js'
import type { TronAddress } from '../encoding/address.js'
import type { TronNetworkSettings } from '../settings.js'
import {
  type Account,
  accountShape,
  type Header,
  headerShape,
  type Prices,
  parametersShape,
  type Receipt,
  type Resources,
  receiptShapeOf,
  resourceShape,
  type Simulation,
  sendShape,
  simulationShape,
} from './wireShapes.js'

interface CallRequest {
  readonly from: TronAddress
  readonly to: TronAddress
  readonly data: string
}

/** `walletsolidity` answers from solid blocks only. */
type View = 'wallet' | 'walletsolidity'

/**
 * HTTP API of one network. Every request has a deadline; throws SVC-2004 when no endpoint responds. An
 * endpoint of another chain is never used.
 */
export interface Rpc {
  readonly endpoints: readonly Endpoint[]
  getHead(): Promise<Header>
  findHeader(number: number): Promise<Header | null>
  findReceipt(transaction: string, view?: View): Promise<Receipt | null>
  findAccount(address: TronAddress): Promise<Account | null>
  getResources(address: TronAddress): Promise<Resources>
  simulate(request: CallRequest): Promise<Simulation>
  getPrices(): Promise<Prices>
  send(bytes: string): Promise<SendAnswer>
  probe(): Promise<boolean>
  listHealth(): readonly EndpointReport[]
  /** Healthy endpoints, for cross-checks. */
  listWitnesses(): readonly Endpoint[]
  /** Probes report it; 0 before the first. */
  getHighestKnownBlock(): number
  /** Serves requests that only one part of the family makes. */
  readonly ask: ReturnType<typeof createReader>
}

export const createRpc = (
  network: TronNetworkSettings,
  { timeoutMs, logger }: { readonly timeoutMs: number; readonly logger: Logger },
): Rpc => {
  const time = systemTime
  const endpoints = createTronEndpoints(network, timeoutMs)
  const pool = createEndpointPool(endpoints, { identity: identifyTron(network), logger, time })
  const ask = createReader(pool, { network: network.network, logger, time })
  const send = createBroadcast(pool, { network: network.network, logger, time })
  return {
    endpoints,
    getHead: async () => {
      const head = await ask('/wallet/getblock', { detail: false }, headerShape)
      if (head === null) throw new Error('The node returned no block')
      return head
    },
    findHeader: (number) =>
      ask('/wallet/getblock', { id_or_num: String(number), detail: false }, headerShape),
    findReceipt: (transaction, view = 'wallet') =>
      ask(`/${view}/gettransactioninfobyid`, { value: transaction }, receiptShapeOf(transaction)),
    findAccount: (address) => ask('/wallet/getaccount', { address, visible: false }, accountShape),
    getResources: (address) => ask('/wallet/getaccountresource', { address, visible: false }, resourceShape),
    simulate: ({ from, to, data }) =>
      ask(
        '/wallet/triggerconstantcontract',
        { owner_address: from, contract_address: to, data, visible: false },
        simulationShape,
      ),
    getPrices: () => ask('/wallet/getchainparameters', {}, parametersShape),
    send,
    probe: pool.probe,
    listHealth: pool.report,
    listWitnesses: () => pool.listHealthy().map(({ endpoint }) => endpoint),
    getHighestKnownBlock: () =>
      pool.report().reduce((newest, { head }) => Math.max(newest, Number(head ?? 0n)), 0),
    ask,
  }
}

const identifyTron = ({ network, chainId }: TronNetworkSettings): ChainIdentity => ({
  network,
  chain: chainId,
  prove,
})

const prove = async (endpoint: Endpoint): Promise<Proof> => {
  const [first, head] = await Promise.all([
    endpoint.request('/wallet/getblock', { id_or_num: '0', detail: false }, headerShape),
    endpoint.request('/wallet/getblock', { detail: false }, headerShape),
  ])
  if (first === null || head === null) throw new Error('The node returned no block')
  return {
    chain: first.id.slice(-8),
    head: { number: BigInt(head.number), timestamp: head.timestamp / 1_000 },
  }
}

/** Without zod, which would build an error for every good answer. */
const isFailure = (answer: unknown): answer is { readonly Error: string } =>
  typeof answer === 'object' && answer !== null && 'Error' in answer && typeof answer.Error === 'string'

const maxErrorLength = 200

/** TRON nodes report errors with HTTP 200 and an `Error` field; this turns them into `RpcError`. */
const createTronEndpoints = (
  { rpcUrls, apiKey }: Pick<TronNetworkSettings, 'rpcUrls' | 'apiKey'>,
  timeoutMs: number,
): readonly Endpoint[] =>
  rpcUrls.map((url) => {
    const endpoint = createPathEndpoint(url, timeoutMs, apiKey === null ? {} : { 'TRON-PRO-API-KEY': apiKey })
    return {
      host: endpoint.host,
      request: async (path, body, schema) => {
        const answer = await endpoint.request(path, body, z.unknown())
        if (isFailure(answer)) throw new RpcError(0, answer.Error.slice(0, maxErrorLength))
        return schema.parse(answer)
      },
    }
  })

/**
 * `taken`: at least one node accepted. `refused`: all refused now, which does not prove that the transaction
 * cannot land. `unknown`: it may be in flight.
 */
type SendAnswer = 'taken' | 'refused' | 'unknown'

// With any other code, such as SERVER_BUSY, the node may have accepted the transaction.
const refusals = [
  'SIGERROR',
  'CONTRACT_VALIDATE_ERROR',
  'BANDWITH_ERROR',
  'TAPOS_ERROR',
  'TOO_BIG_TRANSACTION_ERROR',
  'TRANSACTION_EXPIRATION_ERROR',
]

const createBroadcast = (
  pool: EndpointPool,
  { network, logger, time }: { readonly network: string; readonly logger: Logger; readonly time: HealthTime },
): ((bytes: string) => Promise<SendAnswer>) => {
  const timeouts = createFailureLog({
    logger,
    event: 'rpc.send_failed',
    recovered: null,
    now: time.monotonicMs,
  })

  const sendTo = async (health: EndpointHealth, bytes: string): Promise<SendAnswer> => {
    const startedAtMs = time.monotonicMs()
    const logFields = { network, host: health.name }
    try {
      // The returned id is ignored: ours is computed from the bytes.
      const answer = await health.endpoint.request('/wallet/broadcasthex', { transaction: bytes }, sendShape)
      if (answer.result || answer.code === 'DUP_TRANSACTION_ERROR') return 'taken'
      logger.warn({ ...logFields, code: answer.code, message: answer.message }, 'rpc.send_refused')
      return refusals.includes(answer.code) ? 'refused' : 'unknown'
    } catch (error) {
      const isRateLimited = readRateLimit(error) !== null
      if (isRateLimited) health.onFailure(startedAtMs, error)
      timeouts.failed(health.name, { ...logFields, error })
      // A lost broadcast response does not prove that the node is down: probe it.
      if (!isRateLimited && !(error instanceof RpcError)) void health.probe()
      return isRateLimited ? 'refused' : 'unknown'
    }
  }

  return async (bytes) => {
    const answers = await broadcastToAll(
      pool,
      (health) => sendTo(health, bytes),
      (answer) => answer === 'taken',
    )
    if (answers.includes('taken')) return 'taken'
    return answers.every((answer) => answer === 'refused') ? 'refused' : 'unknown'
  }
}
