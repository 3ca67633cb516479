import { setTimeout as sleep } from 'node:timers/promises'
import { type Address, type Hex, hexToBigInt, hexToNumber, isHex, numberToHex } from 'viem'
import { callRpc } from './jsonRpc.js'

/** A transaction that is sent without its sender's key. */
export interface UnsignedTransaction {
  readonly from: Address
  readonly to?: Address
  readonly data?: Hex
  readonly value?: bigint
  readonly gas?: bigint
}

/** What a test needs to know of a block. */
export interface BlockHead {
  readonly number: bigint
  /** Unix seconds. */
  readonly timestamp: number
  readonly hash: Hex
}

/** The powers that a test has over a local chain. */
export interface ChainControl {
  /** Mines blocks now, with whatever waits in the pool. */
  mine(blocks?: number): Promise<void>
  /** Mines each transaction at once (true), or nothing until `mine` is called (false). Ends interval mining. */
  setAutomine(enabled: boolean): Promise<void>
  /**
   * Waits while a chain that mines at once has something left to mine: the answer to a send comes before the block.
   * A transaction that no block takes is waited for no longer than a second.
   */
  waitForAutomine(): Promise<void>
  /** Mines a block every so many seconds, a whole number. Ends automatic mining. */
  setBlockTime(seconds: number): Promise<void>
  /** Gives the next block this time, in Unix seconds; later blocks go on from there. */
  setNextBlockTimestamp(timestamp: number): Promise<void>
  /** Moves the chain's clock forward; seen by the next block. */
  increaseTime(seconds: number): Promise<void>
  getHead(): Promise<BlockHead>
  /** Remembers the whole state; the answer goes into `revert`, once. */
  snapshot(): Promise<string>
  revert(snapshot: string): Promise<void>
  /**
   * Replaces the last blocks, at most 64, by as many new ones. Their transactions are gone, not back in the
   * pool; signed transactions that are given here are mined in the first of the new blocks.
   */
  reorg(depth: number, transactions?: readonly Hex[]): Promise<void>
  /** Forgets a transaction that waits in the pool. */
  dropTransaction(hash: Hex): Promise<void>
  /** Forgets every transaction that waits in the pool. */
  dropAllTransactions(): Promise<void>
  setCode(address: Address, code: Hex): Promise<void>
  setBalance(address: Address, wei: bigint): Promise<void>
  setNonce(address: Address, nonce: number): Promise<void>
  setStorageAt(address: Address, slot: Hex, value: Hex): Promise<void>
  setNextBaseFee(wei: bigint): Promise<void>
  /** Sends a transaction as any address, without its key; returns the hash, at once. */
  sendAs(transaction: UnsignedTransaction): Promise<Hex>
}

const readHex = (method: string, value: unknown): Hex => {
  if (!isHex(value)) throw new Error(`${method} did not answer with hex`)
  return value
}

const hasWaiting = async (url: string): Promise<boolean> => {
  const status = await callRpc(url, 'txpool_status')
  if (typeof status !== 'object' || status === null || !('pending' in status)) {
    throw new Error('The chain does not tell what waits in its pool')
  }
  return status.pending !== '0x0'
}

/** Gives a test its powers over the anvil chain at the URL. */
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
      const deadline = Date.now() + 1_000
      while (Date.now() < deadline && (await hasWaiting(url))) await sleep(5)
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
      if (dropped === null) throw new Error(`${hash} does not wait in the pool`)
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

/** Waits until the transaction is mined and throws when it was reverted or takes longer than the deadline. */
export const waitUntilMined = async (url: string, hash: Hex, deadlineMs = 10_000): Promise<void> => {
  const deadline = Date.now() + deadlineMs
  for (;;) {
    const receipt = await callRpc(url, 'eth_getTransactionReceipt', [hash])
    if (typeof receipt === 'object' && receipt !== null) {
      if ('status' in receipt && receipt.status === '0x1') return
      throw new Error(`Transaction ${hash} was reverted`)
    }
    if (Date.now() > deadline) throw new Error(`Transaction ${hash} was not mined within ${deadlineMs} ms`)
    await sleep(5)
  }
}
