import type { PaymentRequirements } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { FindAssociatedAccount } from '../encoding/associatedAccount.js'
import { readAddress } from '../encoding/base58.js'
import { lighthouseProgram, memoProgram } from '../encoding/programs.js'
import { readComputeUnitLimit, readComputeUnitPrice, readTransfer, type Transfer } from './instructions.js'
import type { Transaction } from './payload.js'

/** What a payment may cost us, and who we are. */
export interface Terms {
  readonly maxComputeUnits: bigint
  readonly maxPriorityFeeLamports: bigint
  readonly feePayers: readonly string[]
  readonly findAssociatedAccount: FindAssociatedAccount
}

/** A transaction beside what it must satisfy. */
export interface Candidate {
  readonly transaction: Transaction
  readonly requirements: PaymentRequirements
  readonly terms: Terms
}

/** A candidate whose third instruction is a transfer. */
interface TransferCandidate extends Candidate {
  readonly transfer: Transfer
}

/** One rule that needs no chain: null when it holds. */
type Check<Subject> = (candidate: Subject) => Reason | null

// Who is hidden in a table on chain could be us.
const namesAllAccounts: Check<Candidate> = ({ transaction }) =>
  transaction.usesLookupTables ? 'invalid_exact_svm_smart_wallet_alt_resolution_not_available' : null

const feePayerIsOurs: Check<Candidate> = ({ transaction, terms }) =>
  terms.feePayers.includes(transaction.keys[0] ?? '')
    ? null
    : 'invalid_exact_svm_fee_payer_not_managed_by_facilitator'

const feePayerIsTheNamedOne: Check<Candidate> = ({ transaction, requirements }) => {
  const { feePayer } = requirements.extra
  return feePayer == null || feePayer === transaction.keys[0] ? null : 'invalid_exact_svm_fee_payer_mismatch'
}

// Every signature costs us 5,000 lamports: ours and the payer's are enough.
const signers = 2

const hasNoMoreSigners: Check<Candidate> = ({ transaction }) =>
  transaction.requiredSignatures === signers ? null : 'invalid_exact_svm_payload_excessive_signers'

const hasAllowedInstructionCount: Check<Candidate> = ({ transaction }) => {
  const count = transaction.instructions.length
  return count >= 3 && count <= 7 ? null : 'invalid_exact_svm_payload_transaction_instructions_length'
}

const limitsUnits: Check<Candidate> = ({ transaction, terms }) => {
  const limit = readComputeUnitLimit(transaction.instructions[0])
  if (limit === null) return 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction'
  return limit <= terms.maxComputeUnits
    ? null
    : 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high'
}

const limitsPrice: Check<Candidate> = ({ transaction, terms }) => {
  const price = readComputeUnitPrice(transaction.instructions[1])
  if (price === null) return 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction'
  const units = readComputeUnitLimit(transaction.instructions[0]) ?? 0n
  return countPriorityFee(units, price) <= terms.maxPriorityFeeLamports
    ? null
    : 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high'
}

const unknownInstruction = [
  'invalid_exact_svm_payload_unknown_fourth_instruction',
  'invalid_exact_svm_payload_unknown_fifth_instruction',
  'invalid_exact_svm_payload_unknown_sixth_instruction',
  'invalid_exact_svm_payload_unknown_seventh_instruction',
] as const

const optionalPrograms: readonly string[] = [memoProgram, lighthouseProgram]

const hasOnlyAllowedInstructions: Check<Candidate> = ({ transaction }) => {
  const optional = transaction.instructions.slice(3)
  const unknown = optional.findIndex(({ program }) => !optionalPrograms.includes(program))
  return unknownInstruction[unknown] ?? null
}

const maxLighthouse = 3

const limitsLighthouseAssertions: Check<Candidate> = ({ transaction }) => {
  const count = transaction.instructions.filter(({ program }) => program === lighthouseProgram).length
  return count <= maxLighthouse ? null : 'invalid_exact_svm_payload_unknown_seventh_instruction'
}

const listMemos = ({ instructions }: Transaction) =>
  instructions.filter(({ program }) => program === memoProgram)

const hasOneMemoAtMost: Check<Candidate> = ({ transaction, requirements }) => {
  const count = listMemos(transaction).length
  const isWanted = requirements.extra.memo != null
  return count <= 1 && !(isWanted && count === 0) ? null : 'invalid_exact_svm_payload_memo_count'
}

const maxMemoLength = 256

const memoFits: Check<Candidate> = ({ transaction, requirements }) => {
  const [memo] = listMemos(transaction)
  const { memo: wanted } = requirements.extra
  if (memo === undefined) return null
  const isWanted = wanted == null || (typeof wanted === 'string' && memo.data.equals(Buffer.from(wanted)))
  return isWanted && memo.data.length <= maxMemoLength ? null : 'invalid_exact_svm_payload_memo_mismatch'
}

// Our signature covers the whole transaction: an instruction that names us could spend what is ours.
const touchesNoSignerAccount: Check<Candidate> = ({ transaction, terms }) =>
  transaction.instructions.some(({ accounts }) => accounts.some((each) => terms.feePayers.includes(each)))
    ? 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds'
    : null

const paysAsset: Check<TransferCandidate> = ({ transfer, requirements }) =>
  transfer.mint === requirements.asset ? null : 'invalid_exact_svm_payload_mint_mismatch'

const paysRecipient: Check<TransferCandidate> = ({ transfer, requirements, terms }) => {
  const owner = readAddress(requirements.payTo)
  if (owner === null) return 'invalid_exact_svm_payload_recipient_mismatch'
  const { mint, program } = transfer
  return transfer.destination === terms.findAssociatedAccount({ owner, mint, program })
    ? null
    : 'invalid_exact_svm_payload_recipient_mismatch'
}

// A transfer to oneself moves nothing but our fee.
const paysSomeoneElse: Check<TransferCandidate> = ({ transfer, requirements }) =>
  transfer.authority === requirements.payTo || transfer.source === transfer.destination
    ? 'self_payment'
    : null

const paysAmount: Check<TransferCandidate> = ({ transfer, requirements }) =>
  transfer.amount === requirements.amount && transfer.amount > 0n
    ? null
    : 'invalid_exact_svm_payload_amount_mismatch'

// The second of two signers is the only one who can own what is paid.
const isPaidBySigner: Check<TransferCandidate> = ({ transfer, transaction }) =>
  transfer.authority === transaction.keys[1] ? null : 'invalid_exact_svm_payload_signature_invalid'

/** What stands before the transfer. */
const openingChecks: readonly Check<Candidate>[] = [
  namesAllAccounts,
  feePayerIsOurs,
  feePayerIsTheNamedOne,
  hasNoMoreSigners,
  hasAllowedInstructionCount,
  limitsUnits,
  limitsPrice,
]

/** The transfer, and whatever stands after it. */
const transferChecks: readonly Check<TransferCandidate>[] = [
  hasOnlyAllowedInstructions,
  limitsLighthouseAssertions,
  hasOneMemoAtMost,
  memoFits,
  touchesNoSignerAccount,
  paysAsset,
  paysAmount,
  isPaidBySigner,
  paysSomeoneElse,
  paysRecipient,
]

/** The transfer of a candidate that breaks no rule, or the first rule that it breaks, cheapest first. */
export const runChecks = (
  candidate: Candidate,
): { readonly transfer: Transfer } | { readonly broken: Reason } => {
  const opening = findFailedCheck(openingChecks, candidate)
  if (opening !== null) return { broken: opening }
  const transfer = readTransfer(candidate.transaction.instructions[2])
  if (transfer === null) return { broken: 'invalid_exact_svm_payload_no_transfer_instruction' }
  const broken = findFailedCheck(transferChecks, { ...candidate, transfer })
  return broken === null ? { transfer } : { broken }
}

const findFailedCheck = <Subject>(checks: readonly Check<Subject>[], candidate: Subject): Reason | null => {
  for (const check of checks) {
    const broken = check(candidate)
    if (broken !== null) return broken
  }
  return null
}

const microLamportsPerLamport = 1_000_000n

/** What a price per compute unit comes to, in lamports, rounded up as the network does. */
export const countPriorityFee = (units: bigint, microLamportsPerUnit: bigint): bigint =>
  (units * microLamportsPerUnit + microLamportsPerLamport - 1n) / microLamportsPerLamport
