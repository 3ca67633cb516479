import { type Hex, toFunctionSelector } from 'viem'
import type { Reason } from '../../../protocol/reasons.js'
import type { CallFailure } from '../rpc/rpc.js'
import { readRevertText } from '../tokens/erc20.js'
import type { RevertReason } from '../transactions/settlementCall.js'

/* Why a call of the settlement is refused, where its state alone does not show it. */

const errorNames = [
  'InvalidChannel',
  'ZeroDeposit',
  'DepositOverflow',
  'InvalidSignature',
  'NotReceiverAuthorizer',
  'ClaimExceedsCeiling',
  'ClaimExceedsBalance',
  'WithdrawDelayOutOfRange',
  'EmptyBatch',
  'DepositCollectionFailed',
  'InvalidCollector',
  'InvalidRefundNonce',
  'ZeroRefund',
  'Permit2612AmountMismatch',
  'ECDSAInvalidSignature',
  // Of Permit2.
  'InvalidNonce',
  'InvalidSigner',
  'InvalidSignatureLength',
  'InvalidContractSignature',
] as const

type ErrorName = (typeof errorNames)[number]

const bySelector = new Map<string, ErrorName>(
  errorNames.map((name) => [toFunctionSelector(`${name}()`), name]),
)

const findErrorName = (data: Hex | null): ErrorName | null =>
  data === null ? null : (bySelector.get(data.slice(0, 10).toLowerCase()) ?? null)

/** `fallback` with the contract's error or the token's text, short and printable. */
export const explainRevert = (
  failure: CallFailure,
  {
    fallback,
    named = {},
  }: { readonly fallback: Reason; readonly named?: Partial<Record<ErrorName, Reason>> },
): RevertReason => {
  const name = findErrorName(failure.data)
  const known = name === null ? undefined : named[name]
  if (known !== undefined) return { reason: known }
  const text = name ?? readRevertText(failure)
  if (/out ?of ?gas|gas required exceeds/i.test(text)) return { reason: 'gas_limit_exceeded' }
  return text === '' ? { reason: fallback } : { reason: fallback, message: `It reverts: ${text}` }
}
