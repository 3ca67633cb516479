import { type Hex, hashTypedData } from 'viem'
import { readUint256 } from '../../../protocol/amount.js'
import { isFields } from '../../../protocol/fields.js'
import type { Payment } from '../../../protocol/payment.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import { readSignature } from '../signatures/signature.js'
import type { Token } from '../tokens/tokenRegistry.js'
import type { RevertReason } from '../transactions/settlementCall.js'
import { type Permit, permit2Address } from './payload.js'

/** x402's extension: the payer signs an EIP-2612 permit for Permit2, which the proxy submits with the payment. */
export const eip2612Sponsoring = 'eip2612GasSponsoring'
const approvalSponsoring = 'erc20ApprovalGasSponsoring'

/** An EIP-2612 permit for Permit2, as the proxies take it. */
export interface TokenPermit {
  readonly value: bigint
  readonly deadline: bigint
  readonly v: 27 | 28
  readonly r: Hex
  readonly s: Hex
  /** Signed by the payer's own key; else only the token knows. */
  readonly isProven: boolean
}

interface SponsoringInfo {
  readonly from: Hex
  /** Null where the form does not state it. */
  readonly asset: Hex | null
  readonly spender: Hex
  readonly amount: bigint
  /** Null where the form does not state it. */
  readonly nonce: bigint | null
  readonly deadline: bigint
  readonly signature: Hex
}

interface SponsoredPayment {
  readonly payment: Pick<Payment, 'extensions'>
  readonly permit: Pick<Permit, 'from' | 'amount'>
  readonly token: Token
  readonly nowSeconds: bigint
  readonly marginSeconds: bigint
}

/**
 * The permit of a payment that asks for sponsoring; null where it does not. That the token accepts it, or accepted it
 * before, is proven by the simulation: any account may submit it first.
 */
export const readSponsoring = async (
  { payment: { extensions }, permit, token, nowSeconds, marginSeconds }: SponsoredPayment,
  chainId: number,
): Promise<TokenPermit | null | RevertReason> => {
  const reading = readInfo(extensions[eip2612Sponsoring])
  if (reading === null) return null
  if (reading === 'malformed') return { reason: 'invalid_eip2612_extension_format' }
  const { from, asset, spender, amount, nonce, deadline, signature } = reading
  if (!isSameAddress(from, permit.from)) return { reason: 'eip2612_from_mismatch' }
  if (asset !== null && !isSameAddress(asset, token.address)) return { reason: 'eip2612_asset_mismatch' }
  if (!isSameAddress(spender, permit2Address)) return { reason: 'eip2612_spender_not_permit2' }
  if (amount !== permit.amount) return { reason: 'permit2_2612_amount_mismatch' }
  if (deadline < nowSeconds + marginSeconds) return { reason: 'eip2612_deadline_expired' }

  const { domain } = token
  const digest = hashTypedData({
    domain: { ...domain, chainId, verifyingContract: token.address },
    types: permitTypes,
    primaryType: 'Permit',
    message: { owner: from, spender: permit2Address, value: amount, nonce: nonce ?? 0n, deadline },
  })
  // A wallet contract may sign too, and without nonce or proven domain the digest is a guess.
  const read = await readSignature(signature, digest, from)
  const parity = signature.slice(130)
  return {
    value: amount,
    deadline,
    v: parity === '1b' || parity === '00' ? 27 : 28,
    r: `0x${signature.slice(2, 66)}`,
    s: `0x${signature.slice(66, 130)}`,
    isProven: read?.kind === 'ecdsa',
  }
}

/** Returns whether a payment carries a well-formed permit. */
export const hasTokenPermit = ({ extensions }: Pick<Payment, 'extensions'>): boolean => {
  const reading = readInfo(extensions[eip2612Sponsoring])
  return reading !== null && reading !== 'malformed'
}

const permitTypes = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const

/** x402 also defines a signed approval of the payer, whose gas the facilitator would send to the payer first. */
export const explainMissingAllowance = (
  { extensions }: Pick<Payment, 'extensions'>,
  tokenPermit: TokenPermit | null,
): RevertReason => {
  if (tokenPermit?.isProven === false) return { reason: 'invalid_permit_signature' }
  const approval = readRecord(readRecord(extensions[approvalSponsoring]).info)
  return {
    reason:
      approval.signedTransaction === undefined
        ? 'permit2_allowance_required'
        : 'erc20_approval_not_sponsored',
  }
}

const readRecord = (value: unknown) => (isFields(value) ? value : {})

const x402Fields = [
  'from',
  'asset',
  'spender',
  'amount',
  'nonce',
  'deadline',
  'signature',
  'version',
] as const

/** What a server declares is repeated by clients that do not use it: only a whole form counts. */
const readInfo = (extension: unknown): SponsoringInfo | 'malformed' | null => {
  if (!isFields(extension)) return null
  const info = isFields(extension.info) ? extension.info : extension
  if (x402Fields.every((field) => Boolean(info[field]))) return readX402Info(info)
  return info.owner !== undefined && info.value !== undefined ? readT402Info(info) : null
}

const readX402Info = (info: Readonly<Record<string, unknown>>): SponsoringInfo | 'malformed' => {
  const from = readAddress(info.from)
  const asset = readAddress(info.asset)
  const spender = readAddress(info.spender)
  const amount = readUint256(info.amount)
  const nonce = readUint256(info.nonce)
  const deadline = readUint256(info.deadline)
  const signature = readBytes65(info.signature)
  if (from === null || asset === null || spender === null || signature === null) return 'malformed'
  if (amount === null || nonce === null || deadline === null) return 'malformed'
  return { from, asset, spender, amount, nonce, deadline, signature }
}

/** t402's form has v, r and s, and the deadline as a number. */
const readT402Info = (info: Readonly<Record<string, unknown>>): SponsoringInfo | 'malformed' => {
  const from = readAddress(info.owner)
  const spender = readAddress(info.spender)
  const amount = readUint256(info.value)
  const deadline = readUint256(typeof info.deadline === 'number' ? String(info.deadline) : info.deadline)
  const { v, r, s } = info
  const signature =
    typeof v === 'number' && typeof r === 'string' && typeof s === 'string' && (v === 27 || v === 28)
      ? readBytes65(`${r}${s.replace(/^0x/, '')}${v.toString(16)}`)
      : readBytes65(info.permitSignature)
  if (from === null || spender === null || signature === null) return 'malformed'
  if (amount === null || deadline === null) return 'malformed'
  return { from, asset: null, spender, amount, nonce: null, deadline, signature }
}

const bytes65 = /^0x[0-9a-fA-F]{128}(?:00|01|1[bBcC])$/

const readBytes65 = (value: unknown): Hex | null =>
  typeof value === 'string' && bytes65.test(value) ? `0x${value.slice(2).toLowerCase()}` : null
