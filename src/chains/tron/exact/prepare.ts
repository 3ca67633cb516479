import type { Clock } from '../../../ports/clock.js'
import type { Payment, PaymentRequirements } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import { type Check, runChecks } from '../../../schemes/checks.js'
import type { Refusal } from '../../../schemes/scheme.js'
import { describeForeignMethod } from '../../../schemes/transferMethod.js'
import { describeAuthorization, type OfferedTokens } from '../../common/settling/exactScheme.js'
import { formatAddress, readAddress, type TronAddress } from '../encoding/address.js'
import type { TronNetworkSettings } from '../settings.js'
import type { SignedTransfer } from './decode.js'
import { type ExactProof, findDifference, readClaimedPayer, readExactProof } from './payload.js'
import { recoverSigner } from './signature.js'

type Preparation = { readonly transfer: SignedTransfer } | { readonly refused: Refusal }

/** Everything without chain access. `marginMs`: minimum remaining validity. */
export type Prepare = (payment: Payment, marginMs: number) => Preparation

type TokenPolicy = Pick<TronNetworkSettings, 'tokens' | 'knownTokens' | 'acceptsAnyToken'>

export const listOffered = ({ tokens, knownTokens, acceptsAnyToken }: TokenPolicy): OfferedTokens => {
  const contracts = new Set(tokens.map(({ asset }) => readAddress(asset)))
  return {
    tokens,
    isOffered: (asset) => {
      const contract = readAddress(asset)
      return contract !== null && (acceptsAnyToken || contracts.has(contract))
    },
    findDecimals: (asset) => {
      const contract = readAddress(asset)
      return knownTokens.find((token) => readAddress(token.asset) === contract)?.decimals ?? null
    },
  }
}

export const createPrepare = (
  network: TokenPolicy & Pick<TronNetworkSettings, 'maxFeeLimit'>,
  clock: Pick<Clock, 'now'>,
): Prepare => {
  const { maxFeeLimit } = network
  const { isOffered } = listOffered(network)
  return (payment, marginMs) => {
    const { proof: untrusted, requirements } = payment
    const foreign = describeForeignMethod(payment, ownMethod)
    if (foreign !== null) {
      const refusal = { reason: 'unsupported_asset_transfer_method', message: foreign } as const
      return { refused: toRefusal(readClaimedPayer(untrusted), refusal) }
    }
    const reading = readExactProof(untrusted)
    if ('reason' in reading) {
      const payer = readClaimedPayer(untrusted)
      return { refused: toRefusal(payer, { reason: reading.reason, message: reading.problem }) }
    }
    const { proof } = reading
    const nowMs = clock.now().getTime()
    const broken = findFailedCheck({ ...proof, requirements, isOffered, maxFeeLimit, nowMs, marginMs })
    const { transfer } = proof
    return broken === null ? { transfer } : { refused: toRefusal(transfer.owner, broken) }
  }
}

const ownMethod = { names: ['default'], fields: ['signedTransaction'] } as const

export const toRefusal = (payer: TronAddress | null, broken: FailedCheck): Refusal => ({
  isValid: false,
  payer: payer === null ? null : formatAddress(payer),
  ...broken,
})

interface Candidate extends ExactProof {
  readonly requirements: PaymentRequirements
  readonly isOffered: OfferedTokens['isOffered']
  /** In sun. */
  readonly maxFeeLimit: bigint
  readonly nowMs: number
  readonly marginMs: number
}

/** A reason, and a message where the reason's own text is not specific enough. */
export interface FailedCheck {
  readonly reason: Reason
  readonly message?: string
}

/** Null when the rule holds. No chain access. */
type Rule = Check<Candidate, FailedCheck>

const refuse = (isBroken: boolean, reason: Reason): FailedCheck | null => (isBroken ? { reason } : null)

const clockSlackMs = 5_000

const matchesAuthorization: Rule = (candidate) => {
  const field = findDifference(candidate)
  if (field === null) return null
  return {
    reason: 'transaction_verification_failed',
    message: `payload.authorization.${field}: differs from the signed transaction`,
  }
}

const paysOfferedAsset: Rule = ({ requirements, isOffered }) =>
  refuse(!isOffered(requirements.asset), 'unsupported_asset')

const paysAsset: Rule = ({ transfer, requirements }) =>
  refuse(transfer.contract !== readAddress(requirements.asset), 'asset_mismatch')

const paysRecipient: Rule = ({ transfer, requirements }) =>
  refuse(transfer.to !== readAddress(requirements.payTo), 'recipient_mismatch')

const paysSomeoneElse: Rule = ({ transfer }) => refuse(transfer.owner === transfer.to, 'self_payment')

const asksForAmount: Rule = ({ requirements }) => refuse(requirements.amount === 0n, 'invalid_payment_amount')

const coversAmount: Rule = ({ transfer, requirements }) =>
  refuse(transfer.value < requirements.amount, 'insufficient_amount')

/** The only rule that depends on time alone; checked again later. */
export const hasNotExpired = ({
  transfer,
  nowMs,
  marginMs,
}: Pick<Candidate, 'transfer' | 'nowMs' | 'marginMs'>): FailedCheck | null =>
  refuse(transfer.expiration <= nowMs + marginMs, 'authorization_expired')

// A failure cannot be proven before expiration.
const expiresInTime: Rule = ({ transfer, requirements, nowMs }) =>
  refuse(
    transfer.expiration > nowMs + requirements.maxTimeoutSeconds * 1_000 + clockSlackMs,
    'authorization_expires_too_late',
  )

const limitsFee: Rule = ({ transfer, maxFeeLimit }) =>
  refuse(transfer.feeLimit > maxFeeLimit, 'fee_limit_too_high')

const isSignedByOwner: Rule = ({ transfer }) =>
  refuse(
    recoverSigner(transfer.transaction, transfer.signature) !== transfer.owner,
    'invalid_exact_tron_signature',
  )

const checks: readonly Rule[] = [
  matchesAuthorization,
  paysOfferedAsset,
  paysAsset,
  paysRecipient,
  paysSomeoneElse,
  asksForAmount,
  coversAmount,
  hasNotExpired,
  expiresInTime,
  limitsFee,
  isSignedByOwner,
]

/** First broken rule, cheapest first, or null. */
export const findFailedCheck = (candidate: Candidate): FailedCheck | null => runChecks(checks, candidate)

/** What a transfer authorizes, with and without a chain. */
export const describeTransfer = (transfer: SignedTransfer, authorizationId: string) =>
  describeAuthorization({
    payer: formatAddress(transfer.owner),
    authorizationId,
    amount: transfer.value,
    expiresAt: new Date(transfer.expiration),
  })
