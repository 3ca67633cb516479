import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client'
import {
  type Address,
  encodeAbiParameters,
  type Hex,
  keccak256,
  parseAbiParameters,
  serializeErc6492Signature,
  type TypedDataDefinition,
  toHex,
  zeroAddress,
} from 'viem'
import { z } from 'zod'
import { randomAddress, unixNow } from '../../../support/evm/authorization.js'
import type { LocalChain } from '../../../support/evm/localChain.js'
import type { WireRequirements } from '../../../support/evm/payment.js'
import { setUsdcAllowance } from '../../../support/evm/permit2.js'
import { createEoa, type EoaWallet, type PayerWallet } from '../../../support/evm/wallets.js'

/** Published addresses. Not imported from the product. */
export const published = {
  '1.1': {
    escrow: '0xf96815976523E00e65Be8f34cA5e64b4f41EB19c',
    eip3009: '0x8612dfdc421f80336cd14E8EF9cb1E765dB5ab88',
    permit2: '0xD69831Aed5bfe262067ec4c751f4F830EcdD446e',
    refund: '0x7a03443724d14798c4AB4622F1DAAcA761Fea486',
  },
  '1.0': {
    escrow: '0xBdEA0D1bcC5966192B070Fdf62aB4EF5b4420cff',
    eip3009: '0x0E3dF9510de65469C4518D7843919c0b8C7A7757',
    permit2: '0x992476B9Ee81d52a5BdA0622C333938D0Af0aB26',
    refund: '0x934907bffd0901b6A21e398B9C53A4A38F02fa5d',
  },
} as const

/** In the place of an escrow that is there and answers nothing. */
export const revertingCode = '0x60006000fd'

export type Version = keyof typeof published

/** The terms of a payment, as the escrow hashes them. */
export interface Info {
  readonly operator: Address
  readonly payer: Address
  readonly receiver: Address
  readonly token: Address
  readonly maxAmount: string
  readonly preApprovalExpiry: number
  readonly authorizationExpiry: number
  readonly refundExpiry: number
  readonly minFeeBps: number
  readonly maxFeeBps: number
  readonly feeReceiver: Address
  readonly salt: Hex
}

const infoType = keccak256(
  toHex(
    'PaymentInfo(address operator,address payer,address receiver,address token,uint120 maxAmount,uint48 preApprovalExpiry,uint48 authorizationExpiry,uint48 refundExpiry,uint16 minFeeBps,uint16 maxFeeBps,address feeReceiver,uint256 salt)',
  ),
)

/** The escrow's hash of a payment, by the general encoder. */
export const hashInfo = (chainId: number, escrow: Address, info: Info): Hex => {
  const inner = encodeAbiParameters(
    parseAbiParameters(
      'bytes32, address, address, address, address, uint120, uint48, uint48, uint48, uint16, uint16, address, uint256',
    ),
    [
      infoType,
      info.operator,
      info.payer,
      info.receiver,
      info.token,
      BigInt(info.maxAmount),
      info.preApprovalExpiry,
      info.authorizationExpiry,
      info.refundExpiry,
      info.minFeeBps,
      info.maxFeeBps,
      info.feeReceiver,
      BigInt(info.salt),
    ],
  )
  return keccak256(
    encodeAbiParameters(parseAbiParameters('uint256, address, bytes32'), [
      BigInt(chainId),
      escrow,
      keccak256(inner),
    ]),
  )
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
    hash: hashInfo(chain.chainId, published[version].escrow, info),
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

interface Balances {
  readonly capturable: bigint
  readonly refundable: bigint
}

interface SigningOptions {
  readonly chainId: number
  /** Who signs; default: the payment's authorizer. */
  readonly signer?: EoaWallet
}

const domainOf = ({ info }: Hold, { chainId }: SigningOptions) => ({
  name: 'x402 Auth Capture Operator',
  version: '1',
  chainId,
  verifyingContract: info.operator,
})

const feeFieldOf = ({ version }: Hold) =>
  version === '1.1' ? { name: 'feeAmount', type: 'uint256' } : { name: 'feeBps', type: 'uint16' }

const balanceFields = [
  { name: 'expectedCapturableAmount', type: 'uint256' },
  { name: 'expectedRefundableAmount', type: 'uint256' },
]

/** A charge states the amount at settle. */
export const signCharge = async (
  hold: Hold,
  options: SigningOptions & {
    readonly amount?: bigint
    readonly fee?: bigint
    readonly feeReceiver?: Address
  },
): Promise<CaptureBody> => {
  const {
    amount = BigInt(hold.info.maxAmount),
    fee = 0n,
    feeReceiver = zeroAddress,
    signer = hold.authorizer,
  } = options
  const { payload } = hold.body.paymentPayload
  const collectors = published[hold.version]
  const feeField = feeFieldOf(hold)
  const authorizerSignature = await signer.signTypedData({
    domain: domainOf(hold, options),
    primaryType: 'Charge',
    types: {
      Charge: [
        { name: 'paymentInfoHash', type: 'bytes32' },
        { name: 'amount', type: 'uint256' },
        { name: 'tokenCollector', type: 'address' },
        { name: 'collectorDataHash', type: 'bytes32' },
        feeField,
        { name: 'feeReceiver', type: 'address' },
      ],
    },
    message: {
      paymentInfoHash: hold.hash,
      amount,
      tokenCollector: payload.authorization === undefined ? collectors.permit2 : collectors.eip3009,
      collectorDataHash: keccak256(asHex(payload.signature)),
      [feeField.name]: fee,
      feeReceiver,
    },
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
  const { amount, fee = 0n, feeReceiver = zeroAddress, signer = hold.authorizer } = options
  const feeField = feeFieldOf(hold)
  const authorizerSignature = await signer.signTypedData({
    domain: domainOf(hold, options),
    primaryType: 'Capture',
    types: {
      Capture: [
        { name: 'paymentInfoHash', type: 'bytes32' },
        { name: 'amount', type: 'uint256' },
        feeField,
        { name: 'feeReceiver', type: 'address' },
        ...balanceFields,
      ],
    },
    message: {
      paymentInfoHash: hold.hash,
      amount,
      [feeField.name]: fee,
      feeReceiver,
      expectedCapturableAmount: capturable,
      expectedRefundableAmount: refundable,
    },
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
  const { amount, signer = hold.authorizer } = options
  const authorizerSignature = await signer.signTypedData({
    domain: domainOf(hold, options),
    primaryType: 'Refund',
    types: {
      Refund: [
        { name: 'paymentInfoHash', type: 'bytes32' },
        { name: 'amount', type: 'uint256' },
        { name: 'tokenCollector', type: 'address' },
        ...balanceFields,
      ],
    },
    message: {
      paymentInfoHash: hold.hash,
      amount,
      tokenCollector: published[hold.version].refund,
      expectedCapturableAmount: capturable,
      expectedRefundableAmount: refundable,
    },
  })
  return lifecycleBody(hold, {
    type: 'refund',
    amount: String(amount),
    expectedCapturableAmount: String(capturable),
    expectedRefundableAmount: String(refundable),
    authorizerSignature,
  })
}

export const signVoidDigest = (hold: Hold, options: SigningOptions): Promise<Hex> =>
  (options.signer ?? hold.authorizer).signTypedData({
    domain: domainOf(hold, options),
    primaryType: 'Void',
    types: { Void: [{ name: 'paymentInfoHash', type: 'bytes32' }] },
    message: { paymentInfoHash: hold.hash },
  })

export const signVoid = async (hold: Hold, options: SigningOptions): Promise<CaptureBody> =>
  lifecycleBody(hold, { type: 'void', authorizerSignature: await signVoidDigest(hold, options) })
