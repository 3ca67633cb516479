import {
  type Address,
  createPublicClient,
  type Hex,
  hexToBigInt,
  hexToNumber,
  isHex,
  numberToHex,
  type PublicClient,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from 'viem'
import { pollUntil } from '../pollUntil.js'
import { callRpc, createTransport } from './jsonRpc.js'

/** Sent without its sender's key. */
interface UnsignedTransaction {
  readonly from: Address
  readonly to?: Address
  readonly data?: Hex
  readonly value?: bigint
  readonly gas?: bigint
}

interface BlockHead {
  readonly number: bigint
  /** Unix seconds. */
  readonly timestamp: number
  readonly hash: Hex
}

/** Control of a local chain. */
export interface ChainControl {
  /** Mines blocks immediately, including pending transactions. */
  mine(blocks?: number): Promise<void>
  /** True: automining. False: nothing until `mine`. Ends interval mining. */
  setAutomine(enabled: boolean): Promise<void>
  /**
   * On an automining chain, waits until nothing is left to mine: a send returns before its block. Waits at
   * most one second for a transaction that is in no block.
   */
  waitForAutomine(): Promise<void>
  /** Mines a block at this interval in whole seconds. Ends automining. */
  setBlockTime(seconds: number): Promise<void>
  /** Sets the next block's time in Unix seconds; later blocks continue from there. */
  setNextBlockTimestamp(timestamp: number): Promise<void>
  /** Moves the chain's clock forward, effective with the next block. */
  increaseTime(seconds: number): Promise<void>
  getHead(): Promise<BlockHead>
  /** Snapshot id for `revert`; can be used once. */
  snapshot(): Promise<string>
  revert(snapshot: string): Promise<void>
  /**
   * Replaces at most the last 64 blocks with as many new ones. Their transactions are dropped; signed
   * transactions given here are mined in the first new block.
   */
  reorg(depth: number, transactions?: readonly Hex[]): Promise<void>
  /** Drops a pending transaction. */
  dropTransaction(hash: Hex): Promise<void>
  /** Drops all pending transactions. */
  dropAllTransactions(): Promise<void>
  setCode(address: Address, code: Hex): Promise<void>
  setBalance(address: Address, wei: bigint): Promise<void>
  setNonce(address: Address, nonce: number): Promise<void>
  setStorageAt(address: Address, slot: Hex, value: Hex): Promise<void>
  setNextBaseFee(wei: bigint): Promise<void>
  /** From any address, without its key; returns the hash immediately. */
  sendAs(transaction: UnsignedTransaction): Promise<Hex>
}

const readHex = (method: string, value: unknown): Hex => {
  if (!isHex(value)) throw new Error(`${method} did not return hex`)
  return value
}

const hasWaiting = async (url: string): Promise<boolean> => {
  const status = await callRpc(url, 'txpool_status')
  if (typeof status !== 'object' || status === null || !('pending' in status)) {
    throw new Error('txpool_status returned no pending count')
  }
  return status.pending !== '0x0'
}

export const createChainControl = (url: string): ChainControl => {
  const run = async (method: string, ...params: readonly unknown[]): Promise<void> => {
    await callRpc(url, method, params)
  }
  return {
    mine: (blocks = 1) => run('anvil_mine', numberToHex(blocks)),
    setAutomine: async (enabled) => {
      await run('evm_setIntervalMining', 0)
      await run('evm_setAutomine', enabled)
    },
    waitForAutomine: async () => {
      if ((await callRpc(url, 'anvil_getAutomine')) !== true) return
      await pollUntil(async () => !(await hasWaiting(url)), 'the chain to mine what waits')
    },
    setBlockTime: (seconds) => run('evm_setIntervalMining', seconds),
    setNextBlockTimestamp: (timestamp) => run('evm_setNextBlockTimestamp', timestamp),
    increaseTime: (seconds) => run('evm_increaseTime', seconds),
    getHead: async () => {
      const block = await callRpc(url, 'eth_getBlockByNumber', ['latest', false])
      if (typeof block !== 'object' || block === null) throw new Error('The chain has no latest block')
      const { number, timestamp, hash }: { number?: unknown; timestamp?: unknown; hash?: unknown } = block
      return {
        number: hexToBigInt(readHex('number', number)),
        timestamp: hexToNumber(readHex('timestamp', timestamp)),
        hash: readHex('hash', hash),
      }
    },
    snapshot: async () => String(await callRpc(url, 'evm_snapshot')),
    revert: async (snapshot) => {
      const isDone = await callRpc(url, 'evm_revert', [snapshot])
      if (isDone !== true) throw new Error(`There is no snapshot ${snapshot}`)
    },
    reorg: (depth, transactions = []) =>
      run(
        'anvil_reorg',
        depth,
        transactions.map((transaction) => [transaction, 0]),
      ),
    dropTransaction: async (hash) => {
      const dropped = await callRpc(url, 'anvil_dropTransaction', [hash])
      if (dropped === null) throw new Error(`${hash} is not pending`)
    },
    dropAllTransactions: () => run('anvil_dropAllTransactions'),
    setCode: (address, code) => run('anvil_setCode', address, code),
    setBalance: (address, wei) => run('anvil_setBalance', address, numberToHex(wei)),
    setNonce: (address, nonce) => run('anvil_setNonce', address, numberToHex(nonce)),
    setStorageAt: (address, slot, value) => run('anvil_setStorageAt', address, slot, value),
    setNextBaseFee: (wei) => run('anvil_setNextBlockBaseFeePerGas', numberToHex(wei)),
    sendAs: async ({ value, gas, ...rest }) => {
      const transaction = {
        ...rest,
        ...(value === undefined ? {} : { value: numberToHex(value) }),
        ...(gas === undefined ? {} : { gas: numberToHex(gas) }),
      }
      return readHex('hash', await callRpc(url, 'eth_sendUnsignedTransaction', [transaction]))
    },
  }
}

/**
 * Returns the receipt, also of a reverted transaction. It asks for the receipt alone: viem's
 * `waitForTransactionReceipt` asks again only after a new block, which an automining chain may never mine.
 */
export const waitForReceipt = (
  client: Pick<PublicClient, 'getTransactionReceipt' | 'request'>,
  hash: Hex,
): Promise<TransactionReceipt> =>
  pollUntil(
    () =>
      client.getTransactionReceipt({ hash }).catch((error: unknown) => {
        if (error instanceof TransactionReceiptNotFoundError) return null
        throw error
      }),
    `transaction ${hash} to be mined`,
    // What the node has of it, so that a wait that ends says whether it was lost or never mined.
    () => client.request({ method: 'eth_getTransactionByHash', params: [hash] }),
  )

/** Throws when the transaction reverted. */
export const waitUntilMined = async (url: string, hash: Hex): Promise<void> => {
  const { status } = await waitForReceipt(createPublicClient({ transport: createTransport(url) }), hash)
  if (status !== 'success') throw new Error(`Transaction ${hash} was reverted`)
}
