import {
  type Address,
  encodeAbiParameters,
  encodeDeployData,
  getAddress,
  type Hex,
  hashTypedData,
  keccak256,
  parseAbi,
  parseAbiParameters,
  zeroAddress,
  zeroHash,
} from 'viem'
import { getArtifact } from '../contracts/artifacts.js'
import { randomAddress, randomHex, unixNow } from './authorization.js'
import { placeContracts } from './contractCalls.js'
import type { LocalChain } from './localChain.js'
import { permit2Address } from './permit2.js'
import type { PayerWallet } from './wallets.js'

/** Published addresses, the same on every chain. Not imported from the product. */
export const batchSettlementAddress = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003'
export const erc3009DepositCollectorAddress = '0x4020806089470a89826cB9fB1f4059150b550004'
export const permit2DepositCollectorAddress = '0x4020425FAf3B746C082C2f942b4E5159887B0005'

/** Of the settlement, with the errors of its collectors and of OpenZeppelin. */
export const batchSettlementAbi = parseAbi([
  'struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'struct Voucher { ChannelConfig channel; uint128 maxClaimableAmount; }',
  'struct VoucherClaim { Voucher voucher; bytes signature; uint128 totalClaimed; }',
  'function deposit(ChannelConfig config, uint128 amount, address collector, bytes collectorData)',
  'function claim(VoucherClaim[] voucherClaims)',
  'function claimWithSignature(VoucherClaim[] voucherClaims, bytes authorizerSignature)',
  'function settle(address receiver, address token)',
  'function refund(ChannelConfig config, uint128 amount)',
  'function refundWithSignature(ChannelConfig config, uint128 amount, uint256 nonce, bytes receiverAuthorizerSignature)',
  'function initiateWithdraw(ChannelConfig config, uint128 amount)',
  'function finalizeWithdraw(ChannelConfig config)',
  'function multicall(bytes[] data) returns (bytes[] results)',
  'function channels(bytes32 channelId) view returns (uint128 balance, uint128 totalClaimed)',
  'function pendingWithdrawals(bytes32 channelId) view returns (uint128 amount, uint40 initiatedAt)',
  'function receivers(address receiver, address token) view returns (uint128 totalClaimed, uint128 totalSettled)',
  'function refundNonce(bytes32 channelId) view returns (uint256)',
  'function getChannelId(ChannelConfig config) view returns (bytes32)',
  'function getVoucherDigest(bytes32 channelId, uint128 maxClaimableAmount) view returns (bytes32)',
  'function getRefundDigest(bytes32 channelId, uint256 nonce, uint128 amount) view returns (bytes32)',
  'function getClaimBatchDigest(VoucherClaim[] voucherClaims) view returns (bytes32)',
  'event ChannelCreated(bytes32 indexed channelId, ChannelConfig config)',
  'event ChannelClosed(bytes32 indexed channelId, ChannelConfig config)',
  'event Deposited(bytes32 indexed channelId, address indexed sender, uint128 amount, uint128 newBalance)',
  'event Claimed(bytes32 indexed channelId, address indexed sender, uint128 claimAmount, uint128 newTotalClaimed)',
  'event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount)',
  'event Refunded(bytes32 indexed channelId, address indexed sender, uint128 amount)',
  'event WithdrawInitiated(bytes32 indexed channelId, uint128 amount, uint40 finalizeAfter)',
  'event WithdrawFinalized(bytes32 indexed channelId, address indexed sender, uint128 amount)',
  'error InvalidChannel()',
  'error ZeroDeposit()',
  'error DepositOverflow()',
  'error InvalidSignature()',
  'error NotReceiverAuthorizer()',
  'error NotAuthorizedToClaim()',
  'error NotAuthorizedToRefund()',
  'error ClaimExceedsCeiling()',
  'error ClaimExceedsBalance()',
  'error WithdrawalAlreadyPending()',
  'error WithdrawalNotPending()',
  'error NotAuthorizedToFinalizeWithdraw()',
  'error WithdrawDelayNotElapsed()',
  'error NothingToWithdraw()',
  'error WithdrawAmountExceedsAvailable()',
  'error WithdrawDelayOutOfRange()',
  'error EmptyBatch()',
  'error DepositCollectionFailed()',
  'error InvalidCollector()',
  'error InvalidRefundNonce()',
  'error ZeroRefund()',
  'error OnlyX402BatchSettlement()',
  'error Permit2612AmountMismatch()',
  'error ECDSAInvalidSignature()',
  'error ECDSAInvalidSignatureLength(uint256 length)',
  'error ECDSAInvalidSignatureS(bytes32 s)',
  'error SafeERC20FailedOperation(address token)',
  'error FailedCall()',
  'error ReentrancyGuardReentrantCall()',
])

/** The settlement and both collectors, of our own source, at the published addresses. */
export const deployBatchSettlement = (url: string): Promise<void> =>
  placeContracts(url, [
    { address: batchSettlementAddress, creation: encodeDeployData(getArtifact('X402BatchSettlement')) },
    {
      address: erc3009DepositCollectorAddress,
      creation: encodeDeployData({
        ...getArtifact('ERC3009DepositCollector'),
        args: [batchSettlementAddress],
      }),
    },
    {
      address: permit2DepositCollectorAddress,
      creation: encodeDeployData({
        ...getArtifact('Permit2DepositCollector'),
        args: [batchSettlementAddress, permit2Address],
      }),
    },
  ])

/** As the contract takes it; on the wire it is the same. */
export interface ChannelConfig {
  readonly payer: Address
  readonly payerAuthorizer: Address
  readonly receiver: Address
  readonly receiverAuthorizer: Address
  readonly token: Address
  /** Seconds. */
  readonly withdrawDelay: number
  readonly salt: Hex
}

/** With new addresses, and the payer as its own authorizer by its account (ERC-1271 or ECDSA). */
export const channelConfig = (overrides: Partial<ChannelConfig> = {}): ChannelConfig => ({
  payer: randomAddress(),
  payerAuthorizer: zeroAddress,
  receiver: getAddress(randomAddress()),
  receiverAuthorizer: randomAddress(),
  token: randomAddress(),
  withdrawDelay: 900,
  salt: zeroHash,
  ...overrides,
})

/** One row of a claim. */
export interface VoucherClaim {
  readonly voucher: { readonly channel: ChannelConfig; readonly maxClaimableAmount: bigint }
  readonly signature: Hex
  readonly totalClaimed: bigint
}

const domainOf = (chainId: number) =>
  ({
    name: 'x402 Batch Settlement',
    version: '1',
    chainId,
    verifyingContract: batchSettlementAddress,
  }) as const

export const channelIdOf = (chainId: number, config: ChannelConfig): Hex =>
  hashTypedData({
    domain: domainOf(chainId),
    types: {
      ChannelConfig: [
        { name: 'payer', type: 'address' },
        { name: 'payerAuthorizer', type: 'address' },
        { name: 'receiver', type: 'address' },
        { name: 'receiverAuthorizer', type: 'address' },
        { name: 'token', type: 'address' },
        { name: 'withdrawDelay', type: 'uint40' },
        { name: 'salt', type: 'bytes32' },
      ],
    },
    primaryType: 'ChannelConfig',
    message: config,
  })

export const voucherTypedData = (chainId: number, channelId: Hex, maxClaimableAmount: bigint) =>
  ({
    domain: domainOf(chainId),
    types: {
      Voucher: [
        { name: 'channelId', type: 'bytes32' },
        { name: 'maxClaimableAmount', type: 'uint128' },
      ],
    },
    primaryType: 'Voucher',
    message: { channelId, maxClaimableAmount },
  }) as const

export const refundTypedData = (chainId: number, channelId: Hex, nonce: bigint, amount: bigint) =>
  ({
    domain: domainOf(chainId),
    types: {
      Refund: [
        { name: 'channelId', type: 'bytes32' },
        { name: 'nonce', type: 'uint256' },
        { name: 'amount', type: 'uint128' },
      ],
    },
    primaryType: 'Refund',
    message: { channelId, nonce, amount },
  }) as const

/** One row of what the receiver's authorizer signs. */
interface ClaimEntry {
  readonly channelId: Hex
  readonly maxClaimableAmount: bigint
  readonly totalClaimed: bigint
}

export const claimBatchTypedData = (chainId: number, claims: readonly ClaimEntry[]) =>
  ({
    domain: domainOf(chainId),
    types: {
      ClaimBatch: [{ name: 'claims', type: 'ClaimEntry[]' }],
      ClaimEntry: [
        { name: 'channelId', type: 'bytes32' },
        { name: 'maxClaimableAmount', type: 'uint128' },
        { name: 'totalClaimed', type: 'uint128' },
      ],
    },
    primaryType: 'ClaimBatch',
    message: { claims },
  }) as const

/** By the payer's authorizer, or by the payer where there is none. */
export const signVoucher = (
  { chainId }: Pick<LocalChain, 'chainId'>,
  signer: PayerWallet,
  config: ChannelConfig,
  maxClaimableAmount: bigint,
): Promise<Hex> =>
  signer.signTypedData(voucherTypedData(chainId, channelIdOf(chainId, config), maxClaimableAmount))

/** A claim's row with its voucher; claims the whole ceiling by default. */
export const signClaim = async (
  chain: Pick<LocalChain, 'chainId'>,
  signer: PayerWallet,
  config: ChannelConfig,
  maxClaimableAmount: bigint,
  totalClaimed: bigint = maxClaimableAmount,
): Promise<VoucherClaim> => ({
  voucher: { channel: config, maxClaimableAmount },
  signature: await signVoucher(chain, signer, config, maxClaimableAmount),
  totalClaimed,
})

/** By the receiver's authorizer. */
export const signClaimBatch = (
  { chainId }: Pick<LocalChain, 'chainId'>,
  signer: PayerWallet,
  claims: readonly VoucherClaim[],
): Promise<Hex> =>
  signer.signTypedData(
    claimBatchTypedData(
      chainId,
      claims.map(({ voucher: { channel, maxClaimableAmount }, totalClaimed }) => ({
        channelId: channelIdOf(chainId, channel),
        maxClaimableAmount,
        totalClaimed,
      })),
    ),
  )

/** By the receiver's authorizer. */
export const signRefund = (
  { chainId }: Pick<LocalChain, 'chainId'>,
  signer: PayerWallet,
  config: ChannelConfig,
  { nonce, amount }: { readonly nonce: bigint; readonly amount: bigint },
): Promise<Hex> => signer.signTypedData(refundTypedData(chainId, channelIdOf(chainId, config), nonce, amount))

/** What a deposit is signed over. */
interface DepositToSign {
  readonly wallet: PayerWallet
  readonly config: ChannelConfig
  readonly amount: bigint
}

/** `authorization` as on the wire, and what the contract takes of it. */
interface SignedDeposit<Authorization> {
  readonly authorization: Authorization
  readonly collector: Address
  readonly collectorData: Hex
}

export interface WireErc3009Deposit {
  readonly validAfter: string
  readonly validBefore: string
  readonly salt: Hex
  readonly signature: Hex
}

const receiveTypes = {
  ReceiveWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** The nonce of the token that a deposit spends. */
export const erc3009DepositNonce = (channelId: Hex, salt: Hex): Hex =>
  keccak256(encodeAbiParameters(parseAbiParameters('bytes32, uint256'), [channelId, BigInt(salt)]))

/** Typed data of the token's `receiveWithAuthorization`. */
export const receiveTypedData = (
  domain: LocalChain['token'],
  message: {
    readonly from: Address
    readonly to: Address
    readonly value: bigint
    readonly validAfter: bigint
    readonly validBefore: bigint
    readonly nonce: Hex
  },
) =>
  ({ domain: { ...domain }, types: receiveTypes, primaryType: 'ReceiveWithAuthorization', message }) as const

export const encodeErc3009Deposit = (authorization: WireErc3009Deposit): Hex => {
  const { validAfter, validBefore, salt, signature } = authorization
  return encodeAbiParameters(parseAbiParameters('uint256, uint256, uint256, bytes'), [
    BigInt(validAfter),
    BigInt(validBefore),
    BigInt(salt),
    signature,
  ])
}

/** `chain.token` must be the channel's token. */
export const signErc3009Deposit = async (
  chain: Pick<LocalChain, 'chainId' | 'token'>,
  { wallet, config, amount }: DepositToSign,
  changes: Partial<WireErc3009Deposit> = {},
): Promise<SignedDeposit<WireErc3009Deposit>> => {
  const fields = { validAfter: '0', validBefore: String(unixNow() + 300), salt: randomHex(32), ...changes }
  const signature =
    changes.signature ??
    (await wallet.signTypedData(
      receiveTypedData(chain.token, {
        from: config.payer,
        to: erc3009DepositCollectorAddress,
        value: amount,
        validAfter: BigInt(fields.validAfter),
        validBefore: BigInt(fields.validBefore),
        nonce: erc3009DepositNonce(channelIdOf(chain.chainId, config), fields.salt),
      }),
    ))
  const authorization = { ...fields, signature }
  return {
    authorization,
    collector: erc3009DepositCollectorAddress,
    collectorData: encodeErc3009Deposit(authorization),
  }
}

export interface WirePermit2Deposit {
  readonly from: Address
  readonly permitted: { readonly token: Address; readonly amount: string }
  readonly spender: Address
  readonly nonce: string
  readonly deadline: string
  readonly witness: { readonly channelId: Hex }
  readonly signature: Hex
}

export const depositWitnessTypedData = (chainId: number, permit: Omit<WirePermit2Deposit, 'signature'>) =>
  ({
    domain: { name: 'Permit2', chainId, verifyingContract: permit2Address },
    types: {
      PermitWitnessTransferFrom: [
        { name: 'permitted', type: 'TokenPermissions' },
        { name: 'spender', type: 'address' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
        { name: 'witness', type: 'DepositWitness' },
      ],
      DepositWitness: [{ name: 'channelId', type: 'bytes32' }],
      TokenPermissions: [
        { name: 'token', type: 'address' },
        { name: 'amount', type: 'uint256' },
      ],
    },
    primaryType: 'PermitWitnessTransferFrom',
    message: {
      permitted: { token: permit.permitted.token, amount: BigInt(permit.permitted.amount) },
      spender: permit.spender,
      nonce: BigInt(permit.nonce),
      deadline: BigInt(permit.deadline),
      witness: permit.witness,
    },
  }) as const

/** `permit2612`: as `encodeDepositPermit` returns it. */
export const encodePermit2Deposit = (
  { nonce, deadline, signature }: WirePermit2Deposit,
  permit2612: Hex = '0x',
): Hex =>
  encodeAbiParameters(parseAbiParameters('uint256, uint256, bytes, bytes'), [
    BigInt(nonce),
    BigInt(deadline),
    signature,
    permit2612,
  ])

export const signPermit2Deposit = async (
  { chainId }: Pick<LocalChain, 'chainId'>,
  { wallet, config, amount }: DepositToSign,
  changes: Partial<WirePermit2Deposit> = {},
  permit2612: Hex = '0x',
): Promise<SignedDeposit<WirePermit2Deposit>> => {
  const permit: Omit<WirePermit2Deposit, 'signature'> = {
    from: config.payer,
    permitted: { token: config.token, amount: String(amount) },
    spender: permit2DepositCollectorAddress,
    nonce: String(BigInt(randomHex(32))),
    deadline: String(unixNow() + 300),
    witness: { channelId: channelIdOf(chainId, config) },
    ...changes,
  }
  const signature =
    changes.signature ?? (await wallet.signTypedData(depositWitnessTypedData(chainId, permit)))
  const authorization = { ...permit, signature }
  return {
    authorization,
    collector: permit2DepositCollectorAddress,
    collectorData: encodePermit2Deposit(authorization, permit2612),
  }
}

/** The EIP-2612 permit that a Permit2 deposit may carry. */
export const encodeDepositPermit = (permit: {
  readonly value: bigint
  readonly deadline: bigint
  readonly v: number
  readonly r: Hex
  readonly s: Hex
}): Hex =>
  encodeAbiParameters(parseAbiParameters('uint256, uint256, uint8, bytes32, bytes32'), [
    permit.value,
    permit.deadline,
    permit.v,
    permit.r,
    permit.s,
  ])

/** As in the latest block. */
export interface ChannelState {
  readonly balance: bigint
  readonly totalClaimed: bigint
  readonly withdrawal: { readonly amount: bigint; readonly initiatedAt: number }
  readonly refundNonce: bigint
}

const contract = { address: batchSettlementAddress, abi: batchSettlementAbi } as const

export const readChannel = async (
  { client, chainId }: LocalChain,
  config: ChannelConfig,
): Promise<ChannelState> => {
  const args = [channelIdOf(chainId, config)] as const
  const [[balance, totalClaimed], [amount, initiatedAt], refundNonce] = await Promise.all([
    client.readContract({ ...contract, functionName: 'channels', args }),
    client.readContract({ ...contract, functionName: 'pendingWithdrawals', args }),
    client.readContract({ ...contract, functionName: 'refundNonce', args }),
  ])
  return { balance, totalClaimed, withdrawal: { amount, initiatedAt }, refundNonce }
}

export const readReceiver = async (
  { client }: LocalChain,
  receiver: Address,
  token: Address,
): Promise<{ readonly totalClaimed: bigint; readonly totalSettled: bigint }> => {
  const [totalClaimed, totalSettled] = await client.readContract({
    ...contract,
    functionName: 'receivers',
    args: [receiver, token],
  })
  return { totalClaimed, totalSettled }
}
