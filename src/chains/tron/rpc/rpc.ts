import type { Logger } from '../../../ports/logger.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import { createEndpointPool, type EndpointReport } from '../../nodes/endpointPool.js'
import { createReader } from '../../nodes/reader.js'
import { systemTime } from '../../nodes/systemTime.js'
import type { TronAddress } from '../encoding/address.js'
import type { TronNetworkSettings } from '../settings.js'
import { createBroadcast, type SendAnswer } from './broadcast.js'
import { createTronEndpoints } from './endpoint.js'
import { identifyTron } from './identity.js'
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
  simulationShape,
} from './wireShapes.js'

/** A call of a contract, as it would be sent. */
export interface CallRequest {
  readonly from: TronAddress
  readonly to: TronAddress
  /** In hex without prefix. */
  readonly data: string
}

/** Which of a node's two views of its chain is asked: everything, or only what is not taken back any more. */
export type View = 'wallet' | 'walletsolidity'

/**
 * One TRON network through several nodes. Everything that is asked has a deadline; when no node answers, an
 * `AppError` with the specification's SVC-2004 is thrown. A node of another chain is never used.
 */
export interface TronRpc {
  readonly endpoints: readonly Endpoint[]
  getHead(): Promise<Header>
  findHeader(number: number): Promise<Header | null>
  findReceipt(transaction: string, view?: View): Promise<Receipt | null>
  findAccount(address: TronAddress): Promise<Account | null>
  getResources(address: TronAddress): Promise<Resources>
  simulate(request: CallRequest): Promise<Simulation>
  getPrices(): Promise<Prices>
  /** Hands the bytes to every node; the best of their answers counts. */
  send(bytes: string): Promise<SendAnswer>
  /** Asks every node for chain and head; tells whether anybody is there. */
  probe(): Promise<boolean>
  listHealth(): readonly EndpointReport[]
  /** The nodes that can confirm what another one says: of our chain, answering, at its head. */
  listWitnesses(): readonly Endpoint[]
  /** The number of the newest block that any node told; 0 before one did. */
  findNewestNumber(): number
  /** Reads with any schema, for what only one part of the family asks. */
  readonly ask: ReturnType<typeof createReader>
}

/** Connects to the nodes of a network. */
export const createRpc = (
  network: TronNetworkSettings,
  { timeoutMs, logger }: { readonly timeoutMs: number; readonly logger: Logger },
): TronRpc => {
  const time = systemTime
  const endpoints = createTronEndpoints(network, timeoutMs)
  const pool = createEndpointPool(endpoints, { identity: identifyTron(network), logger, time })
  const ask = createReader(pool, { network: network.network, logger, time })
  const send = createBroadcast(pool, { network: network.network, logger, time })
  return {
    endpoints,
    getHead: async () => {
      const head = await ask('/wallet/getblock', { detail: false }, headerShape)
      if (head === null) throw new Error('The node has no blocks')
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
    findNewestNumber: () =>
      pool.report().reduce((newest, { head }) => Math.max(newest, Number(head ?? 0n)), 0),
    ask,
  }
}
