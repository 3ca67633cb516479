import { type Address, beginCell, type Message, storeTransaction } from '@ton/core'
import { Blockchain, type BlockchainTransaction, EmulationError } from '@ton/sandbox'
import { sleep } from '../../../src/concurrency/deadline.js'
import { createGate } from '../gate.js'

export interface LoggedTransaction {
  readonly transaction: BlockchainTransaction
  /** In base64, as in toncenter. */
  readonly hash: string
  /** Base64 bag of cells. */
  readonly data: string
}

/** The account does not accept the message; holds the lite server's error text. */
export class NotAccepted extends Error {}

/** TON's virtual machine with accounts, a clock that can be warped, and a transaction log. */
export interface Ledger {
  readonly chain: Blockchain
  /** Unix seconds. */
  now(): number
  warp(seconds: number): void
  /** `inclusionMs`: from acceptance to the first transaction; `hopMs`: between transactions of one trace. */
  setDelays(delays: { readonly inclusionMs: number; readonly hopMs: number }): void
  /**
   * Messages that are accepted from now on wait until `release`, before their first transaction or after it; null: later ones
   * do not wait.
   */
  hold(at: 'inclusion' | 'hop' | null): void
  release(): void
  /** Says whether a message was accepted and its trace has not ended. */
  isUnderWay(): boolean
  /** Whether accepted messages are lost. */
  setDropping(isDropping: boolean): void
  /** Runs work exclusively, so that no partial state is visible. */
  runExclusively<T>(work: () => Promise<T>): Promise<T>
  /** Processes an external message and its trace; throws `NotAccepted`. */
  accept(message: Message): Promise<void>
  /** Newest first. */
  list(address: Address): readonly LoggedTransaction[]
  listAll(): readonly LoggedTransaction[]
  /** Waits until no message is in flight; held ones must be released. */
  settle(): Promise<void>
}

export const createLedger = async (): Promise<Ledger> => {
  const chain = await Blockchain.create({ config: 'slim' })
  chain.verbosity = { print: false, blockchainLogs: false, vmLogs: 'none', debugLogs: false }
  // The sandbox's own list is reversed on each read, and compares hashes by identity.
  const log: LoggedTransaction[] = []
  const byAccount = new Map<string, LoggedTransaction[]>()
  const underWay = new Set<Promise<void>>()
  let delays = { inclusionMs: 0, hopMs: 0 }
  let holdsAt: 'inclusion' | 'hop' | null = null
  let released = createGate()
  let isDropping = false
  let aheadSeconds = 0
  let last: Promise<unknown> = Promise.resolve()

  const now = () => Math.floor(Date.now() / 1_000) + aheadSeconds

  const runExclusively = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }

  const addToLog = (transaction: BlockchainTransaction): void => {
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

  /** Like a lite server: emulates the message before forwarding it. */
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
    const [heldAt, { opened }] = [holdsAt, released]
    if (heldAt === 'inclusion') await opened
    if (delays.inclusionMs > 0) await sleep(delays.inclusionMs)
    const running = { allowParallel: true, now: now() }
    const steps = await chain.sendMessageIter(message, running)
    for (;;) {
      // At the current time: an account does not accept transactions from the past.
      const step = await runExclusively(() => {
        running.now = now()
        return steps.next()
      }).catch(() => null)
      // No longer accepted, because another message was faster.
      if (step === null || step.done === true) return
      addToLog(step.value)
      if (heldAt === 'hop') await opened
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
    hold: (at) => {
      holdsAt = at
    },
    release: () => {
      holdsAt = null
      released.open()
      released = createGate()
    },
    isUnderWay: () => underWay.size > 0,
    setDropping: (drops) => {
      isDropping = drops
    },
    runExclusively,
    accept: async (message) => {
      await runExclusively(() => refuseUnaccepted(message))
      if (isDropping) return
      const running = run(message)
      underWay.add(running)
      void running.finally(() => underWay.delete(running))
      if (delays.inclusionMs + delays.hopMs === 0 && holdsAt === null) await running
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
