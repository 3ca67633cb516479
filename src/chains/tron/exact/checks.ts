import type { PaymentRequirements } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import { readAddress, type TronAddress } from '../encoding/address.js'
import { type ExactProof, findDifference } from './payload.js'
import { recoverSigner } from './signature.js'

/** A readable proof beside what it must satisfy. */
export interface Candidate extends ExactProof {
  readonly requirements: PaymentRequirements
  /** Whether a token is settled on this network. */
  readonly isOffered: (contract: TronAddress) => boolean
  /** In sun. */
  readonly maxFeeLimit: bigint
  readonly nowMs: number
  /** How long, beyond now, the transaction must still live. */
  readonly marginMs: number
}

/** Why a payment is refused, where there is more to say than the reason's own sentence. */
export interface Refusal {
  readonly reason: Reason
  readonly message?: string
}

/** One rule that needs no chain: null when it holds. */
type Check = (candidate: Candidate) => Refusal | null

const refuse = (isBroken: boolean, reason: Reason): Refusal | null => (isBroken ? { reason } : null)

// Blocks and clocks of wallets differ by so much.
const clockSlackMs = 5_000

const saysWhatItSigned: Check = (candidate) => {
  const field = findDifference(candidate)
  if (field === null) return null
  return {
    reason: 'transaction_verification_failed',
    message: `payload.authorization.${field}: the signed transaction says something else`,
  }
}

const paysOfferedAsset: Check = ({ requirements, isOffered }) => {
  const asset = readAddress(requirements.asset)
  return refuse(asset === null || !isOffered(asset), 'unsupported_asset')
}

const paysAsset: Check = ({ transfer, requirements }) =>
  refuse(transfer.contract !== readAddress(requirements.asset), 'asset_mismatch')

const paysRecipient: Check = ({ transfer, requirements }) =>
  refuse(transfer.to !== readAddress(requirements.payTo), 'recipient_mismatch')

const paysSomeoneElse: Check = ({ transfer }) => refuse(transfer.owner === transfer.to, 'self_payment')

const coversAmount: Check = ({ transfer, requirements }) =>
  refuse(transfer.value === 0n || transfer.value < requirements.amount, 'insufficient_amount')

/** The one rule that time alone comes to break. */
export const hasNotExpired = ({
  transfer,
  nowMs,
  marginMs,
}: Pick<Candidate, 'transfer' | 'nowMs' | 'marginMs'>): Refusal | null =>
  refuse(transfer.expiration <= nowMs + marginMs, 'authorization_expired')

// Until it expires nobody can say that it will not be paid.
const expiresInTime: Check = ({ transfer, requirements, nowMs }) =>
  refuse(
    transfer.expiration > nowMs + requirements.maxTimeoutSeconds * 1_000 + clockSlackMs,
    'authorization_expires_too_late',
  )

const boundsItsFee: Check = ({ transfer, maxFeeLimit }) =>
  refuse(transfer.feeLimit > maxFeeLimit, 'fee_limit_too_high')

const isSignedByOwner: Check = ({ transfer }) =>
  refuse(
    recoverSigner(transfer.transaction, transfer.signature) !== transfer.owner,
    'invalid_exact_tron_signature',
  )

const checks: readonly Check[] = [
  saysWhatItSigned,
  paysOfferedAsset,
  paysAsset,
  paysRecipient,
  paysSomeoneElse,
  coversAmount,
  hasNotExpired,
  expiresInTime,
  boundsItsFee,
  isSignedByOwner,
]

/** The first rule that a candidate breaks, cheapest first, or null. */
export const findFailedCheck = (candidate: Candidate): Refusal | null => {
  for (const rule of checks) {
    const refusal = rule(candidate)
    if (refusal !== null) return refusal
  }
  return null
}
