import type { Payment } from '../../protocol/payment.js'
import type { Reason } from '../../protocol/reasons.js'
import type { DirectChain } from './directChain.js'
import type { DirectProof } from './payload.js'

/**
 * What the payer's key signs to bind a transaction to one purchase. Hashes are public: without a claim or a memo, a
 * stranger who sees one first can redeem it at the same recipient.
 */
export const claimText = (
  chain: DirectChain,
  { transaction, to }: DirectProof,
  { resource }: Payment,
): string =>
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
