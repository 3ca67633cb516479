import { type Hex, maxUint256 } from 'viem'
import { readUint256 } from '../../../protocol/amount.js'
import { type Fields, isFields } from '../../../protocol/fields.js'
import { readAddress } from '../abi/address.js'
import { maxSignatureBytes, signatureForm } from '../signatures/signature.js'
import { type ChannelConfig, maxUint128, type VoucherClaim } from './contract.js'

/** A ceiling that the payer signed; cumulative, in smallest units. */
export interface Voucher {
  readonly config: ChannelConfig
  /** As stated: whether it is the hash of the config is a rule. */
  readonly channelId: Hex
  readonly maxClaimable: bigint
  readonly signature: Hex
}

/** How the payer lets a collector pull a deposit; times in Unix seconds. */
export type DepositAuthorization =
  | {
      readonly method: 'eip3009'
      readonly validAfter: bigint
      readonly validBefore: bigint
      readonly salt: Hex
      readonly signature: Hex
    }
  | {
      readonly method: 'permit2'
      readonly from: Hex
      readonly token: Hex
      readonly amount: bigint
      readonly spender: Hex
      readonly nonce: bigint
      readonly deadline: bigint
      readonly channelId: Hex
      readonly signature: Hex
    }

export interface DepositProof extends Voucher {
  readonly type: 'deposit'
  readonly amount: bigint
  /** Those that are there: the requirements choose, else the form. */
  readonly eip3009: Extract<DepositAuthorization, { readonly method: 'eip3009' }> | null
  readonly permit2: Extract<DepositAuthorization, { readonly method: 'permit2' }> | null
}

export interface RefundProof extends Voucher {
  readonly type: 'refund'
  /** Null in what the client sends, where the server decides. */
  readonly amount: bigint | null
  /** What the server adds; null in what the client sends. */
  readonly order: RefundOrder | null
}

export interface RefundOrder {
  readonly amount: bigint
  readonly nonce: bigint
  readonly claims: readonly VoucherClaim[]
  /** Null where the receiver's authorizer did not sign. */
  readonly refundSignature: Hex | null
  readonly claimSignature: Hex | null
}

export type ChannelProof =
  | DepositProof
  | RefundProof
  | (Voucher & { readonly type: 'voucher' })
  | {
      readonly type: 'claim'
      readonly claims: readonly VoucherClaim[]
      readonly signature: Hex | null
    }
  | { readonly type: 'settle'; readonly receiver: Hex; readonly token: Hex }

type ProofType = ChannelProof['type']

export type ProofReading =
  | { readonly proof: ChannelProof }
  /** Null type: the payload names none that exists. */
  | { readonly type: ProofType | null; readonly problem: string }

/** So many rows take about 1.8 million gas. The published server sends as many. */
export const maxClaims = 100

class Malformed extends Error {}

/** Reads an untrusted payload. Ignores extra fields, never throws. */
export const readChannelProof = (proof: Fields): ProofReading => {
  const { type } = proof
  if (!isProofType(type)) {
    const problem = 'payload.type: must be `deposit`, `voucher`, `refund`, `claim` or `settle`'
    return { type: null, problem }
  }
  try {
    return { proof: readers[type](proof) }
  } catch (error) {
    if (error instanceof Malformed) return { type, problem: error.message }
    throw error
  }
}

const readDeposit = (proof: Fields): ChannelProof => {
  const deposit = readFields(proof.deposit, 'deposit')
  const authorization = readFields(deposit.authorization, 'deposit.authorization')
  const { erc3009Authorization, permit2Authorization } = authorization
  return {
    type: 'deposit',
    ...readVoucher(proof),
    amount: readAmount(deposit.amount, 'deposit.amount'),
    eip3009: erc3009Authorization === undefined ? null : readReceive(erc3009Authorization),
    permit2: permit2Authorization === undefined ? null : readPermit(permit2Authorization),
  }
}

const readRefund = (proof: Fields): ChannelProof => {
  const { amount, refundNonce, claims, refundAuthorizerSignature, claimAuthorizerSignature } = proof
  const asked = amount === undefined ? null : readAmount(amount, 'amount')
  const isOrder = refundNonce !== undefined && claims !== undefined
  if (isOrder && asked === null) throw wrong('amount', amountText)
  const order =
    !isOrder || asked === null
      ? null
      : {
          amount: asked,
          nonce: readWide(refundNonce, 'refundNonce'),
          claims: readClaims(claims, 'claims', 0),
          refundSignature: readOptionalSignature(refundAuthorizerSignature, 'refundAuthorizerSignature'),
          claimSignature: readOptionalSignature(claimAuthorizerSignature, 'claimAuthorizerSignature'),
        }
  return { type: 'refund', ...readVoucher(proof), amount: asked, order }
}

const readers: Readonly<Record<ProofType, (proof: Fields) => ChannelProof>> = {
  deposit: readDeposit,
  voucher: (proof) => ({ type: 'voucher', ...readVoucher(proof) }),
  refund: readRefund,
  claim: (proof) => ({
    type: 'claim',
    claims: readClaims(proof.claims, 'claims', 1),
    signature: readOptionalSignature(proof.claimAuthorizerSignature, 'claimAuthorizerSignature'),
  }),
  settle: (proof) => ({
    type: 'settle',
    receiver: readAddressAt(proof.receiver, 'receiver'),
    token: readAddressAt(proof.token, 'token'),
  }),
}

const isProofType = (type: unknown): type is ProofType =>
  typeof type === 'string' && Object.hasOwn(readers, type)

const readVoucher = (proof: Fields): Voucher => {
  const voucher = readFields(proof.voucher, 'voucher')
  return {
    config: readConfig(proof.channelConfig, 'channelConfig'),
    channelId: readBytes32(voucher.channelId, 'voucher.channelId'),
    maxClaimable: readAmount(voucher.maxClaimableAmount, 'voucher.maxClaimableAmount'),
    signature: readSignatureAt(voucher.signature, 'voucher.signature'),
  }
}

const readConfig = (value: unknown, path: string): ChannelConfig => {
  const fields = readFields(value, path)
  const { withdrawDelay } = fields
  const isDelay = typeof withdrawDelay === 'number' && Number.isInteger(withdrawDelay)
  // It is part of the channel's id as a uint40.
  if (!isDelay || withdrawDelay < 0 || withdrawDelay >= 2 ** 40) {
    throw wrong(`${path}.withdrawDelay`, 'a whole number of seconds')
  }
  return {
    payer: readAddressAt(fields.payer, `${path}.payer`),
    payerAuthorizer: readAddressAt(fields.payerAuthorizer, `${path}.payerAuthorizer`),
    receiver: readAddressAt(fields.receiver, `${path}.receiver`),
    receiverAuthorizer: readAddressAt(fields.receiverAuthorizer, `${path}.receiverAuthorizer`),
    token: readAddressAt(fields.token, `${path}.token`),
    withdrawDelay,
    salt: readBytes32(fields.salt, `${path}.salt`),
  }
}

/** The rows are counted before any of them is read. */
const readClaims = (value: unknown, path: string, least: number): readonly VoucherClaim[] => {
  if (!Array.isArray(value) || value.length < least || value.length > maxClaims) {
    throw wrong(path, `an array of ${least} to ${maxClaims} rows`)
  }
  return value.map((row: unknown, index) => {
    const at = `${path}.${index}`
    const fields = readFields(row, at)
    const voucher = readFields(fields.voucher, `${at}.voucher`)
    return {
      config: readConfig(voucher.channel, `${at}.voucher.channel`),
      maxClaimable: readAmount(voucher.maxClaimableAmount, `${at}.voucher.maxClaimableAmount`),
      signature: readSignatureAt(fields.signature, `${at}.signature`),
      totalClaimed: readAmount(fields.totalClaimed, `${at}.totalClaimed`),
    }
  })
}

const readReceive = (value: unknown): DepositProof['eip3009'] => {
  const path = 'deposit.authorization.erc3009Authorization'
  const fields = readFields(value, path)
  return {
    method: 'eip3009',
    validAfter: readWide(fields.validAfter, `${path}.validAfter`),
    validBefore: readWide(fields.validBefore, `${path}.validBefore`),
    salt: readBytes32(fields.salt, `${path}.salt`),
    signature: readSignatureAt(fields.signature, `${path}.signature`),
  }
}

const readPermit = (value: unknown): DepositProof['permit2'] => {
  const path = 'deposit.authorization.permit2Authorization'
  const fields = readFields(value, path)
  const permitted = readFields(fields.permitted, `${path}.permitted`)
  const witness = readFields(fields.witness, `${path}.witness`)
  return {
    method: 'permit2',
    from: readAddressAt(fields.from, `${path}.from`),
    token: readAddressAt(permitted.token, `${path}.permitted.token`),
    amount: readWide(permitted.amount, `${path}.permitted.amount`),
    spender: readAddressAt(fields.spender, `${path}.spender`),
    nonce: readWide(fields.nonce, `${path}.nonce`),
    deadline: readWide(fields.deadline, `${path}.deadline`),
    channelId: readBytes32(witness.channelId, `${path}.witness.channelId`),
    signature: readSignatureAt(fields.signature, `${path}.signature`),
  }
}

const wrong = (path: string, expected: string): Malformed =>
  new Malformed(`payload.${path}: must be ${expected}`)

const readFields = (value: unknown, path: string): Fields => {
  if (isFields(value)) return value
  throw wrong(path, 'an object')
}

const readAddressAt = (value: unknown, path: string): Hex => {
  const address = readAddress(value)
  if (address === null) throw wrong(path, 'an EVM address')
  return address
}

const wordForm = /^0x[0-9a-fA-F]{64}$/

const readBytes32 = (value: unknown, path: string): Hex => {
  if (typeof value !== 'string' || !wordForm.test(value)) throw wrong(path, '32 bytes of hex')
  return `0x${value.slice(2).toLowerCase()}`
}

const amountText = 'a uint128 in decimal digits'

/** A JSON number would not survive 2^53: the published client and server send text. */
const readDigits = (value: unknown, highest: bigint): bigint | null => {
  const number = typeof value === 'string' ? readUint256(value) : null
  return number !== null && number <= highest ? number : null
}

const readAmount = (value: unknown, path: string): bigint => {
  const amount = readDigits(value, maxUint128)
  if (amount === null) throw wrong(path, amountText)
  return amount
}

const readWide = (value: unknown, path: string): bigint => {
  const number = readDigits(value, maxUint256)
  if (number === null) throw wrong(path, 'a uint256 in decimal digits')
  return number
}

const readSignatureAt = (value: unknown, path: string): Hex => {
  const isSignature =
    typeof value === 'string' && value.length <= 2 + 2 * maxSignatureBytes && signatureForm.test(value)
  if (!isSignature) throw wrong(path, `hex of at most ${maxSignatureBytes} bytes`)
  return `0x${value.slice(2).toLowerCase()}`
}

const readOptionalSignature = (value: unknown, path: string): Hex | null =>
  value === undefined || value === null || value === '' ? null : readSignatureAt(value, path)
