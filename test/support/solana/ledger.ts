import { readSentTransaction, type SentTransaction } from './sentTransaction.js'
import type { Slots } from './slots.js'
import { landsDespite, type TransactionError } from './transactionErrors.js'
import { type Execution, type StoredAccount, type VirtualMachine, walletHolding } from './virtualMachine.js'

export type Commitment = 'processed' | 'confirmed' | 'finalized'

/** A transaction in a block. */
export interface Landed {
  readonly transaction: SentTransaction
  readonly slot: bigint
  readonly error: TransactionError | null
  readonly execution: Execution
  /** In the order of the transaction's accounts. */
  readonly before: readonly (StoredAccount | null)[]
  readonly after: readonly (StoredAccount | null)[]
}

export interface LedgerBehaviour {
  /** Slots from a send to its block. */
  landSlots: number
  /** Slots until a block is confirmed and finalized. */
  confirmSlots: number
  finalizeSlots: number
  /** Accepts sends and drops them, as under congestion. */
  dropsSends: boolean
}

export interface Ledger {
  readonly behaviour: LedgerBehaviour
  send(bytes: Uint8Array): SentTransaction
  simulate(transaction: SentTransaction, checksSignatures: boolean): Execution
  /** Executes transactions that are due. */
  advance(): void
  find(signature: string): Landed | null
  /** Whether a send waits for its block. */
  hasWaiting(): boolean
  commitmentOf(slot: bigint): Commitment
  slotAt(commitment: Commitment): bigint
  /** Orphans all blocks from a slot on; their transactions may land again. */
  orphanFrom(from: bigint): void
}

export const createLedger = (machine: VirtualMachine, slots: Slots, behaviour: LedgerBehaviour): Ledger => {
  const landed = new Map<string, Landed>()
  const messages = new Map<string, string>()
  let waiting: { readonly transaction: SentTransaction; readonly dueAt: bigint }[] = []

  const readAll = ({ keys }: SentTransaction) => keys.map((key) => machine.read(key))

  const land = (transaction: SentTransaction): void => {
    if (!slots.isFresh(transaction.blockhash) || messages.has(transaction.messageHash)) return
    const slot = slots.now()
    machine.setTime(slot, slots.timeAt(slot))
    const before = readAll(transaction)
    const execution = machine.execute(transaction)
    if (execution.error !== null && !landsDespite(execution.error)) return
    landed.set(transaction.signature, {
      transaction,
      slot,
      error: execution.error,
      execution,
      before,
      after: readAll(transaction),
    })
    messages.set(transaction.messageHash, transaction.signature)
  }

  const advance = () => {
    const now = slots.now()
    const due = waiting.filter(({ dueAt }) => dueAt <= now)
    waiting = waiting.filter(({ dueAt }) => dueAt > now)
    for (const { transaction } of due) land(transaction)
  }

  const depthOf: Readonly<Record<Commitment, () => number>> = {
    processed: () => 0,
    confirmed: () => behaviour.confirmSlots,
    finalized: () => behaviour.finalizeSlots,
  }
  const slotAt = (commitment: Commitment) => slots.now() - BigInt(depthOf[commitment]())

  return {
    behaviour,
    advance,
    slotAt,
    send: (bytes) => {
      const transaction = readSentTransaction(bytes)
      if (!behaviour.dropsSends) {
        waiting.push({ transaction, dueAt: slots.now() + BigInt(behaviour.landSlots) })
        advance()
      }
      return transaction
    },
    simulate: (transaction, checksSignatures) => {
      const refuse = (error: TransactionError): Execution => ({
        error,
        logs: [],
        computeUnits: 0n,
        accounts: new Map(),
      })
      if (!slots.isFresh(transaction.blockhash)) return refuse('BlockhashNotFound')
      if (messages.has(transaction.messageHash)) return refuse('AlreadyProcessed')
      machine.setTime(slots.now(), slots.timeAt(slots.now()))
      return machine.simulate(transaction, { checksSignatures })
    },
    find: (signature) => landed.get(signature) ?? null,
    hasWaiting: () => waiting.length > 0,
    commitmentOf: (slot) => {
      if (slot <= slotAt('finalized')) return 'finalized'
      return slot <= slotAt('confirmed') ? 'confirmed' : 'processed'
    },
    orphanFrom: (from) => {
      const undone = [...landed.values()].filter(({ slot }) => slot >= from).reverse()
      for (const { transaction, before } of undone) {
        for (const [index, key] of transaction.keys.entries()) {
          const earlier = before[index] ?? walletHolding(0n)
          if (!earlier.executable) machine.write(key, earlier)
        }
        landed.delete(transaction.signature)
        messages.delete(transaction.messageHash)
      }
      slots.fork(from)
    },
  }
}
