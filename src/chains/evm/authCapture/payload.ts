import { type Hex, maxUint256 } from 'viem'
import { isFields } from '../../../protocol/fields.js'
import { readAddress } from '../abi/address.js'
import { maxSignatureBytes, signatureForm } from '../signatures/signature.js'
import { type Fee, maxUint48, maxUint120, type PaymentInfo } from './contracts.js'
import { readUint } from './terms.js'

/** What the payer signed: an ERC-3009 authorization or a Permit2 permit. Times in Unix seconds, addresses in EIP-55 form. */
export interface Authorization {
  readonly method: 'eip3009' | 'permit2'
  readonly from: Hex
  /** `to` of the authorization, `spender` of the permit. */
  readonly collector: Hex
  /** Only a permit names it. */
  readonly token: Hex | null
  readonly value: bigint
  /** A permit has none. */
  readonly validAfter: bigint
  /** Also the last of the payment: `preApprovalExpiry`. */
  readonly validBefore: bigint
  /** The hash of the payment without its payer. */
  readonly nonce: bigint
}

/** How much is charged at /settle, stated and signed by the receiver's authorizer. */
export interface Charge extends Fee {
  readonly amount: bigint
  readonly authorizerSignature: Hex
}

export interface CollectProof {
  readonly authorization: Authorization
  /** As received: it is part of what the receiver's authorizer signs. */
  readonly signature: Hex
  readonly salt: bigint
  readonly saltNonce: bigint | null
  readonly charge: Charge | null
}

interface Balances {
  readonly expectedCapturable: bigint
  readonly expectedRefundable: bigint
}

interface Bound {
  readonly info: PaymentInfo
  readonly saltNonce: bigint | null
  /** Null where it is absent. */
  readonly authorizerSignature: Hex | null
}

/** A request of the receiver, about a payment that was collected. */
export type LifecycleProof =
  | (Bound & { readonly type: 'void' })
  | (Bound &
      Balances &
      Fee & {
        readonly type: 'capture'
        readonly amount: bigint
        readonly voidAuthorizerSignature: Hex | null
      })
  | (Bound & Balances & { readonly type: 'refund'; readonly amount: bigint })

type Reading<Proof> = { readonly proof: Proof } | { readonly problem: string }

/** Whether the payload asks for something other than the collection of a payment. */
export const isLifecycle = ({ type }: Readonly<Record<string, unknown>>): boolean => type !== undefined

/** Reads an untrusted payload. Ignores extra fields, never throws. */
export const readCollectProof = (proof: unknown): Reading<CollectProof> => {
  if (!isFields(proof)) return { problem: 'payload: must be an object' }
  const signature = readSignatureBytes(proof.signature)
  if (signature === null) return wrong('signature', `hex of at most ${maxSignatureBytes} bytes`)
  const salt = readWide(proof.salt)
  if (salt === null) return wrong('salt', 'a uint256')
  const saltNonce = proof.saltNonce === undefined ? null : readWide(proof.saltNonce)
  if (saltNonce === null && proof.saltNonce !== undefined) return wrong('saltNonce', 'a uint256')
  const isPermit = proof.authorization === undefined
  const authorization = isPermit ? readPermit(proof.permit2Authorization) : readTransfer(proof.authorization)
  if ('problem' in authorization) return authorization
  const charge = readCharge(proof)
  if (charge !== null && 'problem' in charge) return charge
  return { proof: { authorization, signature, salt, saltNonce, charge } }
}

const wrong = (field: string, expected: string): { readonly problem: string } => ({
  problem: `payload.${field}: must be ${expected}`,
})

const readTransfer = (fields: unknown): Authorization | { readonly problem: string } => {
  const path = 'authorization'
  if (!isFields(fields)) return wrong(path, 'an object')
  const from = readAddress(fields.from)
  if (from === null) return wrong(`${path}.from`, 'an EVM address')
  const collector = readAddress(fields.to)
  if (collector === null) return wrong(`${path}.to`, 'an EVM address')
  const value = readUint(fields.value, maxUint256)
  if (value === null) return wrong(`${path}.value`, 'a uint256 in decimal digits')
  const validAfter = readUint(fields.validAfter, maxUint256)
  if (validAfter === null) return wrong(`${path}.validAfter`, 'a uint256 in decimal digits')
  const validBefore = readUint(fields.validBefore, maxUint48)
  if (validBefore === null) return wrong(`${path}.validBefore`, 'a uint48 in decimal digits')
  const nonce = typeof fields.nonce === 'string' && wordForm.test(fields.nonce) ? BigInt(fields.nonce) : null
  if (nonce === null) return wrong(`${path}.nonce`, '32 bytes of hex')
  return { method: 'eip3009', from, collector, token: null, value, validAfter, validBefore, nonce }
}

const readPermit = (fields: unknown): Authorization | { readonly problem: string } => {
  const path = 'permit2Authorization'
  if (!isFields(fields)) return wrong(path, 'an object, unless `authorization` is one')
  const from = readAddress(fields.from)
  if (from === null) return wrong(`${path}.from`, 'an EVM address')
  if (!isFields(fields.permitted)) return wrong(`${path}.permitted`, 'an object')
  const token = readAddress(fields.permitted.token)
  if (token === null) return wrong(`${path}.permitted.token`, 'an EVM address')
  const value = readUint(fields.permitted.amount, maxUint256)
  if (value === null) return wrong(`${path}.permitted.amount`, 'a uint256 in decimal digits')
  const collector = readAddress(fields.spender)
  if (collector === null) return wrong(`${path}.spender`, 'an EVM address')
  const nonce = readUint(fields.nonce, maxUint256)
  if (nonce === null) return wrong(`${path}.nonce`, 'a uint256 in decimal digits')
  const validBefore = readUint(fields.deadline, maxUint48)
  if (validBefore === null) return wrong(`${path}.deadline`, 'a uint48 in decimal digits')
  return { method: 'permit2', from, collector, token, value, validAfter: 0n, validBefore, nonce }
}

const chargeFields = ['amount', 'fee', 'feeReceiver', 'authorizerSignature'] as const

/** Null where none of its fields is there, as in what clients send. */
const readCharge = (
  proof: Readonly<Record<string, unknown>>,
): Charge | null | { readonly problem: string } => {
  if (chargeFields.every((field) => proof[field] === undefined)) return null
  const amount = readUint(proof.amount, maxUint256)
  if (amount === null) return wrong('amount', 'a uint256 in decimal digits')
  const fee = readFee(proof)
  if ('problem' in fee) return fee
  const authorizerSignature = readSignatureBytes(proof.authorizerSignature)
  if (authorizerSignature === null) return wrong('authorizerSignature', 'hex bytes')
  return { amount, ...fee, authorizerSignature }
}

const readFee = ({
  fee,
  feeReceiver,
}: Readonly<Record<string, unknown>>): Fee | { readonly problem: string } => {
  const read = readUint(fee, maxUint256)
  if (read === null) return wrong('fee', 'a uint256 in decimal digits')
  const receiver = readAddress(feeReceiver)
  return receiver === null ? wrong('feeReceiver', 'an EVM address') : { fee: read, feeReceiver: receiver }
}

/** Reads an untrusted payload of a capture, a void or a refund. Never throws. */
export const readLifecycleProof = (proof: unknown): Reading<LifecycleProof> => {
  if (!isFields(proof)) return { problem: 'payload: must be an object' }
  const { type } = proof
  if (type !== 'capture' && type !== 'void' && type !== 'refund') {
    return wrong('type', '`capture`, `void` or `refund`, or absent')
  }
  const info = readInfo(proof.paymentInfo)
  if ('problem' in info) return info
  const saltNonce = proof.saltNonce === undefined ? null : readWide(proof.saltNonce)
  if (saltNonce === null && proof.saltNonce !== undefined) return wrong('saltNonce', 'a uint256')
  const authorizerSignature = readOptionalBytes(proof.authorizerSignature)
  if (authorizerSignature === false) return wrong('authorizerSignature', 'hex bytes')
  const bound = { info, saltNonce, authorizerSignature }
  if (type === 'void') return { proof: { type, ...bound } }

  const amount = readUint(proof.amount, maxUint256)
  if (amount === null) return wrong('amount', 'a uint256 in decimal digits')
  const expectedCapturable = readUint(proof.expectedCapturableAmount, maxUint120)
  if (expectedCapturable === null) return wrong('expectedCapturableAmount', 'a uint120 in decimal digits')
  const expectedRefundable = readUint(proof.expectedRefundableAmount, maxUint120)
  if (expectedRefundable === null) return wrong('expectedRefundableAmount', 'a uint120 in decimal digits')
  const moved = { ...bound, amount, expectedCapturable, expectedRefundable }
  if (type === 'refund') return { proof: { type, ...moved } }

  const fee = readFee(proof)
  if ('problem' in fee) return fee
  const voidAuthorizerSignature = readOptionalBytes(proof.voidAuthorizerSignature)
  if (voidAuthorizerSignature === false) return wrong('voidAuthorizerSignature', 'hex bytes')
  return { proof: { type, ...moved, ...fee, voidAuthorizerSignature } }
}

const readInfo = (fields: unknown): PaymentInfo | { readonly problem: string } => {
  const path = 'paymentInfo'
  if (!isFields(fields)) return wrong(path, 'an object')
  const addresses = ['operator', 'payer', 'receiver', 'token', 'feeReceiver'] as const
  const [operator, payer, receiver, token, feeReceiver] = addresses.map((name) => readAddress(fields[name]))
  if (operator == null || payer == null || receiver == null || token == null || feeReceiver == null) {
    return wrong(path, `an object with the addresses ${addresses.join(', ')}`)
  }
  const maxAmount = readUint(fields.maxAmount, maxUint120)
  if (maxAmount === null) return wrong(`${path}.maxAmount`, 'a uint120 in decimal digits')
  const times = ['preApprovalExpiry', 'authorizationExpiry', 'refundExpiry'] as const
  const [preApprovalExpiry, authorizationExpiry, refundExpiry] = times.map((name) =>
    readUint(fields[name], maxUint48),
  )
  if (preApprovalExpiry == null || authorizationExpiry == null || refundExpiry == null) {
    return wrong(path, `an object with the Unix seconds ${times.join(', ')}`)
  }
  const minFeeBps = readUint(fields.minFeeBps, 65_535n)
  const maxFeeBps = readUint(fields.maxFeeBps, 65_535n)
  if (minFeeBps === null || maxFeeBps === null) return wrong(path, 'an object with minFeeBps and maxFeeBps')
  const salt = readWide(fields.salt)
  if (salt === null) return wrong(`${path}.salt`, 'a uint256')
  return {
    operator,
    payer,
    receiver,
    token,
    maxAmount,
    preApprovalExpiry: Number(preApprovalExpiry),
    authorizationExpiry: Number(authorizationExpiry),
    refundExpiry: Number(refundExpiry),
    minFeeBps: Number(minFeeBps),
    maxFeeBps: Number(maxFeeBps),
    feeReceiver,
    salt,
  }
}

const wordForm = /^0x[0-9a-fA-F]{64}$/

/** Salts travel as 32 bytes of hex; servers may state them in decimal digits. */
const readWide = (value: unknown): bigint | null =>
  typeof value === 'string' && wordForm.test(value) ? BigInt(value) : readUint(value, maxUint256)

const readSignatureBytes = (text: unknown): Hex | null =>
  typeof text === 'string' && text.length <= 2 + 2 * maxSignatureBytes && signatureForm.test(text)
    ? `0x${text.slice(2).toLowerCase()}`
    : null

/** Null where it is absent, false where it is malformed. */
const readOptionalBytes = (text: unknown): Hex | null | false =>
  text === undefined || text === null || text === '' ? null : (readSignatureBytes(text) ?? false)
