import {
  type Address,
  encodeAbiParameters,
  encodeDeployData,
  getAddress,
  getContractAddress,
  type Hex,
  hashStruct,
  hexToBigInt,
  keccak256,
  parseAbi,
  parseAbiParameters,
  stringToHex,
  zeroAddress,
} from 'viem'
import { getArtifact } from '../contracts/artifacts.js'
import { randomAddress, randomHex, unixNow } from './authorization.js'
import { receiveTypedData } from './channels.js'
import { placeContracts } from './contractCalls.js'
import type { LocalChain } from './localChain.js'
import { permit2Address } from './permit2.js'
import type { PayerWallet } from './wallets.js'

const paymentInfoStruct =
  'struct PaymentInfo { address operator; address payer; address receiver; address token; uint120 maxAmount; uint48 preApprovalExpiry; uint48 authorizationExpiry; uint48 refundExpiry; uint16 minFeeBps; uint16 maxFeeBps; address feeReceiver; uint256 salt; }'

/** What both versions have, with the errors of their collectors and of OpenZeppelin. */
const sharedAbi = parseAbi([
  paymentInfoStruct,
  'function authorize(PaymentInfo paymentInfo, uint256 amount, address tokenCollector, bytes collectorData)',
  'function refund(PaymentInfo paymentInfo, uint256 amount, address tokenCollector, bytes collectorData)',
  'function void(PaymentInfo paymentInfo)',
  'function reclaim(PaymentInfo paymentInfo)',
  'function getHash(PaymentInfo paymentInfo) view returns (bytes32)',
  'function getTokenStore(address operator) view returns (address)',
  'function paymentState(bytes32 paymentInfoHash) view returns (bool hasCollectedPayment, uint120 capturableAmount, uint120 refundableAmount)',
  'event PaymentAuthorized(bytes32 indexed paymentInfoHash, PaymentInfo paymentInfo, uint256 amount, address tokenCollector)',
  'event PaymentVoided(bytes32 indexed paymentInfoHash, uint256 amount)',
  'event PaymentReclaimed(bytes32 indexed paymentInfoHash, uint256 amount)',
  'event PaymentRefunded(bytes32 indexed paymentInfoHash, uint256 amount, address tokenCollector)',
  'event TokenStoreCreated(address indexed operator, address tokenStore)',
  'error InvalidSender(address sender, address expected)',
  'error ZeroAmount()',
  'error AmountOverflow(uint256 amount, uint256 limit)',
  'error ExceedsMaxAmount(uint256 amount, uint256 maxAmount)',
  'error AfterPreApprovalExpiry(uint48 timestamp, uint48 expiry)',
  'error InvalidExpiries(uint48 preApproval, uint48 authorization, uint48 refund)',
  'error FeeBpsOverflow(uint16 feeBps)',
  'error InvalidFeeBpsRange(uint16 minFeeBps, uint16 maxFeeBps)',
  'error ZeroFeeReceiver()',
  'error InvalidFeeReceiver(address attempted, address expected)',
  'error InvalidCollectorForOperation()',
  'error TokenCollectionFailed()',
  'error PaymentAlreadyCollected(bytes32 paymentInfoHash)',
  'error AfterAuthorizationExpiry(uint48 timestamp, uint48 expiry)',
  'error InsufficientAuthorization(bytes32 paymentInfoHash, uint256 authorizedAmount, uint256 requestedAmount)',
  'error ZeroAuthorization(bytes32 paymentInfoHash)',
  'error BeforeAuthorizationExpiry(uint48 timestamp, uint48 expiry)',
  'error AfterRefundExpiry(uint48 timestamp, uint48 expiry)',
  'error RefundExceedsCapture(uint256 refund, uint256 captured)',
  'error OnlyAuthCaptureEscrow()',
  'error SafeERC20FailedOperation(address token)',
  'error Reentrancy()',
])

/** Published addresses, the same on Base and Base Sepolia. Not imported from the product. */
export const authCaptureV11 = {
  version: '1.1',
  escrow: '0xf96815976523E00e65Be8f34cA5e64b4f41EB19c',
  erc3009Collector: '0x8612dfdc421f80336cd14E8EF9cb1E765dB5ab88',
  permit2Collector: '0xD69831Aed5bfe262067ec4c751f4F830EcdD446e',
  refundCollector: '0x7a03443724d14798c4AB4622F1DAAcA761Fea486',
  abi: [
    ...sharedAbi,
    ...parseAbi([
      paymentInfoStruct,
      'function charge(PaymentInfo paymentInfo, uint256 amount, address tokenCollector, bytes collectorData, uint256 feeAmount, address feeReceiver)',
      'function capture(PaymentInfo paymentInfo, uint256 amount, uint256 feeAmount, address feeReceiver)',
      'event PaymentCharged(bytes32 indexed paymentInfoHash, PaymentInfo paymentInfo, uint256 amount, address tokenCollector, uint256 feeAmount, address feeReceiver)',
      'event PaymentCaptured(bytes32 indexed paymentInfoHash, uint256 amount, uint256 feeAmount, address feeReceiver)',
      'error FeeAmountOutOfRange(uint256 feeAmount, uint256 minFee, uint256 maxFee)',
    ]),
  ],
} as const

/** The operator states a rate instead of an amount. */
export const authCaptureV10 = {
  version: '1.0',
  escrow: '0xBdEA0D1bcC5966192B070Fdf62aB4EF5b4420cff',
  erc3009Collector: '0x0E3dF9510de65469C4518D7843919c0b8C7A7757',
  permit2Collector: '0x992476B9Ee81d52a5BdA0622C333938D0Af0aB26',
  refundCollector: '0x934907bffd0901b6A21e398B9C53A4A38F02fa5d',
  abi: [
    ...sharedAbi,
    ...parseAbi([
      paymentInfoStruct,
      'function charge(PaymentInfo paymentInfo, uint256 amount, address tokenCollector, bytes collectorData, uint16 feeBps, address feeReceiver)',
      'function capture(PaymentInfo paymentInfo, uint256 amount, uint16 feeBps, address feeReceiver)',
      'event PaymentCharged(bytes32 indexed paymentInfoHash, PaymentInfo paymentInfo, uint256 amount, address tokenCollector, uint16 feeBps, address feeReceiver)',
      'event PaymentCaptured(bytes32 indexed paymentInfoHash, uint256 amount, uint16 feeBps, address feeReceiver)',
      'error FeeBpsOutOfRange(uint16 feeBps, uint16 minFeeBps, uint16 maxFeeBps)',
    ]),
  ],
} as const

export type AuthCaptureSet = typeof authCaptureV10 | typeof authCaptureV11

// On every chain of x402.
const multicall3Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** Both published versions with their collectors, of our own source, at the published addresses. */
export const deployAuthCapture = (url: string): Promise<void> =>
  placeContracts(
    url,
    [authCaptureV10, authCaptureV11].flatMap((set) => {
      const { escrow } = set
      // Where the published constructor deploys it.
      const store = getContractAddress({ from: escrow, nonce: 1n })
      const name = set.version === '1.0' ? 'AuthCaptureEscrowV10' : 'AuthCaptureEscrowV11'
      return [
        { address: store, creation: encodeDeployData({ ...getArtifact('TokenStore'), args: [escrow] }) },
        { address: escrow, creation: encodeDeployData({ ...getArtifact(name), args: [store] }) },
        {
          address: set.erc3009Collector,
          creation: encodeDeployData({
            ...getArtifact('ERC3009PaymentCollector'),
            args: [escrow, multicall3Address],
          }),
        },
        {
          address: set.permit2Collector,
          creation: encodeDeployData({
            ...getArtifact('Permit2PaymentCollector'),
            args: [escrow, permit2Address, multicall3Address],
          }),
        },
        {
          address: set.refundCollector,
          creation: encodeDeployData({ ...getArtifact('OperatorRefundCollector'), args: [escrow] }),
        },
      ]
    }),
  )

/** Terms of a payment, as the contract takes them; times in Unix seconds. */
export interface PaymentInfo {
  readonly operator: Address
  readonly payer: Address
  readonly receiver: Address
  readonly token: Address
  readonly maxAmount: bigint
  readonly preApprovalExpiry: number
  readonly authorizationExpiry: number
  readonly refundExpiry: number
  readonly minFeeBps: number
  readonly maxFeeBps: number
  readonly feeReceiver: Address
  readonly salt: bigint
}

/** With new addresses and salt, no fee, and the expiries five minutes, one hour and one day ahead. */
export const paymentInfo = (overrides: Partial<PaymentInfo> = {}): PaymentInfo => ({
  operator: getAddress(randomAddress()),
  payer: getAddress(randomAddress()),
  receiver: getAddress(randomAddress()),
  token: getAddress(randomAddress()),
  maxAmount: 10_000n,
  preApprovalExpiry: unixNow() + 300,
  authorizationExpiry: unixNow() + 3_600,
  refundExpiry: unixNow() + 86_400,
  minFeeBps: 0,
  maxFeeBps: 0,
  feeReceiver: zeroAddress,
  salt: hexToBigInt(randomHex(32)),
  ...overrides,
})

const paymentInfoTypes = {
  PaymentInfo: [
    { name: 'operator', type: 'address' },
    { name: 'payer', type: 'address' },
    { name: 'receiver', type: 'address' },
    { name: 'token', type: 'address' },
    { name: 'maxAmount', type: 'uint120' },
    { name: 'preApprovalExpiry', type: 'uint48' },
    { name: 'authorizationExpiry', type: 'uint48' },
    { name: 'refundExpiry', type: 'uint48' },
    { name: 'minFeeBps', type: 'uint16' },
    { name: 'maxFeeBps', type: 'uint16' },
    { name: 'feeReceiver', type: 'address' },
    { name: 'salt', type: 'uint256' },
  ],
} as const

/** The payment's id on chain. */
export const paymentHashOf = (chainId: number, { escrow }: AuthCaptureSet, info: PaymentInfo): Hex => {
  const terms = hashStruct({ primaryType: 'PaymentInfo', types: paymentInfoTypes, data: { ...info } })
  return keccak256(
    encodeAbiParameters(parseAbiParameters('uint256, address, bytes32'), [BigInt(chainId), escrow, terms]),
  )
}

/** What the payer signs as nonce: the hash of all terms but the payer. */
export const paymentNonceOf = (chainId: number, set: AuthCaptureSet, info: PaymentInfo): Hex =>
  paymentHashOf(chainId, set, { ...info, payer: zeroAddress })

const saltBindingType = keccak256(
  stringToHex('x402AuthCaptureSaltBinding(address receiverAuthorizer,address policy,uint256 saltNonce)'),
)

/** A salt that binds a payment to its receiver's authorizer and its policy. */
export const bindSalt = (receiverAuthorizer: Address, policy: Address, saltNonce: bigint): bigint =>
  hexToBigInt(
    keccak256(
      encodeAbiParameters(parseAbiParameters('bytes32, address, address, uint256'), [
        saltBindingType,
        receiverAuthorizer,
        policy,
        saltNonce,
      ]),
    ),
  )

/** What a payer signs. */
interface PaymentToSign {
  readonly set: AuthCaptureSet
  readonly wallet: PayerWallet
  readonly info: PaymentInfo
}

/** On the wire. The contract takes the signature alone as its `collectorData`. */
export interface WireReceiveAuthorization {
  readonly from: Address
  readonly to: Address
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: Hex
}

/** `chain.token` must be the payment's token. */
export const signErc3009Payment = async (
  chain: Pick<LocalChain, 'chainId' | 'token'>,
  { set, wallet, info }: PaymentToSign,
): Promise<{ readonly authorization: WireReceiveAuthorization; readonly signature: Hex }> => {
  const authorization: WireReceiveAuthorization = {
    from: info.payer,
    to: set.erc3009Collector,
    value: String(info.maxAmount),
    validAfter: '0',
    validBefore: String(info.preApprovalExpiry),
    nonce: paymentNonceOf(chain.chainId, set, info),
  }
  const signature = await wallet.signTypedData(
    receiveTypedData(chain.token, {
      ...authorization,
      value: info.maxAmount,
      validAfter: 0n,
      validBefore: BigInt(info.preApprovalExpiry),
    }),
  )
  return { authorization, signature }
}

/** On the wire. */
export interface WirePermit2Payment {
  readonly from: Address
  readonly permitted: { readonly token: Address; readonly amount: string }
  readonly spender: Address
  readonly nonce: string
  readonly deadline: string
}

export const signPermit2Payment = async (
  { chainId }: Pick<LocalChain, 'chainId'>,
  { set, wallet, info }: PaymentToSign,
): Promise<{ readonly permit2Authorization: WirePermit2Payment; readonly signature: Hex }> => {
  const nonce = hexToBigInt(paymentNonceOf(chainId, set, info))
  const signature = await wallet.signTypedData({
    domain: { name: 'Permit2', chainId, verifyingContract: permit2Address },
    types: {
      PermitTransferFrom: [
        { name: 'permitted', type: 'TokenPermissions' },
        { name: 'spender', type: 'address' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
      TokenPermissions: [
        { name: 'token', type: 'address' },
        { name: 'amount', type: 'uint256' },
      ],
    },
    primaryType: 'PermitTransferFrom',
    message: {
      permitted: { token: info.token, amount: info.maxAmount },
      spender: set.permit2Collector,
      nonce,
      deadline: BigInt(info.preApprovalExpiry),
    },
  })
  const permit2Authorization: WirePermit2Payment = {
    from: info.payer,
    permitted: { token: info.token, amount: String(info.maxAmount) },
    spender: set.permit2Collector,
    nonce: String(nonce),
    deadline: String(info.preApprovalExpiry),
  }
  return { permit2Authorization, signature }
}

const balances = [
  { name: 'expectedCapturableAmount', type: 'uint256' },
  { name: 'expectedRefundableAmount', type: 'uint256' },
] as const

/** What the receiver's authorizer signs for the operator; version 1.0 has `feeBps` in place of `feeAmount`. */
export const operatorTypes = ({ version }: AuthCaptureSet) => {
  const fee = version === '1.0' ? { name: 'feeBps', type: 'uint16' } : { name: 'feeAmount', type: 'uint256' }
  return {
    Void: [{ name: 'paymentInfoHash', type: 'bytes32' }],
    Capture: [
      { name: 'paymentInfoHash', type: 'bytes32' },
      { name: 'amount', type: 'uint256' },
      fee,
      { name: 'feeReceiver', type: 'address' },
      ...balances,
    ],
    Refund: [
      { name: 'paymentInfoHash', type: 'bytes32' },
      { name: 'amount', type: 'uint256' },
      { name: 'tokenCollector', type: 'address' },
      ...balances,
    ],
    Charge: [
      { name: 'paymentInfoHash', type: 'bytes32' },
      { name: 'amount', type: 'uint256' },
      { name: 'tokenCollector', type: 'address' },
      { name: 'collectorDataHash', type: 'bytes32' },
      fee,
      { name: 'feeReceiver', type: 'address' },
    ],
  }
}

/** By the receiver's authorizer; `message` holds the fields of `operatorTypes`. */
export const signOperation = (
  { chainId }: Pick<LocalChain, 'chainId'>,
  signer: PayerWallet,
  operation: {
    readonly set: AuthCaptureSet
    readonly operator: Address
    readonly primaryType: 'Void' | 'Capture' | 'Refund' | 'Charge'
    readonly message: Record<string, unknown>
  },
): Promise<Hex> => {
  const { set, operator, primaryType, message } = operation
  const domain = { name: 'x402 Auth Capture Operator', version: '1', chainId, verifyingContract: operator }
  return signer.signTypedData({ domain, types: operatorTypes(set), primaryType, message })
}

/** As in the latest block. */
export const readPaymentState = async (
  { client, chainId }: LocalChain,
  set: AuthCaptureSet,
  info: PaymentInfo,
): Promise<{
  readonly hasCollectedPayment: boolean
  readonly capturableAmount: bigint
  readonly refundableAmount: bigint
}> => {
  const [hasCollectedPayment, capturableAmount, refundableAmount] = await client.readContract({
    address: set.escrow,
    abi: sharedAbi,
    functionName: 'paymentState',
    args: [paymentHashOf(chainId, set, info)],
  })
  return { hasCollectedPayment, capturableAmount, refundableAmount }
}
