import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client'
import {
  type Abi,
  type Address,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  keccak256,
  serializeErc6492Signature,
  type TypedDataDefinition,
  zeroAddress,
} from 'viem'
import { z } from 'zod'
import {
  type AuthCaptureSet,
  authCaptureV10,
  authCaptureV11,
  type PaymentInfo,
  paymentHashOf,
  readPaymentState,
  signOperation,
} from './authCapture.js'
import { randomAddress, unixNow } from './authorization.js'
import type { LocalChain } from './localChain.js'
import type { WireRequirements } from './payment.js'
import { setUsdcAllowance } from './permit2.js'
import { createEoa, type EoaWallet, type PayerWallet } from './wallets.js'

const sets = { '1.1': authCaptureV11, '1.0': authCaptureV10 } as const

const addressesOf = (set: AuthCaptureSet) => ({
  escrow: set.escrow,
  eip3009: set.erc3009Collector,
  permit2: set.permit2Collector,
  refund: set.refundCollector,
})

export const published = { '1.1': addressesOf(authCaptureV11), '1.0': addressesOf(authCaptureV10) } as const

export type Version = keyof typeof published

/** The terms of a payment, as they travel. */
export interface Info extends Omit<PaymentInfo, 'maxAmount' | 'salt'> {
  readonly maxAmount: string
  readonly salt: Hex
}

const toTerms = (info: Info): PaymentInfo => ({
  ...info,
  maxAmount: BigInt(info.maxAmount),
  salt: BigInt(info.salt),
})

/** What the escrow has of a hold. */
export const readHold = (chain: LocalChain, { version, info }: Hold) =>
  readPaymentState(chain, sets[version], toTerms(info))

/**
 * What a program other than the service does with a hold, by default as the operator. It needs no key. On an automining chain
 * it is mined when this returns, so that the next transaction of the account is not one in its place.
 */
export const callEscrow = async (
  { control }: LocalChain,
  { info, version }: Hold,
  call: {
    readonly functionName: 'authorize' | 'capture' | 'void' | 'reclaim'
    /** After the terms of the payment. */
    readonly args?: readonly unknown[]
    readonly from?: Address
  },
): Promise<Hex> => {
  const { functionName, args = [], from = info.operator } = call
  const { abi, escrow }: { readonly abi: Abi; readonly escrow: Address } = sets[version]
  const data = encodeFunctionData({ abi, functionName, args: [toTerms(info), ...args] })
  const hash = await control.sendAs({ from, to: escrow, data, gas: 500_000n })
  await control.waitForAutomine()
  return hash
}

/** The operator pays refunds of version 1.1 up to the amount. It needs no key, and uses one nonce. */
export const fundRefunds = async (chain: LocalChain, operator: Address, amount: bigint): Promise<void> => {
  await chain.mint(operator, amount)
  const args = [published['1.1'].refund, amount] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
  await chain.control.sendAs({ from: operator, to: chain.token.verifyingContract, data, gas: 100_000n })
  await chain.control.waitForAutomine()
}

/** Collects a payment by ERC-3009 without the service, which must not have used its account yet. */
export const collectDirectly = async (chain: LocalChain, hold: Hold): Promise<void> => {
  const { signature } = hold.body.paymentPayload.payload
  const args = [BigInt(hold.info.maxAmount), published[hold.version].eip3009, asHex(signature)]
  await callEscrow(chain, hold, { functionName: 'authorize', args })
}

type Payload = Readonly<Record<string, unknown>>

export interface CaptureBody {
  readonly x402Version: 2
  readonly paymentPayload: {
    readonly x402Version: 2
    readonly accepted: WireRequirements
    readonly payload: Payload
  }
  readonly paymentRequirements: WireRequirements
}

export interface HoldPlan {
  readonly version?: Version
  readonly method?: 'eip3009' | 'permit2'
  readonly flow?: 'escrow' | 'authorization'
  readonly amount?: bigint
  /** The payer's balance before the payment; default: the amount. */
  readonly balance?: bigint
  readonly wallet?: PayerWallet
  readonly payTo?: Address
  readonly authorizer?: EoaWallet
  /** Wraps the signature with the wallet's deployment (ERC-6492). */
  readonly isWrapped?: boolean
  /** Changes of the requirements before signing. */
  readonly extra?: Readonly<Record<string, unknown>>
  readonly requirements?: Partial<WireRequirements>
}

/** A payment with its parties. */
export interface Hold {
  readonly body: CaptureBody
  readonly version: Version
  readonly info: Info
  readonly hash: Hex
  readonly saltNonce: Hex
  readonly authorizer: EoaWallet
  readonly payTo: Address
  readonly payer: Address
}

const bodyOf = (requirements: WireRequirements, payload: Payload): CaptureBody => ({
  x402Version: 2,
  paymentPayload: { x402Version: 2, accepted: requirements, payload },
  paymentRequirements: requirements,
})

export const withPayload = (
  { paymentRequirements, paymentPayload }: CaptureBody,
  changes: Payload,
): CaptureBody => bodyOf(paymentRequirements, { ...paymentPayload.payload, ...changes })

/** After signing: the payer signed for other requirements. */
export const withExtra = (
  { paymentRequirements, paymentPayload }: CaptureBody,
  changes: Payload,
): CaptureBody =>
  bodyOf(
    { ...paymentRequirements, extra: { ...paymentRequirements.extra, ...changes } },
    paymentPayload.payload,
  )

/** A payment that x402's published client signs, by a new, funded payer. */
export const planHold = async (
  chain: LocalChain,
  operator: Address,
  {
    version = '1.1',
    method = 'eip3009',
    flow = 'escrow',
    amount = 10_000n,
    balance = amount,
    wallet = createEoa(),
    payTo = randomAddress(),
    authorizer = createEoa(),
    isWrapped = false,
    extra = {},
    requirements: changes = {},
  }: HoldPlan = {},
): Promise<Hold> => {
  await chain.mint(wallet.address, balance)
  if (method === 'permit2') await setUsdcAllowance(chain, wallet.address)
  const { name, version: tokenVersion, verifyingContract: asset } = chain.token
  const now = unixNow()
  const requirements: WireRequirements = {
    scheme: 'auth-capture',
    network: chain.network,
    amount: String(amount),
    asset,
    payTo,
    maxTimeoutSeconds: 300,
    extra: {
      name,
      version: tokenVersion,
      captureAuthorizer: operator,
      receiverAuthorizer: authorizer.address,
      captureDeadline: now + 3_600,
      refundDeadline: now + 7_200,
      feeRecipient: zeroAddress,
      minFeeBps: 0,
      maxFeeBps: 0,
      ...(method === 'permit2' ? { assetTransferMethod: method } : {}),
      ...(flow === 'escrow' ? {} : { paymentFlow: flow }),
      ...(version === '1.1' ? {} : { authCaptureEscrow: published[version].escrow }),
      ...extra,
    },
    ...changes,
  }
  const signed = await signHold(wallet, requirements)
  const payload = isWrapped ? wrapSignature(wallet, signed.payload) : signed.payload
  const info = readInfo(requirements, payload, wallet.address)
  return {
    body: bodyOf(requirements, payload),
    version,
    info,
    hash: paymentHashOf(chain.chainId, sets[version], toTerms(info)),
    saltNonce: asHex(payload.saltNonce),
    authorizer,
    payTo,
    payer: wallet.address,
  }
}

const wrapSignature = ({ deployment }: PayerWallet, payload: Payload): Payload => {
  if (deployment === null) throw new Error('The wallet has no factory')
  const { factory: address, factoryData: data } = deployment
  return {
    ...payload,
    signature: serializeErc6492Signature({ address, data, signature: asHex(payload.signature) }),
  }
}

/** The client's own interface does not say what its types are. */
const typedDataShape = z.custom<TypedDataDefinition>((value) => typeof value === 'object' && value !== null)

const signHold = async (wallet: PayerWallet, requirements: WireRequirements) => {
  const client = new AuthCaptureEvmScheme({
    address: wallet.address,
    signTypedData: (typedData) => wallet.signTypedData(typedDataShape.parse(typedData)),
  })
  const network: `${string}:${string}` = `eip155:${requirements.network.split(':')[1] ?? ''}`
  return await client.createPaymentPayload(2, {
    ...requirements,
    network,
    asset: requirements.asset,
    extra: { ...requirements.extra },
  })
}

export const asHex = (value: unknown): Hex => {
  if (typeof value !== 'string' || !value.startsWith('0x')) return '0x'
  return `0x${value.slice(2)}`
}

const readInfo = ({ extra, payTo, asset }: WireRequirements, payload: Payload, payer: Address): Info => {
  const transfer = Object(payload.authorization ?? payload.permit2Authorization)
  return {
    operator: asHex(extra.captureAuthorizer),
    payer,
    receiver: asHex(payTo),
    token: asHex(asset),
    maxAmount: String(transfer.value ?? transfer.permitted?.amount),
    preApprovalExpiry: Number(transfer.validBefore ?? transfer.deadline),
    authorizationExpiry: Number(extra.captureDeadline),
    refundExpiry: Number(extra.refundDeadline),
    minFeeBps: Number(extra.minFeeBps),
    maxFeeBps: Number(extra.maxFeeBps),
    feeReceiver: asHex(extra.feeRecipient),
    salt: asHex(payload.salt),
  }
}

/** Of a payment in the escrow, in smallest units. */
export interface Balances {
  readonly capturable: bigint
  readonly refundable: bigint
}

interface SigningOptions {
  readonly chainId: number
  /** Who signs; default: the payment's authorizer. */
  readonly signer?: EoaWallet
}

const sign = (
  { info, version, hash, authorizer }: Hold,
  { chainId, signer = authorizer }: SigningOptions,
  primaryType: 'Void' | 'Capture' | 'Refund' | 'Charge',
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Hex> =>
  signOperation({ chainId }, signer, {
    set: sets[version],
    operator: info.operator,
    primaryType,
    message: { paymentInfoHash: hash, ...fields },
  })

const nameFee = ({ version }: Hold) => (version === '1.1' ? 'feeAmount' : 'feeBps')

/** A charge states the amount at settle. */
export const signCharge = async (
  hold: Hold,
  options: SigningOptions & {
    readonly amount?: bigint
    readonly fee?: bigint
    readonly feeReceiver?: Address
  },
): Promise<CaptureBody> => {
  const { amount = BigInt(hold.info.maxAmount), fee = 0n, feeReceiver = zeroAddress } = options
  const { payload } = hold.body.paymentPayload
  const collectors = published[hold.version]
  const authorizerSignature = await sign(hold, options, 'Charge', {
    amount,
    tokenCollector: payload.authorization === undefined ? collectors.permit2 : collectors.eip3009,
    collectorDataHash: keccak256(asHex(payload.signature)),
    [nameFee(hold)]: fee,
    feeReceiver,
  })
  return withPayload(hold.body, {
    amount: String(amount),
    fee: String(fee),
    feeReceiver,
    authorizerSignature,
  })
}

const lifecycleBody = ({ body, info, saltNonce }: Hold, fields: Payload): CaptureBody =>
  bodyOf(body.paymentRequirements, { paymentInfo: info, saltNonce, ...fields })

export const signCapture = async (
  hold: Hold,
  { capturable, refundable }: Balances,
  options: SigningOptions & {
    readonly amount: bigint
    readonly fee?: bigint
    readonly feeReceiver?: Address
  },
): Promise<CaptureBody> => {
  const { amount, fee = 0n, feeReceiver = zeroAddress } = options
  const authorizerSignature = await sign(hold, options, 'Capture', {
    amount,
    [nameFee(hold)]: fee,
    feeReceiver,
    expectedCapturableAmount: capturable,
    expectedRefundableAmount: refundable,
  })
  return lifecycleBody(hold, {
    type: 'capture',
    amount: String(amount),
    fee: String(fee),
    feeReceiver,
    expectedCapturableAmount: String(capturable),
    expectedRefundableAmount: String(refundable),
    authorizerSignature,
  })
}

export const signRefund = async (
  hold: Hold,
  { capturable, refundable }: Balances,
  options: SigningOptions & { readonly amount: bigint },
): Promise<CaptureBody> => {
  const { amount } = options
  const authorizerSignature = await sign(hold, options, 'Refund', {
    amount,
    tokenCollector: published[hold.version].refund,
    expectedCapturableAmount: capturable,
    expectedRefundableAmount: refundable,
  })
  return lifecycleBody(hold, {
    type: 'refund',
    amount: String(amount),
    expectedCapturableAmount: String(capturable),
    expectedRefundableAmount: String(refundable),
    authorizerSignature,
  })
}

export const signVoid = async (hold: Hold, options: SigningOptions): Promise<CaptureBody> =>
  lifecycleBody(hold, { type: 'void', authorizerSignature: await sign(hold, options, 'Void') })
