import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { VersionedTransaction } from '@solana/web3.js'
import { computeBudgetProgram } from './programs.js'

export interface SentTransaction {
  readonly bytes: Uint8Array
  readonly isLegacy: boolean
  /** In base58: the transaction id. */
  readonly signature: string
  readonly messageHash: string
  readonly signatures: readonly string[]
  readonly keys: readonly string[]
  readonly blockhash: string
  /** In lamports. */
  readonly fee: bigint
}

const lamportsPerSignature = 5_000n

/** Throws for malformed bytes. */
export const readSentTransaction = (bytes: Uint8Array): SentTransaction => {
  const transaction = VersionedTransaction.deserialize(bytes)
  const { message, signatures } = transaction
  const [first] = signatures
  if (first === undefined) throw new Error('There is no signature')
  return {
    bytes,
    isLegacy: message.version === 'legacy',
    signature: base58.encode(first),
    messageHash: createHash('sha256').update(message.serialize()).digest('hex'),
    signatures: signatures.map((each) => base58.encode(each)),
    keys: message.staticAccountKeys.map((key) => key.toBase58()),
    blockhash: message.recentBlockhash,
    fee: countFee(transaction),
  }
}

const countFee = ({ message }: VersionedTransaction): bigint => {
  let limit = 200_000n
  let price = 0n
  for (const { programIdIndex, data } of message.compiledInstructions) {
    if (message.staticAccountKeys[programIdIndex]?.toBase58() !== computeBudgetProgram) continue
    const bytes = Buffer.from(data)
    if (bytes[0] === 2) limit = BigInt(bytes.readUInt32LE(1))
    if (bytes[0] === 3) price = bytes.readBigUInt64LE(1)
  }
  const signatures = BigInt(message.header.numRequiredSignatures)
  return signatures * lamportsPerSignature + (limit * price + 999_999n) / 1_000_000n
}
