import { createHash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { sleep } from '../../src/concurrency/deadline.js'
import type { BlockReference } from '../../src/ports/settlementJournal.js'

/** A transfer in a block. */
export interface ToyTransfer {
  readonly transaction: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly block: BlockReference
}

/** An in-memory chain whose connection can be cut. One transfer per block. */
export interface ToyChain {
  /** Submits signed bytes; each known authorization is executed once. */
  send(bytes: string, signal: AbortSignal): Promise<void>
  find(transaction: string, signal: AbortSignal): Promise<ToyTransfer | null>
  isUsed(authorization: string, signal: AbortSignal): Promise<boolean>
  getHead(signal: AbortSignal): Promise<bigint>
  /** A payer signs one transfer up to this amount. */
  allow(authorization: string, atMost: bigint): void
  /** A transfer that the payer submits itself. */
  transfer(from: string, to: string, amount: bigint): ToyTransfer
  countReceived(to: string): bigint
  listSent(): readonly string[]
  /** Null: no fault. */
  setFault(fault: 'swallowSends' | 'loseSendAnswers' | 'silence' | null): void
}

const order = z.object({ authorization: z.string(), from: z.string(), to: z.string(), amount: z.string() })

/** Plain JSON. */
export const writeOrder = (fields: z.infer<typeof order>): { transaction: string; bytes: string } => {
  const bytes = JSON.stringify(fields)
  return { transaction: createHash('sha256').update(bytes).digest('hex'), bytes }
}

export const createToyChain = (): ToyChain => {
  const allowed = new Map<string, bigint>()
  const used = new Set<string>()
  const transfers = new Map<string, ToyTransfer>()
  const sent: string[] = []
  let fault: Parameters<ToyChain['setFault']>[0] = null

  /** Never responds. */
  const hang = async (signal: AbortSignal): Promise<never> => {
    await sleep(2 ** 31 - 1, signal)
    throw new Error('The chain did not answer')
  }
  const include = (fields: Omit<ToyTransfer, 'block'>): ToyTransfer => {
    const block = { number: BigInt(transfers.size + 1), hash: `hash-${transfers.size + 1}` }
    const included = { ...fields, block }
    transfers.set(fields.transaction, included)
    return included
  }
  const take = (bytes: string): void => {
    const { authorization, from, to, amount } = order.parse(JSON.parse(bytes))
    const atMost = allowed.get(authorization) ?? -1n
    if (used.has(authorization) || BigInt(amount) > atMost) return
    used.add(authorization)
    const { transaction } = writeOrder({ authorization, from, to, amount })
    include({ transaction, from, to, amount: BigInt(amount) })
  }

  return {
    send: async (bytes, signal) => {
      sent.push(bytes)
      if (fault === 'swallowSends' || fault === 'silence') await hang(signal)
      take(bytes)
      if (fault === 'loseSendAnswers') await hang(signal)
    },
    find: async (transaction, signal) =>
      fault === 'silence' ? await hang(signal) : (transfers.get(transaction) ?? null),
    isUsed: async (authorization, signal) =>
      fault === 'silence' ? await hang(signal) : used.has(authorization),
    getHead: async (signal) => (fault === 'silence' ? await hang(signal) : BigInt(transfers.size)),
    allow: (authorization, atMost) => void allowed.set(authorization, atMost),
    transfer: (from, to, amount) => {
      const transaction = createHash('sha256').update(randomUUID()).digest('hex')
      return include({ transaction, from, to, amount })
    },
    countReceived: (to) =>
      [...transfers.values()]
        .filter((transfer) => transfer.to === to)
        .reduce((sum, { amount }) => sum + amount, 0n),
    listSent: () => sent,
    setFault: (next) => {
      fault = next
    },
  }
}
