import { secp256k1 } from '@noble/curves/secp256k1'
import { sha256 } from '@noble/hashes/sha2'
import { AbciError, createBank, type Event, eventOf } from './bank.js'
import { merkleRoot } from './merkle.js'
import { encode } from './protobuf.js'
import {
  addressOf,
  type DecodedTransaction,
  decodeMessage,
  decodeTransaction,
  hashOf,
  signerOf,
} from './transaction.js'

interface Account {
  readonly number: number
  sequence: number
  publicKey: Uint8Array | null
}

export interface Block {
  readonly height: number
  /** Milliseconds. */
  readonly time: number
  readonly hash: string
  readonly dataHash: string
  readonly transactions: readonly Uint8Array[]
}

export interface Executed {
  readonly hash: string
  readonly bytes: Uint8Array
  readonly height: number
  readonly index: number
  readonly code: number
  readonly codespace: string
  readonly log: string
  readonly events: readonly Event[]
  /** Base64; empty for a failure. */
  readonly data: string
  readonly gasWanted: number
  readonly gasUsed: number
}

interface LedgerOptions {
  readonly chainId: string
  readonly prefix: string
  readonly now: () => number
}

export const gasPerTransaction = 60_000
const gasPerMessage = 9_000
export const minGasPrice = 0.1
export const feeDenom = 'uusdc'
const maxMemoLength = 256

export const toUpperHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase()

export const createLedger = ({ chainId, prefix, now }: LedgerOptions) => {
  const bank = createBank(prefix)
  const accounts = new Map<string, Account>()
  const blocks: Block[] = []
  const executed = new Map<string, Executed>()
  let pool: Uint8Array[] = []

  const openAccount = (address: string): Account => {
    const account = accounts.get(address) ?? { number: accounts.size, sequence: 0, publicKey: null }
    accounts.set(address, account)
    return account
  }
  const head = (): Block => {
    const block = blocks.at(-1)
    if (block === undefined) throw new Error('There is no block')
    return block
  }
  const addBlock = (transactions: readonly Uint8Array[]) => {
    const height = blocks.length + 1
    const time = Math.max(now(), (blocks.at(-1)?.time ?? 0) + 1)
    // Not the hash of the real header.
    const hash = toUpperHex(sha256(Buffer.from(`block ${height}`)))
    const dataHash = toUpperHex(merkleRoot(transactions.map((each) => sha256(each))))
    blocks.push({ height, time, hash, dataHash, transactions })
  }
  addBlock([])

  /** What is checked before execution; throws the reason for which the transaction is refused. */
  const admit = (bytes: Uint8Array, pending = 0) => {
    let transaction: DecodedTransaction
    try {
      transaction = decodeTransaction(bytes)
    } catch {
      throw new AbciError(2, 'tx parse error')
    }
    const { messages, memo, publicKey, sequence, signature, fee, gasLimit, digestFor } = transaction
    if (messages.length === 0) throw new AbciError(18, 'must contain at least one message: invalid request')
    if (memo.length > maxMemoLength) throw new AbciError(12, 'memo too large')
    const payer = addressOf(publicKey, prefix)
    const account = accounts.get(payer)
    if (account === undefined) throw new AbciError(9, `account ${payer} does not exist: unknown address`)
    const expected = account.sequence + pending
    if (sequence !== expected) {
      throw new AbciError(32, `account sequence mismatch, expected ${expected}, got ${sequence}`)
    }
    const digest = digestFor(chainId, account.number)
    if (!isSigned(signature, digest, publicKey)) {
      throw new AbciError(
        4,
        'signature verification failed; please verify account number and chain-id: unauthorized',
      )
    }
    const offered = fee.find(({ denom }) => denom === feeDenom)
    if (Number(offered?.amount ?? 0) < Math.ceil(gasLimit * minGasPrice)) {
      throw new AbciError(13, 'insufficient fees')
    }
    for (const message of messages) {
      if (signerOf(decodeMessage(message)) !== payer) {
        throw new AbciError(4, 'pubKey does not match signer address: invalid pubkey')
      }
    }
    return { ...transaction, payer, account }
  }

  const executeMessages = ({ messages, gasLimit }: DecodedTransaction) => {
    const restore = bank.snapshot()
    const gasUsed = gasPerTransaction + gasPerMessage * messages.length
    try {
      if (gasLimit < gasUsed) throw new AbciError(11, 'out of gas')
      const events = messages.flatMap((message, index) => [
        eventOf('message', { action: message.type_url }, index),
        ...bank.execute(message, index),
      ])
      const responses = messages.map(({ type_url }) => ({ type_url: `${type_url}Response` }))
      const data = Buffer.from(encode('TxMsgData', { msg_responses: responses })).toString('base64')
      return { code: 0, codespace: '', log: '', events, data, gasUsed }
    } catch (error) {
      if (!(error instanceof AbciError)) throw error
      restore()
      const { code, codespace, message: log } = error
      return { code, codespace, log: `failed to execute message: ${log}`, events: [], data: '', gasUsed }
    }
  }

  const execute = (bytes: Uint8Array, index: number): Executed => {
    const place = { hash: hashOf(bytes), bytes, height: head().height, index }
    try {
      const admitted = admit(bytes)
      const { account, payer, publicKey, fee, gasLimit } = admitted
      // Failed transactions pay their fee too, and its events stay.
      const feeEvents = bank.payFee(payer, fee)
      account.sequence += 1
      account.publicKey = publicKey
      const result = executeMessages(admitted)
      for (const { type_url, value } of admitted.messages) {
        const message = decodeMessage({ type_url, value })
        if (message.type === 'send') openAccount(message.to)
      }
      return { ...place, gasWanted: gasLimit, ...result, events: [...feeEvents, ...result.events] }
    } catch (error) {
      if (!(error instanceof AbciError)) throw error
      const { code, codespace, message: log } = error
      return { ...place, code, codespace, log, events: [], data: '', gasWanted: 0, gasUsed: 0 }
    }
  }

  const countPending = (bytes: Uint8Array): number => {
    const { publicKey } = decodeTransaction(bytes)
    return pool.filter((each) => toUpperHex(decodeTransaction(each).publicKey) === toUpperHex(publicKey))
      .length
  }

  return {
    chainId,
    prefix,
    bank,
    head,
    findBlock: (height: number): Block | null => blocks[height - 1] ?? null,
    findAccount: (address: string): Account | null => accounts.get(address) ?? null,
    findExecuted: (hash: string): Executed | null => executed.get(hash) ?? null,
    /** Adds or replaces a result, as a faulty node could. */
    fabricate: (result: Executed) => executed.set(result.hash, result),
    /** Adds a block around a transaction that was not executed, with the result of another one. */
    fabricateBlock: (bytes: Uint8Array, like: Executed) => {
      addBlock([bytes])
      const hash = hashOf(bytes)
      executed.set(hash, { ...like, bytes, hash, height: head().height, index: 0 })
    },
    fund: (address: string, denom: string, amount: bigint) => {
      openAccount(address)
      bank.add(address, denom, amount)
    },
    /** Throws `AbciError`. */
    submit: (bytes: Uint8Array): string => {
      const hash = hashOf(bytes)
      if (executed.has(hash) || pool.some((each) => hashOf(each) === hash)) {
        throw new Error('tx already exists in cache')
      }
      let pending = 0
      try {
        pending = countPending(bytes)
      } catch {
        // `admit` refuses malformed bytes.
      }
      admit(bytes, pending)
      pool.push(bytes)
      return hash
    },
    /** Adds blocks; the first takes what was submitted. */
    mine: (count = 1) => {
      for (let block = 0; block < count; block += 1) {
        const transactions = pool
        pool = []
        addBlock(transactions)
        for (const [index, bytes] of transactions.entries()) {
          const result = execute(bytes, index)
          executed.set(result.hash, result)
        }
      }
    },
  }
}

/** The chain refuses high-s signatures. */
const isSigned = (signature: Uint8Array, digest: Uint8Array, publicKey: Uint8Array): boolean => {
  try {
    return secp256k1.verify(signature, digest, publicKey, { lowS: true })
  } catch {
    return false
  }
}

export type Ledger = ReturnType<typeof createLedger>
