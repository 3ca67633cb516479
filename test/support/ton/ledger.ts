import { type Address, beginCell, type Message, storeTransaction } from '@ton/core'
import { Blockchain, type BlockchainTransaction, EmulationError } from '@ton/sandbox'
import { sleep } from '../../../src/deadline.js'

/** A transaction as it stands in the ledger's own log. */
export interface LoggedTransaction {
  readonly transaction: BlockchainTransaction
  /** Base64, as toncenter names transactions. */
  readonly hash: string
  /** The transaction's bag of cells in base64. */
  readonly data: string
}

/** A message that the account it is for does not accept; says what a lite server says. */
export class NotAccepted extends Error {}

/** A real virtual machine with accounts, a clock that can be warped, and a log of every transaction. */
export interface Ledger {
  readonly chain: Blockchain
  /** Unix seconds on chain. */
  now(): number
  /** Moves the clock on; never back. */
  warp(seconds: number): void
  /** From a message's acceptance to its first transaction, and from one transaction to the next one it causes. */
  setDelays(delays: { readonly inclusionMs: number; readonly hopMs: number }): void
  /** From now on accepted messages are lost, or are not any more. */
  setDropping(isDropping: boolean): void
  /** Runs one piece of work alone, so that nobody sees a half-made state. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** Takes an external message and all that it causes; throws `NotAccepted`. */
  accept(message: Message): Promise<void>
  /** Newest first. */
  list(address: Address): readonly LoggedTransaction[]
  listAll(): readonly LoggedTransaction[]
  /** Waits until nothing is under way any more. */
  settle(): Promise<void>
}

/** Starts an empty ledger. */
export const createLedger = async (): Promise<Ledger> => {
  const chain = await Blockchain.create({ config: 'slim' })
  chain.verbosity = { print: false, blockchainLogs: false, vmLogs: 'none', debugLogs: false }
  // The sandbox's own list is reversed whenever it is read, and compares hashes by identity.
  const log: LoggedTransaction[] = []
  const byAccount = new Map<string, LoggedTransaction[]>()
  const underWay = new Set<Promise<void>>()
  let delays = { inclusionMs: 0, hopMs: 0 }
  let isDropping = false
  let aheadSeconds = 0
  let last: Promise<unknown> = Promise.resolve()

  const now = () => Math.floor(Date.now() / 1_000) + aheadSeconds

  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }

  const note = (transaction: BlockchainTransaction): void => {
    const cell = beginCell().store(storeTransaction(transaction)).endCell()
    const logged = {
      transaction,
      hash: cell.hash().toString('base64'),
      data: cell.toBoc().toString('base64'),
    }
    const key = `0:${transaction.address.toString(16).padStart(64, '0')}`
    log.push(logged)
    byAccount.set(key, [logged, ...(byAccount.get(key) ?? [])])
  }

  /** What a lite server does before it passes a message on: runs it on the present state. */
  const refuseUnaccepted = async (message: Message): Promise<void> => {
    if (message.info.type !== 'external-in') throw new NotAccepted('only external messages may be sent')
    const contract = await chain.getContract(message.info.dest)
    const before = contract.snapshot()
    try {
      await contract.receiveMessage(message, { now: now() })
    } catch (error) {
      throw new NotAccepted(describe(error))
    } finally {
      contract.loadFrom(before)
    }
  }

  const run = async (message: Message): Promise<void> => {
    if (delays.inclusionMs > 0) await sleep(delays.inclusionMs)
    const running = { allowParallel: true, now: now() }
    const steps = await chain.sendMessageIter(message, running)
    for (;;) {
      // Each step at its own time: an account that lived on meanwhile takes none from the past.
      const step = await alone(() => {
        running.now = now()
        return steps.next()
      }).catch(() => null)
      // Not accepted any more, because another message was quicker: then it simply never lands.
      if (step === null || step.done === true) return
      note(step.value)
      if (delays.hopMs > 0) await sleep(delays.hopMs)
    }
  }

  return {
    chain,
    now,
    warp: (seconds) => {
      aheadSeconds += seconds
    },
    setDelays: (changed) => {
      delays = changed
    },
    setDropping: (drops) => {
      isDropping = drops
    },
    alone,
    accept: async (message) => {
      await alone(() => refuseUnaccepted(message))
      if (isDropping) return
      const running = run(message)
      underWay.add(running)
      void running.finally(() => underWay.delete(running))
      if (delays.inclusionMs + delays.hopMs === 0) await running
    },
    list: (address) => byAccount.get(address.toRawString()) ?? [],
    listAll: () => log,
    settle: async () => {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

const describe = (error: unknown): string => {
  if (!(error instanceof EmulationError)) return String(error)
  return error.exitCode === undefined
    ? error.error
    : `inbound external message rejected by transaction: exitcode=${error.exitCode}, terminating vm`
}
