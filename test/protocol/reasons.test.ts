import { describe, expect, it } from 'vitest'
import { describeReason, findOperationalCode, type Reason, reasons } from '../../src/protocol/reasons.js'
import { refusalFields } from '../../src/protocol/results.js'

/** The specification's table «Scheme-level reason codes for `exact`», row by row. */
const schemeLevel = [
  { code: 'invalid_payload_structure', meaning: 'Missing or malformed fields', says: /missing|form/ },
  { code: 'unsupported_scheme', meaning: 'Scheme is not `exact`', says: /scheme/ },
  {
    code: 'network_mismatch',
    meaning: 'Network differs from the requirements',
    says: /network.*requirements/,
  },
  {
    code: 'invalid_exact_evm_payload_signature',
    meaning: 'Signature verification failed',
    says: /signature/,
  },
  {
    code: 'invalid_exact_evm_payload_recipient_mismatch',
    meaning: '`to` differs from `payTo`',
    says: /payTo/,
  },
  {
    code: 'invalid_exact_evm_payload_authorization_valid_before',
    meaning: 'Authorization expired',
    says: /expired/,
  },
  {
    code: 'invalid_exact_evm_payload_authorization_valid_after',
    meaning: 'Authorization not yet valid',
    says: /not valid yet/,
  },
  { code: 'insufficient_funds', meaning: 'Token balance too low', says: /balance/ },
  {
    code: 'invalid_exact_evm_payload_authorization_value',
    meaning: 'Amount too low',
    says: /lower than the amount/,
  },
] as const

/** The specification's table «Operational codes», limited to codes that a refused payment can have. */
const operational = [
  {
    code: 'SVC-1006',
    meaning: 'Invalid signature (wrong signer, chain id mismatch, typed data mismatch)',
    reasons: [
      'invalid_permit2_signature',
      'invalid_permit_signature',
      'invalid_exact_evm_payload_signature',
      'invalid_exact_evm_token_name_mismatch',
      'invalid_exact_evm_token_version_mismatch',
      'invalid_exact_svm_payload_signature_invalid',
      'invalid_exact_tron_signature',
      'message_verification_failed',
      'invalid_claim_signature',
      'invalid_auth_capture_evm_signature',
      'invalid_auth_capture_evm_authorizer_signature',
      'invalid_auth_capture_evm_void_authorizer_signature',
      'invalid_batch_settlement_evm_receive_authorization_signature',
      'invalid_batch_settlement_evm_permit2_invalid_signature',
      'invalid_batch_settlement_evm_eip2612_invalid_signature',
      'invalid_batch_settlement_evm_voucher_signature',
      'invalid_batch_settlement_evm_claim_authorizer_signature',
      'invalid_batch_settlement_evm_refund_authorizer_signature',
    ],
  },
  {
    code: 'SVC-1011',
    meaning: 'Expired payment (`validBefore` passed)',
    reasons: [
      'invalid_exact_evm_payload_authorization_valid_before',
      'settle_exact_svm_block_height_exceeded',
      'authorization_expired_unsettled',
      'authorization_expired',
      'permit2_deadline_expired',
      'permit_expired',
      'eip2612_deadline_expired',
      'transaction_too_old',
      'invalid_auth_capture_evm_authorization_expired',
      'invalid_auth_capture_evm_capture_deadline_expired',
      'invalid_auth_capture_evm_refund_deadline_expired',
      'invalid_batch_settlement_evm_payload_authorization_valid_before',
      'invalid_batch_settlement_evm_permit2_deadline_expired',
      'invalid_batch_settlement_evm_eip2612_deadline_expired',
    ],
  },
  {
    code: 'SVC-3003',
    meaning: 'Insufficient balance',
    reasons: [
      'insufficient_funds',
      'insufficient_balance',
      'insufficient_energy',
      'insufficient_jetton_balance',
      'invalid_auth_capture_evm_insufficient_balance',
      'invalid_batch_settlement_evm_insufficient_balance',
    ],
  },
  {
    code: 'SVC-3002',
    meaning: 'Settlement failed (nonce already used, gas price spike, RPC issue)',
    reasons: [
      'invalid_exact_evm_nonce_already_used',
      'invalid_exact_evm_transaction_simulation_failed',
      'invalid_exact_evm_transaction_failed',
      'permit2_invalid_nonce',
      'permit2_simulation_failed',
      'permit_simulation_failed',
      'invalid_upto_evm_transaction_failed',
      'invalid_exact_svm_transaction_simulation_failed',
      'invalid_exact_svm_transaction_failed',
      'settlement_abandoned',
      'settlement_displaced',
      'transaction_already_on_chain',
      'invalid_exact_tron_transaction_simulation_failed',
      'seqno_already_used',
      'transaction_failed',
      'invalid_auth_capture_evm_payment_already_collected',
      'invalid_auth_capture_evm_simulation_failed',
      'invalid_auth_capture_evm_transaction_reverted',
      'invalid_batch_settlement_evm_deposit_simulation_failed',
      'invalid_batch_settlement_evm_deposit_transaction_failed',
      'invalid_batch_settlement_evm_deposit_already_used',
      'invalid_batch_settlement_evm_claim_simulation_failed',
      'invalid_batch_settlement_evm_claim_transaction_failed',
      'invalid_batch_settlement_evm_settle_simulation_failed',
      'invalid_batch_settlement_evm_settle_transaction_failed',
      'invalid_batch_settlement_evm_refund_simulation_failed',
      'invalid_batch_settlement_evm_refund_transaction_failed',
    ],
  },
] as const

const isReason = (name: string): name is Reason => Object.hasOwn(reasons, name)
const all = Object.keys(reasons).filter(isReason)

describe('the reasons', () => {
  it('start with the nine of the specification, in its order', () => {
    expect(all.slice(0, schemeLevel.length)).toEqual(schemeLevel.map(({ code }) => code))
  })

  it.each(schemeLevel)('$code says: $meaning', ({ code, says }) => {
    expect(describeReason(code)).toMatch(says)
  })

  it.each(operational)('$code ($meaning) is the code of exactly its reasons', ({ code, reasons }) => {
    expect(all.filter((reason) => findOperationalCode(reason) === code).sort()).toEqual([...reasons].sort())
  })

  it('have only operational codes of the specification', () => {
    const known: readonly (string | null)[] = [null, ...operational.map(({ code }) => code)]
    expect(all.filter((reason) => !known.includes(findOperationalCode(reason)))).toEqual([])
  })

  it.each(all)('%s is an identifier with a unique message', (reason) => {
    expect(reason).toMatch(/^[a-z0-9]+(_[a-z0-9]+)*$/)
    expect(describeReason(reason)).toMatch(/^(The|This|There|What|extra\.).{10,}[^.]$/)
    expect(all.filter((other) => describeReason(other) === describeReason(reason))).toEqual([reason])
  })
})

describe('refusalFields', () => {
  it('returns the message of the reason and its operational code', () => {
    expect(refusalFields('insufficient_funds')).toEqual({
      reason: 'insufficient_funds',
      message: "The payer's token balance is lower than the payment",
      operationalCode: 'SVC-3003',
      retryable: true,
    })
  })

  it('prefers the given message, and omits a missing operational code', () => {
    expect(refusalFields('network_mismatch', 'more')).toEqual({
      reason: 'network_mismatch',
      message: 'more',
      retryable: false,
    })
  })
})
