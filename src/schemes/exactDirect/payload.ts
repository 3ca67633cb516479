import { type Fields, isFields } from '../../protocol/fields.js'
import type { Reason } from '../../protocol/reasons.js'
import type { DirectChain } from './directChain.js'

export interface DirectProof {
  /** Normal forms. */
  readonly transaction: string
  readonly from: string
  readonly to: string
  readonly claim: ProofClaim | null
}

export interface ProofClaim {
  readonly signature: string
  readonly publicKey: string | null
}

export type ProofReading =
  | { readonly proof: DirectProof }
  | { readonly reason: Reason; readonly message: string }

/** Clients name the hash as their chain does. */
const hashFields = ['txHash', 'opHash', 'extrinsicHash', 'txId'] as const

const maxTextLength = 256
const maxSignatureLength = 1_024

/** Reads the payload; `amount` must be there as a number, but only the chain's evidence counts. */
export const readDirectProof = (chain: DirectChain, proof: Fields): ProofReading => {
  const transaction = readHash(chain, proof)
  if (transaction === null) {
    return refuse(`payload: one of ${hashFields.join(', ')} must be a transaction hash of the network`)
  }
  if (typeof proof.from !== 'string') return refuse('payload.from: is required')
  const from = readAddress(chain, proof.from)
  if (from === null)
    return refuse('payload.from: must be an address of the network', 'invalid_sender_address')
  const to = readAddress(chain, proof.to)
  if (to === null) return refuse('payload.to: must be an address of the network')
  if (!isAmount(proof.amount)) return refuse('payload.amount: must be a whole number of smallest units')
  const claim = readClaim(proof.claim)
  if (claim === 'invalid') {
    return refuse('payload.claim: must be { signature, publicKey? } of texts', 'invalid_claim_signature')
  }
  return { proof: { transaction, from, to, claim } }
}

const refuse = (message: string, reason: Reason = 'invalid_payload_structure') => ({ reason, message })

/** Several fields must name one transaction. */
const readHash = (chain: DirectChain, proof: Fields): string | null => {
  const given = hashFields.map((field) => proof[field]).filter((hash) => hash !== undefined && hash !== null)
  const [first, ...others] = given.map((hash) =>
    typeof hash === 'string' && hash.length <= maxTextLength ? chain.readTransaction(hash) : null,
  )
  if (first === undefined || first === null) return null
  return others.every((other) => other === first) ? first : null
}

const readAddress = (chain: DirectChain, text: unknown): string | null =>
  typeof text === 'string' && text.length <= maxTextLength ? chain.readAddress(text) : null

const isAmount = (amount: unknown): boolean =>
  typeof amount === 'string'
    ? /^[0-9]{1,78}$/.test(amount)
    : typeof amount === 'number' && Number.isSafeInteger(amount) && amount >= 0

const readClaim = (claim: unknown): ProofClaim | 'invalid' | null => {
  if (claim === undefined || claim === null) return null
  if (!isFields(claim)) return 'invalid'
  const { signature, publicKey = null } = claim
  if (typeof signature !== 'string' || signature.length > maxSignatureLength) return 'invalid'
  if (publicKey === null) return { signature, publicKey: null }
  return typeof publicKey === 'string' && publicKey.length <= maxSignatureLength
    ? { signature, publicKey }
    : 'invalid'
}
