import { readUint256 } from '../../../protocol/amount.js'
import { isFields } from '../../../protocol/fields.js'
import type { Reason } from '../../../protocol/reasons.js'
import { readAddress, type TronAddress } from '../encoding/address.js'
import { decodeTransfer, type SignedTransfer } from './decode.js'

/** What moves money. Clients write their own clock and block reference beside it, so those are not read. */
interface TransferCopy {
  readonly from: TronAddress
  readonly to: TronAddress
  readonly contractAddress: TronAddress
  readonly amount: bigint
}

export interface ExactProof {
  readonly transfer: SignedTransfer
  readonly copy: TransferCopy
}

type ProofReading = { readonly proof: ExactProof } | { readonly reason: Reason; readonly problem: string }

/** Reads an untrusted payload; ignores additional fields. Never throws. */
export const readExactProof = (proof: Readonly<Record<string, unknown>>): ProofReading => {
  const { signedTransaction, authorization } = proof
  if (typeof signedTransaction !== 'string' || signedTransaction === '') {
    return malformed(
      'payload.signedTransaction: must be the hex of a signed transaction, or its JSON with raw_data_hex and signature',
    )
  }
  if (!isFields(authorization)) return malformed('payload.authorization: must be an object')
  const { amount } = authorization
  for (const field of ['from', 'to', 'contractAddress']) {
    if (typeof authorization[field] !== 'string') return wrongField(field, 'an address')
  }
  if (typeof amount !== 'string') return wrongField('amount', 'a uint256 in decimal digits')
  const value = readUint256(amount)
  if (value === null) return wrongField('amount', 'a uint256 in decimal digits')

  const from = readAddress(authorization.from)
  if (from === null) return invalidAddress('from', 'invalid_sender_address')
  const to = readAddress(authorization.to)
  if (to === null) return invalidAddress('to', 'invalid_recipient_address')
  const contractAddress = readAddress(authorization.contractAddress)
  if (contractAddress === null) return invalidAddress('contractAddress', 'invalid_contract_address')

  const reading = decodeTransfer(signedTransaction)
  if ('reason' in reading) {
    return { reason: reading.reason, problem: `payload.signedTransaction: ${reading.problem}` }
  }
  const copy = { from, to, contractAddress, amount: value }
  return { proof: { transfer: reading.transfer, copy } }
}

/** The payer that a payload names beside bytes that cannot be read; null if it names none. */
export const readClaimedPayer = ({ authorization }: Readonly<Record<string, unknown>>): TronAddress | null =>
  isFields(authorization) ? readAddress(authorization.from) : null

const copiedFields = ['from', 'to', 'contractAddress', 'amount'] as const

/** Name of the first field in which `authorization` differs from the signed bytes, or null. */
export const findDifference = ({ transfer, copy }: ExactProof): string | null => {
  const { owner: from, contract: contractAddress, value: amount } = transfer
  const signed: TransferCopy = { from, to: transfer.to, contractAddress, amount }
  return copiedFields.find((field) => copy[field] !== signed[field]) ?? null
}

const malformed = (problem: string): ProofReading => ({ reason: 'invalid_payload_structure', problem })

const wrongField = (field: string, expected: string): ProofReading =>
  malformed(`payload.authorization.${field}: must be ${expected}`)

const invalidAddress = (field: string, reason: Reason): ProofReading => ({
  reason,
  problem: `payload.authorization.${field}: is not a TRON address`,
})
