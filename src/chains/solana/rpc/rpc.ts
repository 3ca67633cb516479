import { z } from 'zod'
import { createFailureLog } from '../../../failureLog.js'
import type { Logger } from '../../../ports/logger.js'
import { type Endpoint, RpcError } from '../../nodes/endpoint.js'
import {
  type ChainIdentity,
  type EndpointHealth,
  type Proof,
  systemTime,
} from '../../nodes/endpointHealth.js'
import { broadcastToAll, createEndpointPool, type EndpointReport } from '../../nodes/endpointPool.js'
import { createReader } from '../../nodes/reader.js'
import { clockSysvar, recentBlockhashesSysvar, tokenAccountLength } from '../encoding/tokenAccounts.js'

/** `error` is the `err` of simulateTransaction; `accounts` are the watched accounts afterwards; `slot` is the state's. */
type Simulation =
  | { readonly succeeds: true; readonly accounts: readonly (Account | null)[]; readonly slot: number }
  | { readonly succeeds: false; readonly error: unknown }

interface StatusOptions {
  readonly endpoint?: Endpoint
  /** Search the whole ledger, which is expensive; otherwise only the status cache (about 300 slots). */
  readonly searchesHistory?: boolean
}

/**
 * JSON-RPC of one cluster. Reads from the healthiest endpoint and fails over. Every request has a deadline;
 * throws SVC-2004 when no endpoint responds.
 */
export interface Rpc {
  readonly endpoints: readonly Endpoint[]
  /**
   * At commitment `confirmed`, in the order of the addresses. Of the data only the base layout of a token account: any
   * account can be named, and accounts hold up to 10 MiB.
   */
  getAccounts(addresses: readonly string[]): Promise<readonly (Account | null)[]>
  /** Runs base64 bytes on confirmed state, with their own blockhash; signatures are not verified. */
  simulate(transaction: string, watched: readonly string[]): Promise<Simulation>
  /** The sysvar with the 150 newest blockhashes of a slot; null if the node does not provide it. */
  getRecentBlockhashes(): Promise<{ readonly slot: number; readonly data: Buffer } | null>
  getBalance(address: string): Promise<bigint>
  /** In the order of the transactions; null if the node does not know one. */
  getStatuses(transactions: readonly string[], asking?: StatusOptions): Promise<readonly (Status | null)[]>
  /** Reads a confirmed block; null if the slot has none. */
  getBlockhash(slot: number): Promise<string | null>
  /** Sends base64 bytes to every endpoint; true if at least one accepted them. */
  send(bytes: string): Promise<boolean>
  probe(): Promise<boolean>
  listHealth(): readonly EndpointReport[]
  /** Healthy endpoints, for cross-checks. */
  listWitnesses(): readonly Endpoint[]
}

const base64Data = z.tuple([z.string(), z.string()]).transform(([text]) => Buffer.from(text, 'base64'))

const accountShape = z.object({ lamports: z.number(), owner: z.string(), data: base64Data }).nullable()

export type Account = NonNullable<z.infer<typeof accountShape>>

export const inContext = <Shape extends z.ZodType>(value: Shape) =>
  z.object({ context: z.object({ slot: z.int() }), value })

const simulationShape = z.object({
  err: z.unknown(),
  accounts: z.array(accountShape).nullish(),
})

const statusShape = z
  .object({
    slot: z.int(),
    err: z.unknown(),
    confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullish(),
  })
  .nullable()

export const statusesShape = inContext(z.array(statusShape))

export type Status = NonNullable<z.infer<typeof statusShape>>

export const blockShape = z.object({ blockhash: z.string() }).nullable()

// Built once: zod compiles each shape that it is given.
const accountsShape = inContext(z.array(accountShape))
const simulationsShape = inContext(simulationShape)
const balanceShape = inContext(z.int())
const contextAccountShape = inContext(accountShape)

export const createRpc = (network: string, endpoints: readonly Endpoint[], logger: Logger): Rpc => {
  const time = systemTime
  const pool = createEndpointPool(endpoints, { identity: identifySolana(network), logger, time })
  const ask = createReader(pool, { network, logger, time })

  const refusals = createFailureLog({
    logger,
    event: 'rpc.send_refused',
    recovered: null,
    now: time.monotonicMs,
  })

  const sendTo = async ({ endpoint, name }: EndpointHealth, bytes: string): Promise<boolean> => {
    try {
      // Already simulated; preflight would also refuse a transaction that the node has processed.
      const options = { encoding: 'base64', skipPreflight: true, maxRetries: 0 }
      // The returned id is ignored: the id is our own signature.
      await endpoint.request('sendTransaction', [bytes, options], z.unknown())
      return true
    } catch (error) {
      const kind = error instanceof RpcError ? error.code : 'silent'
      refusals.failed(`${name} ${kind}`, { network, host: name, error })
      return false
    }
  }

  return {
    endpoints,
    getAccounts: async (addresses) => {
      const dataSlice = { offset: 0, length: tokenAccountLength }
      const params = [addresses, { encoding: 'base64', commitment: 'confirmed', dataSlice }]
      return (await ask('getMultipleAccounts', params, accountsShape)).value
    },
    getRecentBlockhashes: async () => {
      const params = [recentBlockhashesSysvar, { encoding: 'base64', commitment: 'confirmed' }]
      const { context, value } = await ask('getAccountInfo', params, contextAccountShape)
      return value === null ? null : { slot: context.slot, data: value.data }
    },
    simulate: async (transaction, watched) => {
      const params = [
        transaction,
        { ...simulationOptions, accounts: { encoding: 'base64', addresses: watched } },
      ]
      try {
        const asking = { isVerdict: isAboutTransaction }
        const { context, value } = await ask('simulateTransaction', params, simulationsShape, asking)
        return value.err === null || value.err === undefined
          ? { succeeds: true, accounts: value.accounts ?? [], slot: context.slot }
          : { succeeds: false, error: value.err }
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        return { succeeds: false, error: error.message }
      }
    },
    getBalance: async (address) => {
      const params = [address, { commitment: 'confirmed' }]
      return BigInt((await ask('getBalance', params, balanceShape)).value)
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
        if (error instanceof RpcError) return null
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

// `replaceRecentBlockhash` must be false: an expired blockhash must fail the simulation.
const simulationOptions = {
  encoding: 'base64',
  commitment: 'confirmed',
  sigVerify: false,
  replaceRecentBlockhash: false,
}

export const blockOptions = {
  commitment: 'confirmed',
  transactionDetails: 'none',
  rewards: false,
  maxSupportedTransactionVersion: 0,
}

const invalidParams = -32_602

const isAboutTransaction = ({ code }: RpcError): boolean => code === invalidParams

/** Block not available, cleaned up, skipped, or missing in long-term storage. */
const isAboutBlock = ({ code }: RpcError): boolean =>
  [-32_001, -32_004, -32_007, -32_009, -32_014].includes(code)

// A CAIP-2 reference is the first 32 characters of the genesis hash.
const referenceLength = 32

const identifySolana = (network: string): ChainIdentity => ({
  network,
  chain: network.slice(network.indexOf(':') + 1),
  prove,
})

const prove = async (endpoint: Endpoint): Promise<Proof> => {
  const [genesisHash, { slot, timestamp }] = await Promise.all([
    endpoint.request('getGenesisHash', [], z.string()),
    readClock(endpoint, 'confirmed'),
  ])
  return { chain: genesisHash.slice(0, referenceLength), head: { number: BigInt(slot), timestamp } }
}

interface NodeClock {
  readonly slot: number
  readonly timestamp: number
}

const timestampOffset = 32

export const readClock = async (
  endpoint: Endpoint,
  commitment: 'confirmed' | 'finalized',
): Promise<NodeClock> => {
  const params = [clockSysvar, { encoding: 'base64', commitment }]
  const { value } = await endpoint.request('getAccountInfo', params, contextAccountShape)
  if (value === null || value.data.length < timestampOffset + 8)
    throw new Error('The clock sysvar is missing or malformed')
  return {
    slot: Number(value.data.readBigUInt64LE(0)),
    timestamp: Number(value.data.readBigInt64LE(timestampOffset)),
  }
}
