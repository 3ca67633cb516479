import { createHash } from 'node:crypto'
import { VersionedTransaction } from '@solana/web3.js'

/** A transaction as its bytes tell it; addresses and hashes in base58. */
export interface Transaction {
  /** Every account that the message names itself; the first one pays the fee. */
  readonly keys: readonly string[]
  /** How many of the first accounts must sign. */
  readonly requiredSignatures: number
  /** One for each account that must sign; zeros where nobody has yet. */
  readonly signatures: readonly Uint8Array[]
  /** What is signed. */
  readonly message: Uint8Array
  /** SHA-256 of the message, in hex: the identity of what was signed, whatever the signatures are. */
  readonly messageHash: string
  readonly blockhash: string
  readonly instructions: readonly Instruction[]
  /** Accounts that the message names only through tables on chain. */
  readonly usesLookupTables: boolean
}

/** One instruction with its accounts by name. */
export interface Instruction {
  readonly program: string
  readonly accounts: readonly string[]
  readonly data: Buffer
}

// What a packet of the network holds.
const maxBytes = 1_232
const maxBase64Length = 1_644

/**
 * Reads an untrusted transaction in base64, or null. One transaction has one spelling: whatever is not the encoding
 * that reading and writing it again gives is refused, so that no two texts are the same payment in disguise.
 */
export const readTransaction = (text: string): Transaction | null => {
  if (text.length > maxBase64Length) return null
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text || bytes.length > maxBytes) return null
  try {
    const transaction = VersionedTransaction.deserialize(bytes)
    return bytes.equals(transaction.serialize()) ? describe(transaction) : null
  } catch {
    // The library throws errors of many kinds at bytes that are no transaction.
    return null
  }
}

const describe = ({ message, signatures }: VersionedTransaction): Transaction | null => {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = message.header
  const keys = message.staticAccountKeys.map((key) => key.toBase58())
  const isSane =
    signatures.length === numRequiredSignatures &&
    numReadonlySignedAccounts < numRequiredSignatures &&
    numRequiredSignatures + numReadonlyUnsignedAccounts <= keys.length &&
    new Set(keys).size === keys.length
  if (!isSane) return null
  const usesLookupTables = message.addressTableLookups.length > 0
  const instructions: Instruction[] = []
  for (const { programIdIndex, accountKeyIndexes, data } of message.compiledInstructions) {
    const program = keys[programIdIndex]
    const accounts = accountKeyIndexes.map((index) => keys[index])
    if (program === undefined || programIdIndex === 0) return null
    // What a table would name stays nameless: such a transaction is refused anyway.
    if (!usesLookupTables && accounts.includes(undefined)) return null
    instructions.push({
      program,
      accounts: accounts.map((account) => account ?? ''),
      data: Buffer.from(data),
    })
  }
  const signed = message.serialize()
  return {
    keys,
    requiredSignatures: numRequiredSignatures,
    signatures,
    message: signed,
    messageHash: createHash('sha256').update(signed).digest('hex'),
    blockhash: message.recentBlockhash,
    instructions,
    usesLookupTables,
  }
}

/** The bytes of a transaction with these signatures, in base64. */
export const writeTransaction = (message: Uint8Array, signatures: readonly Uint8Array[]): string =>
  // Fewer than 128 signatures: their number takes one byte.
  Buffer.concat([Buffer.from([signatures.length]), ...signatures, message]).toString('base64')
