import type { PaymentRequirements } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import {
  compareRequiredAmount,
  namesOf,
  type Rule,
  runRules,
  type Trace,
} from '../../../protocol/rules/rules.js'
import { readAddress } from '../encoding/keys.js'
import { type FindAssociatedAccount, lighthouseProgram, memoProgram } from '../encoding/tokenAccounts.js'
import type { Transaction } from './decode.js'
import {
  countPriorityFee,
  readComputeUnitLimit,
  readComputeUnitPrice,
  readTransfer,
  type Transfer,
} from './instructions.js'

/** Limits of a payment's cost, and the facilitator's accounts. */
export interface Terms {
  readonly maxComputeUnits: bigint
  readonly maxPriorityFeeLamports: bigint
  readonly feePayers: readonly string[]
  readonly findAssociatedAccount: FindAssociatedAccount
}

interface Candidate {
  readonly transaction: Transaction
  readonly requirements: PaymentRequirements
  readonly terms: Terms
}

interface TransferCandidate extends Candidate {
  readonly transfer: Transfer
}

/** Null when the rule holds. No chain access. */
type Check<Subject> = Rule<Subject>['check']

const asksForAmount: Check<Candidate> = ({ requirements }) =>
  requirements.amount === 0n ? 'invalid_payment_amount' : null

// A lookup table could hide one of our accounts.
const usesNoLookupTables: Check<Candidate> = ({ transaction }) =>
  transaction.usesLookupTables ? 'invalid_exact_svm_smart_wallet_alt_resolution_not_available' : null

const feePayerIsOurs: Check<Candidate> = ({ transaction, terms }) =>
  terms.feePayers.includes(transaction.keys[0] ?? '')
    ? null
    : 'invalid_exact_svm_fee_payer_not_managed_by_facilitator'

// Servers of version 1 read /supported for every request, so that the paid one may name the next of our fee payers.
const namedFeePayerIsOurs: Check<Candidate> = ({ requirements, terms }) => {
  const { feePayer } = requirements.extra
  return feePayer == null || terms.feePayers.some((ours) => ours === feePayer)
    ? null
    : 'invalid_exact_svm_fee_payer_mismatch'
}

// Each signature costs us 5,000 lamports.
const signers = 2

const hasTwoSigners: Check<Candidate> = ({ transaction }) =>
  transaction.requiredSignatures === signers ? null : 'invalid_exact_svm_payload_excessive_signers'

const hasAllowedInstructionCount: Check<Candidate> = ({ transaction }) => {
  const count = transaction.instructions.length
  return count >= 3 && count <= 7 ? null : 'invalid_exact_svm_payload_transaction_instructions_length'
}

const limitsComputeUnits: Check<Candidate> = ({ transaction, terms }) => {
  const limit = readComputeUnitLimit(transaction.instructions[0])
  if (limit === null) return 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction'
  return limit <= terms.maxComputeUnits
    ? null
    : 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high'
}

const limitsPriorityFee: Check<Candidate> = ({ transaction, terms }) => {
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

const maxLighthouseInstructions = 3

const limitsLighthouseAssertions: Check<Candidate> = ({ transaction }) => {
  const count = transaction.instructions.filter(({ program }) => program === lighthouseProgram).length
  return count <= maxLighthouseInstructions ? null : 'invalid_exact_svm_payload_unknown_seventh_instruction'
}

const listMemos = ({ instructions }: Transaction) =>
  instructions.filter(({ program }) => program === memoProgram)

const hasOneMemoAtMost: Check<Candidate> = ({ transaction, requirements }) => {
  const count = listMemos(transaction).length
  const isExpected = requirements.extra.memo != null
  return count <= 1 && !(isExpected && count === 0) ? null : 'invalid_exact_svm_payload_memo_count'
}

const maxMemoLength = 256

const memoFits: Check<Candidate> = ({ transaction, requirements }) => {
  const [memo] = listMemos(transaction)
  const { memo: expected } = requirements.extra
  if (memo === undefined) return null
  const isExpected =
    expected == null || (typeof expected === 'string' && memo.data.equals(Buffer.from(expected)))
  return isExpected && memo.data.length <= maxMemoLength ? null : 'invalid_exact_svm_payload_memo_mismatch'
}

// Our signature covers the whole transaction, so an instruction with our account could spend from it.
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

// It would only cost our fee.
const paysSomeoneElse: Check<TransferCandidate> = ({ transfer, requirements }) =>
  transfer.authority === requirements.payTo || transfer.source === transfer.destination
    ? 'self_payment'
    : null

const paysAmount: Check<TransferCandidate> = ({ transfer, requirements }) =>
  transfer.amount === requirements.amount ? null : 'invalid_exact_svm_payload_amount_mismatch'

// Only the second of the two signers can be the payer.
const isPaidBySigner: Check<TransferCandidate> = ({ transfer, transaction }) =>
  transfer.authority === transaction.keys[1] ? null : 'invalid_exact_svm_payload_signature_invalid'

const openingRules: readonly Rule<Candidate>[] = [
  {
    name: 'required_amount',
    check: asksForAmount,
    compare: compareRequiredAmount,
  },
  { name: 'lookup_tables', check: usesNoLookupTables },
  {
    name: 'fee_payer',
    check: feePayerIsOurs,
    compare: ({ transaction, terms }) => ({
      found: transaction.keys[0],
      expected: `one of ${terms.feePayers.join(', ')}`,
    }),
  },
  { name: 'fee_payer', check: namedFeePayerIsOurs },
  {
    name: 'signers',
    check: hasTwoSigners,
    compare: ({ transaction }) => ({
      found: `${transaction.requiredSignatures} required signatures`,
      expected: `${signers}: fee payer and payer`,
    }),
  },
  {
    name: 'instructions',
    check: hasAllowedInstructionCount,
    compare: ({ transaction }) => ({
      found: `${transaction.instructions.length} instructions`,
      expected: '3 to 7',
    }),
  },
  {
    name: 'compute_limit',
    check: limitsComputeUnits,
    compare: ({ transaction, terms }) => ({
      found:
        readComputeUnitLimit(transaction.instructions[0]) ?? 'no SetComputeUnitLimit as first instruction',
      expected: `at most ${terms.maxComputeUnits} compute units`,
    }),
  },
  {
    name: 'priority_fee',
    check: limitsPriorityFee,
    compare: ({ transaction, terms }) => ({
      found:
        readComputeUnitPrice(transaction.instructions[1]) ?? 'no SetComputeUnitPrice as second instruction',
      expected: `limit times price of at most ${terms.maxPriorityFeeLamports} lamports`,
    }),
  },
]

const transferRules: readonly Rule<TransferCandidate>[] = [
  { name: 'instructions', check: hasOnlyAllowedInstructions },
  { name: 'assertions', check: limitsLighthouseAssertions },
  { name: 'memo', check: hasOneMemoAtMost },
  {
    name: 'memo',
    check: memoFits,
    compare: ({ transaction, requirements }) => ({
      found: listMemos(transaction)[0]?.data.toString() ?? 'no memo',
      expected:
        requirements.extra.memo == null
          ? `at most one, of ${maxMemoLength} bytes`
          : `extra.memo: ${JSON.stringify(requirements.extra.memo)}`,
    }),
  },
  { name: 'fee_payer_untouched', check: touchesNoSignerAccount },
  {
    name: 'named_asset',
    check: paysAsset,
    compare: ({ transfer, requirements }) => ({ found: transfer.mint, expected: requirements.asset }),
  },
  {
    name: 'authorized_amount',
    check: paysAmount,
    compare: ({ transfer, requirements }) => ({
      found: transfer.amount,
      expected: `exactly ${requirements.amount}`,
    }),
  },
  {
    name: 'sender',
    check: isPaidBySigner,
    compare: ({ transfer, transaction }) => ({
      found: transfer.authority,
      expected: `${transaction.keys[1] ?? 'a payer'}, the second signer`,
    }),
  },
  { name: 'self_payment', check: paysSomeoneElse },
  {
    name: 'recipient',
    check: paysRecipient,
    compare: ({ transfer, requirements }) => ({
      found: transfer.destination,
      expected: `the associated token account of ${requirements.payTo}`,
    }),
  },
]

/** In the order in which they are checked. */
export const transactionRules = [...namesOf(openingRules), ...namesOf(transferRules)] as const

/** Returns the transfer, or the first broken rule, cheapest first. */
export const checkTransaction = (
  candidate: Candidate,
  trace?: Trace,
): { readonly transfer: Transfer } | { readonly broken: Reason } => {
  const opening = runRules(openingRules, candidate, trace)
  // With a trace the rules of the transfer run as well.
  if (opening !== null && trace === undefined) return { broken: opening }
  const transfer = readTransfer(candidate.transaction.instructions[2])
  if (transfer === null) {
    const broken = 'invalid_exact_svm_payload_no_transfer_instruction'
    trace?.note('instructions', broken)
    return { broken: opening ?? broken }
  }
  const ofTransfer = runRules(transferRules, { ...candidate, transfer }, trace)
  const broken = opening ?? ofTransfer
  return broken === null ? { transfer } : { broken }
}
