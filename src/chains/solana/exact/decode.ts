import { createHash } from 'node:crypto'
import { VersionedTransaction } from '@solana/web3.js'

/** A decoded transaction; addresses and hashes in base58. */
export interface Transaction {
  /** Static account keys; the first is the fee payer. */
  readonly keys: readonly string[]
  /** The first accounts of `keys` must sign. */
  readonly requiredSignatures: number
  /** One per required signer; zeros where it is missing. */
  readonly signatures: readonly Uint8Array[]
  readonly message: Uint8Array
  /** SHA-256 of the message in hex: the authorization's identity, independent of signatures. */
  readonly messageHash: string
  readonly blockhash: string
  readonly instructions: readonly Instruction[]
  readonly usesLookupTables: boolean
}

export interface Instruction {
  readonly program: string
  readonly accounts: readonly string[]
  readonly data: Buffer
}

// Maximum transaction size (PACKET_DATA_SIZE).
const maxBytes = 1_232
const maxBase64Length = 1_644

/**
 * Decodes an untrusted base64 transaction; null if invalid. Only the canonical encoding is accepted, so that
 * two different texts cannot be the same payment.
 */
export const decodeTransaction = (text: string): Transaction | null => {
  if (text.length > maxBase64Length) return null
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text || bytes.length > maxBytes) return null
  try {
    const transaction = VersionedTransaction.deserialize(bytes)
    return bytes.equals(transaction.serialize()) ? describe(transaction) : null
  } catch {
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
    // Accounts from lookup tables stay unresolved; such a transaction is refused later.
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

export const encodeTransaction = (message: Uint8Array, signatures: readonly Uint8Array[]): string =>
  // The compact-u16 length takes one byte below 128 signatures.
  Buffer.concat([Buffer.from([signatures.length]), ...signatures, message]).toString('base64')
