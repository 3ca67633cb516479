import { readSentTransaction, type SentTransaction } from './sentTransaction.js'
import type { Slots } from './slots.js'
import { landsDespite, type TransactionError } from './transactionErrors.js'
import { type Execution, type StoredAccount, type VirtualMachine, walletHolding } from './virtualMachine.js'

/** How sure the cluster is of a block. */
export type Commitment = 'processed' | 'confirmed' | 'finalized'

/** A transaction that is in a block. */
export interface Landed {
  readonly transaction: SentTransaction
  readonly slot: bigint
  readonly error: TransactionError | null
  readonly execution: Execution
  /** Token accounts and lamports around the execution, in the order of the transaction's accounts. */
  readonly before: readonly (StoredAccount | null)[]
  readonly after: readonly (StoredAccount | null)[]
}

/** How the cluster takes transactions. */
export interface LedgerBehaviour {
  /** Slots between a send and its block. */
  landSlots: number
  /** Slots until a block is confirmed, and until it is final. */
  confirmSlots: number
  finalizeSlots: number
  /** Sends are accepted and forgotten, as under congestion. */
  dropsSends: boolean
}

/** The blocks of the chain: what was sent, what landed, and how sure that is. */
export interface Ledger {
  readonly behaviour: LedgerBehaviour
  send(bytes: Uint8Array): SentTransaction
  simulate(transaction: SentTransaction, checksSignatures: boolean): Execution
  /** Lands what is due. */
  advance(): void
  find(signature: string): Landed | null
  commitmentOf(slot: bigint): Commitment
  /** The newest slot of a commitment. */
  slotAt(commitment: Commitment): bigint
  /** Undoes all blocks from a slot on; what was in them may land again. */
  takeBack(from: bigint): void
}

/** Opens the ledger of a machine. */
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
    commitmentOf: (slot) => {
      if (slot <= slotAt('finalized')) return 'finalized'
      return slot <= slotAt('confirmed') ? 'confirmed' : 'processed'
    },
    takeBack: (from) => {
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
