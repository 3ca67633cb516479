import type { Reason } from '../../protocol/reasons.js'

interface FixedReasons {
  readonly invalidSignature: Reason
  readonly expired: Reason
  readonly insufficientFunds: Reason
}

const eip3009: FixedReasons = {
  invalidSignature: 'invalid_exact_evm_payload_signature',
  expired: 'invalid_exact_evm_payload_authorization_valid_before',
  insufficientFunds: 'insufficient_funds',
}

const permit: FixedReasons = {
  invalidSignature: 'invalid_permit_signature',
  expired: 'permit_expired',
  insufficientFunds: 'insufficient_funds',
}

const byNamespace: Readonly<Record<string, FixedReasons>> = {
  solana: {
    invalidSignature: 'invalid_exact_svm_payload_signature_invalid',
    expired: 'settle_exact_svm_block_height_exceeded',
    insufficientFunds: 'insufficient_funds',
  },
  ton: {
    invalidSignature: 'message_verification_failed',
    expired: 'authorization_expired',
    insufficientFunds: 'insufficient_jetton_balance',
  },
  tron: {
    invalidSignature: 'invalid_exact_tron_signature',
    expired: 'authorization_expired',
    insufficientFunds: 'insufficient_balance',
  },
}

/** The reasons for which the family refuses such a payment. */
export const reasonsOf = (namespace: string, scheme: string): FixedReasons =>
  byNamespace[namespace] ?? (scheme === 'upto' ? permit : eip3009)
