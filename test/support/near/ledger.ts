import { ed25519 } from '@noble/curves/ed25519'
import { sha256 } from '@noble/hashes/sha2'
import { base58 } from '@scure/base'
import { type DecodedTransaction, decodeSignedTransaction, decodeTyped } from './borsh.js'
import type { Contract } from './contracts.js'
import { executeReceipt, type Outcome, type Receipt, type Status } from './receipts.js'

interface AccessKey {
  nonce: bigint
  readonly permission: 'FullAccess' | object
}

export interface NearAccount {
  readonly contract: Contract | null
  readonly keys: Map<string, AccessKey>
}

export interface NearBlock {
  readonly height: number
  readonly hash: string
  /** Milliseconds. */
  readonly time: number
}

export interface Submitted {
  readonly transaction: DecodedTransaction
  /** Null before inclusion. */
  conversion: Outcome | null
  readonly outcomes: Outcome[]
  /** Receipts, refunds included, that were not executed yet. */
  open: number
  includedAt: number | null
  lastHeight: number
}

/** Levels of `final_execution_status`, ascending. */
export const executionLevels = [
  'NONE',
  'INCLUDED',
  'EXECUTED_OPTIMISTIC',
  'INCLUDED_FINAL',
  'EXECUTED',
  'FINAL',
] as const
export type ExecutionLevel = (typeof executionLevels)[number]

/** An `error` object of the node. */
export class NearError extends Error {
  readonly body: object
  constructor(name: string, data: unknown, kind = 'HANDLER_ERROR') {
    super(name)
    this.body = { name: kind, cause: { name, info: {} }, code: -32000, message: 'Server error', data }
  }
}

// Blocks that must follow before a block is final.
const finalityDepth = 2
const maxReferenceAge = 86_400

export const createLedger = (now: () => number) => {
  const accounts = new Map<string, NearAccount>()
  const submitted = new Map<string, Submitted>()
  const blocks: NearBlock[] = []
  let waiting: Submitted[] = []
  let queue: { readonly receipt: Receipt; readonly of: Submitted }[] = []
  let receiptCount = 0
  let isFinalityHeld = false
  let finalHeight = 0

  const addBlock = () => {
    const height = blocks.length
    const previous = blocks.at(-1)?.time ?? 0
    const hash = base58.encode(sha256(Buffer.from(`block ${height}`)))
    blocks.push({ height, hash, time: Math.max(now(), previous + 1) })
    if (!isFinalityHeld) finalHeight = Math.max(finalHeight, height - finalityDepth)
  }
  for (let count = 0; count <= finalityDepth; count += 1) addBlock()

  const blockAt = (height: number): NearBlock => {
    const block = blocks[height]
    if (block === undefined)
      throw new NearError('UNKNOWN_BLOCK', `DB Not Found Error: BLOCK HEIGHT: ${height}`)
    return block
  }
  const head = () => blockAt(blocks.length - 1)
  const final = () => blockAt(finalHeight)
  const nextReceiptId = () => {
    receiptCount += 1
    return base58.encode(sha256(Buffer.from(`receipt ${receiptCount}`)))
  }

  const include = (entry: Submitted) => {
    const { transaction } = entry
    const id = nextReceiptId()
    entry.includedAt = head().height
    entry.lastHeight = head().height
    entry.conversion = {
      id: transaction.hash,
      blockHash: head().hash,
      executor: transaction.signer,
      logs: [],
      receiptIds: [id],
      status: { SuccessReceiptId: id },
    }
    entry.open = 1
    const { signer, receiver, actions, delegateDigests } = transaction
    queue.push({
      receipt: { id, predecessor: signer, receiver, actions, signer, delegateDigests },
      of: entry,
    })
  }

  /** Adds blocks; each executes the receipts that the one before created. */
  const mine = (count = 1) => {
    for (let block = 0; block < count; block += 1) {
      addBlock()
      const receipts = queue
      const transactions = waiting
      queue = []
      waiting = []
      for (const { receipt, of } of receipts) {
        const height = head().height
        const { outcome, created } = executeReceipt(receipt, { accounts, height, nextReceiptId })
        of.outcomes.push({ ...outcome, blockHash: head().hash })
        of.open += created.length - 1
        of.lastHeight = height
        queue.push(...created.map((each) => ({ receipt: each, of })))
      }
      for (const entry of transactions) include(entry)
    }
  }

  const refuse = (error: unknown): never => {
    throw new NearError('INVALID_TRANSACTION', { TxExecutionError: { InvalidTxError: error } })
  }

  const submit = (base64: string): Submitted => {
    let transaction: DecodedTransaction
    try {
      transaction = decodeSignedTransaction(Uint8Array.from(Buffer.from(base64, 'base64')))
    } catch (error) {
      throw new NearError('PARSE_ERROR', `Failed parsing args: ${error}`, 'REQUEST_VALIDATION_ERROR')
    }
    const known = submitted.get(transaction.hash)
    if (known !== undefined) return known
    const { signer, publicKey, nonce, blockHash, digest, signature } = transaction
    const key = accounts.get(signer)?.keys.get(publicKey)
    if (!accounts.has(signer)) refuse({ SignerDoesNotExist: { signer_id: signer } })
    if (key === undefined)
      return refuse({ InvalidAccessKeyError: { AccessKeyNotFound: { account_id: signer } } })
    if (!ed25519.verify(signature, digest, decodeTyped(publicKey))) refuse('InvalidSignature')
    if (nonce <= key.nonce) refuse({ InvalidNonce: { tx_nonce: Number(nonce), ak_nonce: Number(key.nonce) } })
    const reference = blocks.find(({ hash }) => hash === blockHash)
    if (reference === undefined || head().height - reference.height > maxReferenceAge) refuse('Expired')
    key.nonce = nonce
    const entry: Submitted = {
      transaction,
      conversion: null,
      outcomes: [],
      open: 0,
      includedAt: null,
      lastHeight: 0,
    }
    submitted.set(transaction.hash, entry)
    waiting.push(entry)
    return entry
  }

  /** Status of the receipt that the transaction's result is waiting for. */
  const statusOf = ({ conversion, outcomes }: Submitted): object | string => {
    if (conversion === null) return 'NotStarted'
    const follow = (status: Status): object | string => {
      if (!('SuccessReceiptId' in status)) return status
      const next = outcomes.find(({ id }) => id === status.SuccessReceiptId)
      return next === undefined ? 'Started' : follow(next.status)
    }
    return follow(conversion.status)
  }

  const levelOf = (entry: Submitted): ExecutionLevel => {
    if (entry.includedAt === null) return 'NONE'
    const isIncludedFinal = entry.includedAt <= finalHeight
    if (entry.open === 0) {
      if (entry.lastHeight <= finalHeight) return 'FINAL'
      return isIncludedFinal ? 'EXECUTED' : 'EXECUTED_OPTIMISTIC'
    }
    if (isIncludedFinal) return 'INCLUDED_FINAL'
    return typeof statusOf(entry) === 'object' ? 'EXECUTED_OPTIMISTIC' : 'INCLUDED'
  }

  return {
    accounts,
    head,
    final,
    mine,
    submit,
    statusOf,
    levelOf,
    findSubmitted: (hash: string): Submitted | null => submitted.get(hash) ?? null,
    findBlock: (id: unknown): NearBlock | null =>
      blocks.find(({ hash, height }) => hash === id || height === id) ?? null,
    /** Blocks continue to be made, but none becomes final. */
    setFinalityHeld: (isHeld: boolean) => {
      isFinalityHeld = isHeld
      if (!isHeld) finalHeight = Math.max(finalHeight, head().height - finalityDepth)
    },
  }
}

export type Ledger = ReturnType<typeof createLedger>
