import { type Address, beginCell, type Cell, type Transaction } from '@ton/core'
import { z } from 'zod'
import type { Logger } from '../../../ports/logger.js'
import { broadcastToAll } from '../../nodes/broadcastToAll.js'
import { type Endpoint, RpcRefusal } from '../../nodes/endpoint.js'
import { createEndpointPool, type EndpointReport } from '../../nodes/endpointPool.js'
import { createReader } from '../../nodes/reader.js'
import { systemTime } from '../../nodes/systemTime.js'
import type { TonNetworkSettings } from '../settings.js'
import { identifyTon } from './identity.js'
import { accountShape, getMethodShape, transactionShape } from './wireShapes.js'

/** An account as of a moment of the chain. */
export interface Account {
  readonly state: 'active' | 'uninitialized' | 'frozen'
  readonly balance: bigint
  readonly code: Cell | null
  readonly data: Cell | null
  /** Unix seconds, as the chain says: the state is at least this new. */
  readonly moment: number
  /** Where the account's list of transactions begins; null where there is none. */
  readonly newest: TransactionReference | null
}

/** A transaction of a known account. */
export interface TransactionReference {
  readonly lt: bigint
  readonly hash: string
}

/** A message as it leaves one contract for another. */
export interface Hop {
  readonly source: Address
  readonly destination: Address
  readonly createdLt: bigint
}

/** What a get method returns, entry by entry. */
export type StackEntry = Cell | bigint | null

/**
 * One network, by the API of toncenter. Everything that is asked has a deadline; when no node answers, an `AppError`
 * with the specification's SVC-2004 is thrown. An endpoint of another network is never used.
 */
export interface Toncenter {
  readAccount(address: Address): Promise<Account>
  /** Null where the contract has no such method, or there is no contract. */
  runGetMethod(
    address: Address,
    method: string,
    owners?: readonly Address[],
  ): Promise<readonly StackEntry[] | null>
  /** Transactions of an account, newest first, from one on. */
  listTransactions(
    address: Address,
    from: TransactionReference,
    limit: number,
  ): Promise<readonly ListedTransaction[]>
  /** The transaction that a message caused; null while the nodes cannot tell. */
  findResult(hop: Hop): Promise<Transaction | null>
  /** Hands a bag of cells in base64 to every endpoint. What becomes of it, only the chain tells. */
  send(boc: string): Promise<void>
  /** Asks every endpoint for chain and head; tells whether anybody is there. */
  probe(): Promise<boolean>
  listHealth(): readonly EndpointReport[]
}

/** A transaction, and its place in its account's list. */
export type ListedTransaction = z.infer<typeof transactionShape>

// How far a list is followed for what the index of messages does not find.
const resultPages = 5
const pageSize = 50

/** Asks a network through several endpoints. */
export const createToncenter = (
  settings: TonNetworkSettings,
  endpoints: readonly Endpoint[],
  logger: Logger,
): Toncenter => {
  const { network } = settings
  const time = systemTime
  const pool = createEndpointPool(endpoints, { identity: identifyTon(settings), logger, time })
  const ask = createReader(pool, { network, logger, time })

  const readAccount = async (address: Address): Promise<Account> => {
    const answer = await ask('getAddressInformation', { address: address.toRawString() }, accountShape)
    const { state, balance, code, data, sync_utime: moment, last_transaction_id: newest } = answer
    return { state, balance, code, data, moment, newest: newest.lt === 0n ? null : newest }
  }

  const listTransactions = (address: Address, { lt, hash }: TransactionReference, limit: number) => {
    const params = { address: address.toRawString(), limit, lt: lt.toString(), hash }
    return ask('getTransactions', params, z.array(transactionShape))
  }

  const locate = async (hop: Hop): Promise<Transaction | null> => {
    const { source, destination, createdLt } = hop
    const params = {
      source: source.toRawString(),
      destination: destination.toRawString(),
      created_lt: createdLt.toString(),
    }
    try {
      const located = await ask('tryLocateResultTx', params, transactionShape, { isVerdict: () => true })
      return isResultOf(located, hop) ? located : null
    } catch (error) {
      // It has not come there yet, or the index is behind.
      if (error instanceof RpcRefusal) return null
      throw error
    }
  }

  /** Looks for it in the list of the account that it went to. */
  const search = async (hop: Hop): Promise<Transaction | null> => {
    let { newest: from } = await readAccount(hop.destination)
    for (let page = 0; page < resultPages && from !== null && from.lt > hop.createdLt; page++) {
      const listed = await listTransactions(hop.destination, from, pageSize)
      const found = listed.find((transaction) => isResultOf(transaction, hop))
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
    findResult: async (hop) => (await locate(hop)) ?? (await search(hop)),
    send: async (boc) => {
      await broadcastToAll(
        pool,
        async ({ endpoint, name }) => {
          try {
            await endpoint.request('sendBoc', { boc }, z.unknown())
            return true
          } catch (error) {
            // Refused, lost or taken: the trace of the message decides, never this answer.
            logger.debug({ network, host: name, error }, 'rpc.send_timed_out')
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

/** The one before a transaction in its account's list; null for the first of all. */
export const findPrevious = (transaction: ListedTransaction): TransactionReference | null => {
  const { prevTransactionLt: lt, prevTransactionHash: hash } = transaction
  if (lt === 0n) return null
  return { lt, hash: Buffer.from(hash.toString(16).padStart(64, '0'), 'hex').toString('base64') }
}

/** By what its bytes say, whatever it was told for. */
const isResultOf = ({ inMessage }: Transaction, { source, destination, createdLt }: Hop): boolean =>
  inMessage?.info.type === 'internal' &&
  inMessage.info.src.equals(source) &&
  inMessage.info.dest.equals(destination) &&
  inMessage.info.createdLt === createdLt

const toBase64 = (address: Address): string =>
  beginCell().storeAddress(address).endCell().toBoc().toString('base64')
