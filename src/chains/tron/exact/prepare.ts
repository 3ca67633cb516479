import type { Clock } from '../../../ports/clock.js'
import type { Payment, PaymentRequirements } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import {
  compareRequiredAmount,
  namesOf,
  type Rule,
  runRules,
  type Trace,
} from '../../../protocol/rules/rules.js'
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
type Prepare = (payment: Payment, marginMs: number, trace?: Trace) => Preparation

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
  return (payment, marginMs, trace) => {
    trace?.expect(preparedRules)
    const { proof: untrusted, requirements } = payment
    const foreign = describeForeignMethod(payment, ownMethod)
    if (foreign !== null) {
      const refusal = { reason: 'unsupported_asset_transfer_method', message: foreign } as const
      trace?.note('transfer_method', refusal)
      return { refused: toRefusal(readClaimedPayer(untrusted), refusal) }
    }
    trace?.note('transfer_method', null)
    const reading = readExactProof(untrusted)
    if ('reason' in reading) {
      const payer = readClaimedPayer(untrusted)
      const refusal = { reason: reading.reason, message: reading.problem }
      trace?.note('payload_fields', refusal)
      return { refused: toRefusal(payer, refusal) }
    }
    trace?.note('payload_fields', null)
    const { proof } = reading
    const nowMs = clock.now().getTime()
    const candidate = { ...proof, requirements, isOffered, maxFeeLimit, nowMs, marginMs }
    const broken = findFailedCheck(candidate, trace)
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
type Check = Rule<Candidate, FailedCheck>['check']

const refuse = (isBroken: boolean, reason: Reason): FailedCheck | null => (isBroken ? { reason } : null)

const clockSlackMs = 5_000

const matchesAuthorization: Check = (candidate) => {
  const field = findDifference(candidate)
  if (field === null) return null
  return {
    reason: 'transaction_verification_failed',
    message: `payload.authorization.${field}: differs from the signed transaction`,
  }
}

const paysOfferedAsset: Check = ({ requirements, isOffered }) =>
  refuse(!isOffered(requirements.asset), 'unsupported_asset')

const paysAsset: Check = ({ transfer, requirements }) =>
  refuse(transfer.contract !== readAddress(requirements.asset), 'asset_mismatch')

const paysRecipient: Check = ({ transfer, requirements }) =>
  refuse(transfer.to !== readAddress(requirements.payTo), 'recipient_mismatch')

const paysSomeoneElse: Check = ({ transfer }) => refuse(transfer.owner === transfer.to, 'self_payment')

const asksForAmount: Check = ({ requirements }) =>
  refuse(requirements.amount === 0n, 'invalid_payment_amount')

const coversAmount: Check = ({ transfer, requirements }) =>
  refuse(transfer.value < requirements.amount, 'insufficient_amount')

/** The only rule that depends on time alone; checked again later. */
export const hasNotExpired = ({
  transfer,
  nowMs,
  marginMs,
}: Pick<Candidate, 'transfer' | 'nowMs' | 'marginMs'>): FailedCheck | null =>
  refuse(transfer.expiration <= nowMs + marginMs, 'authorization_expired')

// A failure cannot be proven before expiration.
const expiresInTime: Check = ({ transfer, requirements, nowMs }) =>
  refuse(
    transfer.expiration > nowMs + requirements.maxTimeoutSeconds * 1_000 + clockSlackMs,
    'authorization_expires_too_late',
  )

const limitsFee: Check = ({ transfer, maxFeeLimit }) =>
  refuse(transfer.feeLimit > maxFeeLimit, 'fee_limit_too_high')

const isSignedByOwner: Check = ({ transfer }) =>
  refuse(
    recoverSigner(transfer.transaction, transfer.signature) !== transfer.owner,
    'invalid_exact_tron_signature',
  )

const rules: readonly Rule<Candidate, FailedCheck>[] = [
  { name: 'payload_copy', check: matchesAuthorization },
  {
    name: 'asset',
    check: paysOfferedAsset,
    compare: ({ requirements }) => ({
      path: 'paymentRequirements.asset',
      found: requirements.asset,
      expected: 'a token that this facilitator settles there',
    }),
  },
  {
    name: 'named_asset',
    check: paysAsset,
    compare: ({ transfer, requirements }) => ({
      found: formatAddress(transfer.contract),
      expected: requirements.asset,
    }),
  },
  {
    name: 'recipient',
    check: paysRecipient,
    compare: ({ transfer, requirements }) => ({
      found: formatAddress(transfer.to),
      expected: requirements.payTo,
    }),
  },
  { name: 'self_payment', check: paysSomeoneElse },
  {
    name: 'required_amount',
    check: asksForAmount,
    compare: compareRequiredAmount,
  },
  {
    name: 'authorized_amount',
    check: coversAmount,
    compare: ({ transfer, requirements }) => ({
      found: transfer.value,
      expected: `at least ${requirements.amount}`,
    }),
  },
  {
    name: 'valid_before',
    check: hasNotExpired,
    compare: ({ transfer, nowMs, marginMs }) => ({
      found: `${transfer.expiration} ms, ${(transfer.expiration - nowMs) / 1_000} s from now`,
      expected: `more than ${marginMs / 1_000} s from now`,
    }),
  },
  {
    name: 'validity_limit',
    check: expiresInTime,
    compare: ({ transfer, requirements, nowMs }) => ({
      found: `${(transfer.expiration - nowMs) / 1_000} s from now`,
      expected: `at most maxTimeoutSeconds, ${requirements.maxTimeoutSeconds} s`,
    }),
  },
  {
    name: 'fee_limit',
    check: limitsFee,
    compare: ({ transfer, maxFeeLimit }) => ({
      found: `${transfer.feeLimit} sun`,
      expected: `at most ${maxFeeLimit} sun`,
    }),
  },
  {
    name: 'signature',
    check: isSignedByOwner,
    compare: ({ transfer }) => ({ expected: `a signature of ${formatAddress(transfer.owner)}` }),
  },
]

/** First broken rule, cheapest first, or null. */
const findFailedCheck = (candidate: Candidate, trace?: Trace): FailedCheck | null =>
  runRules(rules, candidate, trace)

const preparedRules = ['transfer_method', 'payload_fields', ...namesOf(rules)] as const

/** What a transfer authorizes, with and without a chain. */
export const describeTransfer = (transfer: SignedTransfer, authorizationId: string) =>
  describeAuthorization({
    payer: formatAddress(transfer.owner),
    authorizationId,
    amount: transfer.value,
    expiresAt: new Date(transfer.expiration),
  })
