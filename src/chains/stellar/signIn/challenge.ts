import { createHash } from 'node:crypto'
import { Networks, StrKey, Transaction, TransactionBuilder } from '@stellar/stellar-base'
import type { SignedStatement } from '../../../ports/walletSignatures.js'
import { isValidEd25519Signature } from '../../common/ed25519.js'

// CAIP-28 names the networks.
const passphrases: Readonly<Record<string, string>> = {
  'stellar:pubnet': Networks.PUBLIC,
  'stellar:testnet': Networks.TESTNET,
}

// Base64 of at most 6 kB, far more than a challenge takes.
const maxEnvelopeLength = 8_192
const maxOperations = 20

/** Name of the operation that holds the SHA-256 of the message text. */
const messageOperation = 'siwx'

type Challenge = Pick<
  SignedStatement,
  'network' | 'address' | 'domain' | 'nonce' | 'messages' | 'signature' | 'at'
>

/**
 * SEP-10: a transaction that can never be submitted (sequence number 0), whose first operation names domain, nonce and
 * the client's account. The message's own times are signed by its hash, and judged with it.
 */
export const isSignedChallenge = (challenge: Challenge): boolean => {
  const transaction = readEnvelope(challenge)
  if (transaction === null) return false
  const { sequence, memo, timeBounds, operations } = transaction
  if (sequence !== '0' || memo.type !== 'none' || operations.length > maxOperations) return false
  if (timeBounds === undefined || !isWithin(timeBounds, challenge.at)) return false
  return isBoundToMessage(operations, challenge) && isSignedByAccount(transaction, challenge.address)
}

// The clock of the challenge's author may be ahead.
const toleranceSeconds = 60

/** A maximum of 0 stands for none. */
const isWithin = ({ minTime, maxTime }: { minTime: string; maxTime: string }, at: Date): boolean => {
  const seconds = Math.floor(at.getTime() / 1_000)
  return Number(minTime) <= seconds + toleranceSeconds && seconds < Number(maxTime)
}

const readEnvelope = ({ network, signature }: Challenge): Transaction | null => {
  const passphrase = passphrases[network]
  if (passphrase === undefined || signature.length > maxEnvelopeLength) return null
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(signature)) return null
  try {
    const transaction = TransactionBuilder.fromXDR(signature, passphrase)
    return transaction instanceof Transaction ? transaction : null
  } catch {
    return null
  }
}

const isBoundToMessage = (
  operations: Transaction['operations'],
  { address, domain, nonce, messages }: Challenge,
): boolean => {
  const entries = operations.flatMap((each) => (each.type === 'manageData' ? [each] : []))
  // Anything else would not be a challenge.
  if (entries.length !== operations.length) return false
  const [first] = entries
  if (first?.source !== address || first.name !== `${domain} auth`) return false
  if (first.value?.toString('utf8') !== nonce) return false
  const bound = entries.find(({ name }) => name === messageOperation)?.value
  return messages.some(
    (message) => bound !== undefined && createHash('sha256').update(message).digest().equals(bound),
  )
}

const isSignedByAccount = (transaction: Transaction, address: string): boolean => {
  const publicKey = StrKey.decodeEd25519PublicKey(address)
  const message = transaction.hash()
  return transaction.signatures.some((each) =>
    isValidEd25519Signature({ publicKey, message, signature: each.signature() }),
  )
}
