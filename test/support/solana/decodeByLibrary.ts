import { createHash } from 'node:crypto'
import { VersionedTransaction } from '@solana/web3.js'
import type { Instruction, Transaction } from '../../../src/chains/solana/exact/decode.js'

// Maximum transaction size (PACKET_DATA_SIZE).
const maxBytes = 1_232
const maxBase64Length = 1_644

/** The same transaction as Solana's client library reads it, to compare with. */
export const decodeByLibrary = (text: string): Transaction | null => {
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
