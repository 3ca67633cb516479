import { z } from 'zod'
import type { Logger } from '../../../ports/logger.js'
import { broadcastToAll } from '../../nodes/broadcastToAll.js'
import { type Endpoint, RpcRefusal } from '../../nodes/endpoint.js'
import type { EndpointHealth } from '../../nodes/endpointHealth.js'
import { createEndpointPool, type EndpointReport } from '../../nodes/endpointPool.js'
import { createReader } from '../../nodes/reader.js'
import { systemTime } from '../../nodes/systemTime.js'
import { identifySolana } from './identity.js'
import {
  type Account,
  accountShape,
  blockShape,
  inContext,
  type Status,
  simulationShape,
  statusesShape,
} from './wireShapes.js'

/** What a simulation came to: `error` in the node's own form, or what the watched accounts would hold. */
export type Simulation =
  | { readonly succeeds: true; readonly accounts: readonly (Account | null)[] }
  | { readonly succeeds: false; readonly error: unknown }

/** How the status of transactions is asked for. */
export interface StatusOptions {
  /** One node alone, in place of the one that is read from. */
  readonly endpoint?: Endpoint
  /** Whether old blocks are searched too, which costs a node much; without it the newest few hundred are. */
  readonly searchesHistory?: boolean
}

/**
 * One cluster's nodes. One of them is read from, chosen by health; the others take over when it fails. Everything
 * that is asked has a deadline; when no node answers, an `AppError` with the specification's SVC-2004 is thrown.
 */
export interface Rpc {
  readonly endpoints: readonly Endpoint[]
  /** Confirmed state, in the order of the addresses. */
  getAccounts(addresses: readonly string[]): Promise<readonly (Account | null)[]>
  /** Runs a transaction (base64) on confirmed state, whoever has signed it, with its own blockhash. */
  simulate(transaction: string, watched: readonly string[]): Promise<Simulation>
  getBalance(address: string): Promise<bigint>
  /** In the order of the transactions; null of those that the node does not know. */
  getStatuses(transactions: readonly string[], asking?: StatusOptions): Promise<readonly (Status | null)[]>
  /** The blockhash of a confirmed block; null where the node has no block in that slot. */
  getBlockhash(slot: number): Promise<string | null>
  /** Hands the bytes (base64) to every node; true when one of them took them. */
  send(bytes: string): Promise<boolean>
  /** Asks every node for its cluster and head, which decides whom to read from; tells whether anybody is there. */
  probe(): Promise<boolean>
  /** How the nodes do, in the order of the configuration. */
  listHealth(): readonly EndpointReport[]
  /** The nodes that can confirm what another one says. */
  listWitnesses(): readonly Endpoint[]
}

const accountsShape = inContext(z.array(accountShape))

/** Asks a cluster, named by its CAIP-2 identifier, through several nodes. */
export const createRpc = (network: string, endpoints: readonly Endpoint[], logger: Logger): Rpc => {
  const time = systemTime
  const pool = createEndpointPool(endpoints, { identity: identifySolana(network), logger, time })
  const ask = createReader(pool, { network, logger, time })

  const sendTo = async ({ endpoint, name }: EndpointHealth, bytes: string): Promise<boolean> => {
    try {
      // It was simulated a moment ago; a node that simulates it again refuses bytes that it has already taken.
      const options = { encoding: 'base64', skipPreflight: true, maxRetries: 0 }
      // The answered id is not believed: ours is the signature that we made.
      await endpoint.request('sendTransaction', [bytes, options], z.unknown())
      return true
    } catch (error) {
      logger.warn({ network, host: name, error }, 'rpc.send_refused')
      return false
    }
  }

  return {
    endpoints,
    getAccounts: async (addresses) => {
      const params = [addresses, { encoding: 'base64', commitment: 'confirmed' }]
      return (await ask('getMultipleAccounts', params, accountsShape)).value
    },
    simulate: async (transaction, watched) => {
      const params = [
        transaction,
        { ...simulationOptions, accounts: { encoding: 'base64', addresses: watched } },
      ]
      try {
        const asking = { isVerdict: isAboutTransaction }
        const { value } = await ask('simulateTransaction', params, inContext(simulationShape), asking)
        return value.err === null || value.err === undefined
          ? { succeeds: true, accounts: value.accounts ?? [] }
          : { succeeds: false, error: value.err }
      } catch (error) {
        if (!(error instanceof RpcRefusal)) throw error
        return { succeeds: false, error: error.message }
      }
    },
    getBalance: async (address) => {
      const params = [address, { commitment: 'confirmed' }]
      return BigInt((await ask('getBalance', params, inContext(z.int()))).value)
    },
    getStatuses: async (transactions, { endpoint, searchesHistory = false } = {}) => {
      const params = [transactions, { searchTransactionHistory: searchesHistory }]
      const answer =
        endpoint === undefined
          ? ask('getSignatureStatuses', params, statusesShape)
          : endpoint.request('getSignatureStatuses', params, statusesShape)
      return (await answer).value
    },
    getBlockhash: async (slot) => {
      try {
        const asking = { isVerdict: isAboutBlock }
        const block = await ask('getBlock', [slot, blockOptions], blockShape, asking)
        return block?.blockhash ?? null
      } catch (error) {
        if (error instanceof RpcRefusal) return null
        throw error
      }
    },
    send: async (bytes) => {
      const answers = await broadcastToAll(
        pool,
        (health) => sendTo(health, bytes),
        (isDelivered) => isDelivered,
      )
      return answers.includes(true)
    },
    probe: pool.probe,
    listHealth: pool.report,
    listWitnesses: () => pool.listHealthy().map(({ endpoint }) => endpoint),
  }
}

// Never replaced: a blockhash that is dead must be found out, not forgiven.
const simulationOptions = {
  encoding: 'base64',
  commitment: 'confirmed',
  sigVerify: false,
  replaceRecentBlockhash: false,
}

/** How a block is asked for: confirmed, and nothing of what is in it. */
export const blockOptions = {
  commitment: 'confirmed',
  transactionDetails: 'none',
  rewards: false,
  maxSupportedTransactionVersion: 0,
}

const invalidParams = -32_602

/** A transaction that no node can read. */
const isAboutTransaction = ({ code }: RpcRefusal): boolean => code === invalidParams

/** "Not available yet", "cleaned up", "skipped", "missing": what a node says that has no block in a slot. */
const isAboutBlock = ({ code }: RpcRefusal): boolean =>
  [-32_001, -32_004, -32_007, -32_009, -32_014].includes(code)
