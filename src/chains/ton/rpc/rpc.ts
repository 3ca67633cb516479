import { type Address, beginCell, type Cell, type Transaction } from '@ton/core'
import { z } from 'zod'
import type { Logger } from '../../../ports/logger.js'
import { type Endpoint, RpcError } from '../../nodes/endpoint.js'
import { type ChainIdentity, systemTime } from '../../nodes/endpointHealth.js'
import { broadcastToAll, createEndpointPool, type EndpointReport } from '../../nodes/endpointPool.js'
import { createReader } from '../../nodes/reader.js'
import type { TonNetworkSettings } from '../settings.js'
import {
  accountShape,
  getMethodShape,
  masterchainShape,
  momentShape,
  transactionShape,
  transactionsShape,
} from './wireShapes.js'

export interface Account {
  readonly state: 'active' | 'uninitialized' | 'frozen'
  readonly balance: bigint
  readonly code: Cell | null
  readonly data: Cell | null
  /** Unix seconds (`sync_utime`): the state is at least this new. */
  readonly timestamp: number
  readonly newest: TransactionReference | null
}

export interface TransactionReference {
  readonly lt: bigint
  readonly hash: string
}

interface MessageReference {
  readonly source: Address
  readonly destination: Address
  readonly createdLt: bigint
}

export type StackEntry = Cell | bigint | null

/**
 * toncenter API v2 of one network. Every request has a deadline; throws SVC-2004 when no endpoint responds.
 * An endpoint of another network is never used.
 */
export interface Rpc {
  readAccount(address: Address): Promise<Account>
  /** The first entry of the stack, if any. Null if the contract or the method does not exist. */
  runGetMethod(
    address: Address,
    method: string,
    owners?: readonly Address[],
  ): Promise<readonly StackEntry[] | null>
  /** Newest first, starting at `from`. */
  listTransactions(
    address: Address,
    from: TransactionReference,
    limit: number,
  ): Promise<readonly ListedTransaction[]>
  /** The transaction caused by a message; null if not found yet. */
  findResultTransaction(message: MessageReference): Promise<Transaction | null>
  /** Sends a base64 bag of cells to every endpoint. Errors are ignored: only the chain proves the result. */
  send(boc: string): Promise<void>
  probe(): Promise<boolean>
  listHealth(): readonly EndpointReport[]
}

export type ListedTransaction = z.infer<typeof transactionShape>

const maxResultPages = 5
const pageSize = 50

export const createRpc = (
  settings: TonNetworkSettings,
  endpoints: readonly Endpoint[],
  logger: Logger,
): Rpc => {
  const { network } = settings
  const time = systemTime
  const pool = createEndpointPool(endpoints, { identity: identifyTon(settings), logger, time })
  const ask = createReader(pool, { network, logger, time })

  const readAccount = async (address: Address): Promise<Account> => {
    const answer = await ask('getAddressInformation', { address: address.toRawString() }, accountShape)
    const { state, balance, code, data, sync_utime: timestamp, last_transaction_id: newest } = answer
    return { state, balance, code, data, timestamp, newest: newest.lt === 0n ? null : newest }
  }

  const listTransactions = (address: Address, { lt, hash }: TransactionReference, limit: number) => {
    const params = { address: address.toRawString(), limit, lt: lt.toString(), hash }
    return ask('getTransactions', params, transactionsShape)
  }

  const findByIndex = async (message: MessageReference): Promise<Transaction | null> => {
    const { source, destination, createdLt } = message
    const params = {
      source: source.toRawString(),
      destination: destination.toRawString(),
      created_lt: createdLt.toString(),
    }
    try {
      const transaction = await ask('tryLocateResultTx', params, transactionShape, { isVerdict: () => true })
      return isResultOf(transaction, message) ? transaction : null
    } catch (error) {
      // Not included yet, or the index is behind.
      if (error instanceof RpcError) return null
      throw error
    }
  }

  const findByScan = async (message: MessageReference): Promise<Transaction | null> => {
    let { newest: from } = await readAccount(message.destination)
    for (let page = 0; page < maxResultPages && from !== null && from.lt > message.createdLt; page++) {
      const listed = await listTransactions(message.destination, from, pageSize)
      const found = listed.find((transaction) => isResultOf(transaction, message))
      if (found !== undefined) return found
      const last = listed.at(-1)
      from = last === undefined ? null : findPrevious(last)
    }
    return null
  }

  return {
    readAccount,
    listTransactions,
    runGetMethod: async (address, method, owners = []) => {
      const stack = owners.map((owner) => ['tvm.Slice', toBase64(owner)])
      const params = { address: address.toRawString(), method, stack }
      const answer = await ask('runGetMethod', params, getMethodShape)
      return answer.exit_code === 0 ? answer.stack : null
    },
    findResultTransaction: async (message) => (await findByIndex(message)) ?? (await findByScan(message)),
    send: async (boc) => {
      await broadcastToAll(
        pool,
        async ({ endpoint, name }) => {
          try {
            await endpoint.request('sendBoc', { boc }, z.unknown())
            return true
          } catch (error) {
            // Refused, lost or accepted: the chain decides, not this response.
            logger.debug({ network, host: name, error }, 'rpc.send_failed')
            return false
          }
        },
        (isDelivered) => isDelivered,
      )
    },
    probe: pool.probe,
    listHealth: pool.report,
  }
}

/** The preceding transaction of the account; null for its first. */
export const findPrevious = (transaction: ListedTransaction): TransactionReference | null => {
  const { prevTransactionLt: lt, prevTransactionHash: hash } = transaction
  if (lt === 0n) return null
  return { lt, hash: Buffer.from(hash.toString(16).padStart(64, '0'), 'hex').toString('base64') }
}

/** Checked against the transaction's own message, not trusted from the response. */
const isResultOf = (
  { inMessage }: Transaction,
  { source, destination, createdLt }: MessageReference,
): boolean =>
  inMessage?.info.type === 'internal' &&
  inMessage.info.src.equals(source) &&
  inMessage.info.dest.equals(destination) &&
  inMessage.info.createdLt === createdLt

const toBase64 = (address: Address): string =>
  beginCell().storeAddress(address).endCell().toBoc().toString('base64')

// An account without state: its response still carries the sync time.
const zeroAddress = `0:${'0'.repeat(64)}`

const identifyTon = ({
  network,
  zeroState,
}: Pick<TonNetworkSettings, 'network' | 'zeroState'>): ChainIdentity => ({
  network,
  chain: zeroState,
  prove: async (endpoint: Endpoint) => {
    const [{ last, init }, { sync_utime: timestamp }] = await Promise.all([
      endpoint.request('getMasterchainInfo', {}, masterchainShape),
      endpoint.request('getAddressInformation', { address: zeroAddress }, momentShape),
    ])
    return { chain: init.root_hash, head: { number: BigInt(last.seqno), timestamp } }
  },
})
