import { type Fields, isFields } from '../../protocol/fields.js'
import type { Payment } from '../../protocol/payment.js'
import type { Reason } from '../../protocol/reasons.js'
import type { DirectChain } from './directChain.js'

export interface DirectProof {
  /** Normal forms. */
  readonly transaction: string
  readonly from: string
  readonly to: string
  readonly claim: ProofClaim | null
}

interface ProofClaim {
  readonly signature: string
  readonly publicKey: string | null
}

type ProofReading = { readonly proof: DirectProof } | { readonly reason: Reason; readonly message: string }

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

/**
 * What the payer's key signs to bind a transaction to one purchase. Hashes are public: without a claim or a memo, a
 * stranger who sees one first can redeem it at the same recipient.
 */
const claimText = (chain: DirectChain, { transaction, to }: DirectProof, { resource }: Payment): string =>
  [
    'exact-direct claim',
    `network: ${chain.network}`,
    `transaction: ${transaction}`,
    `payTo: ${to}`,
    `resource: ${resource ?? ''}`,
  ].join('\n')

interface ClaimedPurchase {
  readonly payment: Payment
  /** By the recipient's statement, whatever the requirements say. */
  readonly isRequired: boolean
}

const findDemand = ({ payment, isRequired }: ClaimedPurchase): string | null => {
  if (isRequired) return 'what the recipient has stated'
  return payment.requirements.extra.requireSignedClaim === true ? 'extra.requireSignedClaim' : null
}

/** A claim that is present must be right, whether required or not. Throws only if the chain is unavailable. */
export const findClaimProblem = async (
  chain: DirectChain,
  proof: DirectProof,
  purchase: ClaimedPurchase,
): Promise<{ readonly reason: Reason; readonly message?: string } | null> => {
  const { claim } = proof
  const { payment } = purchase
  if (claim === null) {
    const demand = findDemand(purchase)
    return demand === null
      ? null
      : { reason: 'invalid_claim_signature', message: `payload.claim is required by ${demand}` }
  }
  const isSigned = await chain.isSignedBy?.({
    account: proof.from,
    text: claimText(chain, proof, payment),
    ...claim,
  })
  return isSigned === true ? null : { reason: 'invalid_claim_signature' }
}
