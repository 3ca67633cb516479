import {
  type Address,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  keccak256,
  maxUint256,
  numberToHex,
  parseAbi,
} from 'viem'
import { getArtifact, getPermit2Code } from '../contracts/artifacts.js'
import { randomAddress, randomHex, unixNow } from './authorization.js'
import { callRpc, callRpcBatch } from './jsonRpc.js'
import type { LocalChain } from './localChain.js'
import type { PaymentChain, WireRequirements, WireResource } from './payment.js'
import type { EoaWallet, PayerWallet } from './wallets.js'

/** Published addresses, the same on every chain. Not imported from the product. */
export const permit2Address = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
export const exactProxyAddress = '0x402085c248EeA27D92E8b30b2C58ed07f9E20001'
export const uptoProxyAddress = '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002'

export const permit2Abi = parseAbi([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct SignatureTransferDetails { address to; uint256 requestedAmount; }',
  'struct Witness { address to; uint256 validAfter; }',
  'function settle(PermitTransferFrom permit, address owner, Witness witness, bytes signature)',
  'function permitTransferFrom(PermitTransferFrom permit, SignatureTransferDetails transferDetails, address owner, bytes signature)',
  'function invalidateUnorderedNonces(uint256 wordPos, uint256 mask)',
  'function nonceBitmap(address owner, uint256 wordPos) view returns (uint256)',
  'function approve(address spender, uint256 value)',
])

/** Permit2 with its published code, and x402's proxies of our own source, at the published addresses. */
export const deployPermit2 = async (url: string): Promise<void> => {
  const args = [permit2Address]
  const creations = [
    { address: exactProxyAddress, data: encodeDeployData({ ...getArtifact('ExactPermit2Proxy'), args }) },
    { address: uptoProxyAddress, data: encodeDeployData({ ...getArtifact('UptoPermit2Proxy'), args }) },
  ]
  const codes = await callRpcBatch(
    url,
    creations.map(({ data }) => ({ method: 'eth_call', params: [{ data }, 'latest'] })),
  )
  await callRpcBatch(url, [
    { method: 'anvil_setCode', params: [permit2Address, getPermit2Code()] },
    ...creations.map(({ address }, index) => ({ method: 'anvil_setCode', params: [address, codes[index]] })),
  ])
}

/** As on a chain where none was deployed. */
export const removePermit2 = async (url: string): Promise<void> => {
  await callRpc(url, 'anvil_setCode', [permit2Address, '0x'])
  await callRpc(url, 'anvil_setCode', [exactProxyAddress, '0x'])
  await callRpc(url, 'anvil_setCode', [uptoProxyAddress, '0x'])
}

export interface WirePermit {
  readonly from: Address
  readonly permitted: { readonly token: Address; readonly amount: string }
  readonly spender: Address
  readonly nonce: string
  readonly deadline: string
  readonly witness: { readonly to: Address; readonly validAfter: string }
}

export interface WirePermitProof {
  readonly signature: Hex
  readonly permit2Authorization: WirePermit
}

/** The body of `/verify` and `/settle`, version 2. */
export interface PermitPaymentBody {
  readonly x402Version: 2
  readonly paymentPayload: {
    readonly x402Version: 2
    readonly resource: WireResource
    readonly accepted: WireRequirements
    readonly payload: WirePermitProof
  }
  readonly paymentRequirements: WireRequirements
}

export interface PermitPaymentOptions {
  readonly chain: PaymentChain
  readonly wallet: PayerWallet
  readonly payTo?: Address
  /** Required and permitted amount, in smallest units. */
  readonly amount?: bigint
  /** Changes before signing. */
  readonly permit?: Partial<WirePermit>
  /** Changes to the requirements, including the accepted copy. */
  readonly requirements?: Partial<WireRequirements>
  /** Replaces the payer's signature. */
  readonly signature?: Hex
}

const permitTypes = {
  PermitWitnessTransferFrom: [
    { name: 'permitted', type: 'TokenPermissions' },
    { name: 'spender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
    { name: 'witness', type: 'Witness' },
  ],
  TokenPermissions: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
  Witness: [
    { name: 'to', type: 'address' },
    { name: 'validAfter', type: 'uint256' },
  ],
} as const

/** Typed data of a permit with the witness of x402's proxy. */
export const permitTypedData = (chainId: number, permit: WirePermit) =>
  ({
    domain: { name: 'Permit2', chainId, verifyingContract: permit2Address },
    types: permitTypes,
    primaryType: 'PermitWitnessTransferFrom',
    message: {
      permitted: { token: permit.permitted.token, amount: BigInt(permit.permitted.amount) },
      spender: permit.spender,
      nonce: BigInt(permit.nonce),
      deadline: BigInt(permit.deadline),
      witness: { to: permit.witness.to, validAfter: BigInt(permit.witness.validAfter) },
    },
  }) as const

/** As a resource server sends it to `/verify` and `/settle`. */
export const permitPayment = async (options: PermitPaymentOptions): Promise<PermitPaymentBody> => {
  const { chain, wallet, payTo = randomAddress(), amount = 10_000n } = options
  const { name, version, chainId, verifyingContract } = chain.token
  const requirements: WireRequirements = {
    scheme: 'exact',
    network: chain.network,
    amount: String(amount),
    asset: verifyingContract,
    payTo,
    maxTimeoutSeconds: 300,
    extra: { name, version, assetTransferMethod: 'permit2' },
    ...options.requirements,
  }
  const permit: WirePermit = {
    from: wallet.address,
    permitted: { token: verifyingContract, amount: String(amount) },
    spender: exactProxyAddress,
    nonce: String(BigInt(randomHex(32))),
    deadline: String(unixNow() + 300),
    witness: { to: payTo, validAfter: '0' },
    ...options.permit,
  }
  const signature = options.signature ?? (await wallet.signTypedData(permitTypedData(chainId, permit)))
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      resource: {
        url: 'https://merchant.example/report',
        description: 'A report',
        mimeType: 'application/json',
      },
      accepted: requirements,
      payload: { signature, permit2Authorization: permit },
    },
    paymentRequirements: requirements,
  }
}

/** Calldata of the proxy's `settle`. */
export const encodeSettle = ({ paymentPayload }: PermitPaymentBody): Hex => {
  const { signature, permit2Authorization: permit } = paymentPayload.payload
  return encodeFunctionData({
    abi: permit2Abi,
    functionName: 'settle',
    args: [
      {
        permitted: { token: permit.permitted.token, amount: BigInt(permit.permitted.amount) },
        nonce: BigInt(permit.nonce),
        deadline: BigInt(permit.deadline),
      },
      permit.from,
      { to: permit.witness.to, validAfter: BigInt(permit.witness.validAfter) },
      signature,
    ],
  })
}

/** The payer's own transaction that permits Permit2 to move a token. */
export const approvePermit2 = async (
  chain: LocalChain,
  wallet: EoaWallet,
  token: Address,
  value: bigint = maxUint256,
): Promise<void> => {
  await chain.fundGas(wallet.address)
  const data = encodeFunctionData({
    abi: permit2Abi,
    functionName: 'approve',
    args: [permit2Address, value],
  })
  const { status } = await chain.send({ account: wallet.account, to: token, data })
  if (status !== 'success') throw new Error('The token refused the approval')
}

// FiatTokenV2_2's storage: 10 the allowances, by owner and spender.
const allowanceSlot = (owner: Address): Hex => {
  const inner = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [owner, 10n]))
  return keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'bytes32' }], [permit2Address, inner]))
}

/** Sets what Permit2 may take of an owner's USDC, immediately and without a transaction. */
export const setUsdcAllowance = (
  { control, token }: LocalChain,
  owner: Address,
  value: bigint = maxUint256,
): Promise<void> =>
  control.setStorageAt(token.verifyingContract, allowanceSlot(owner), numberToHex(value, { size: 32 }))

/** Whether a payment's nonce is used. */
export const isNonceUsed = async (
  { client }: LocalChain,
  { paymentPayload }: PermitPaymentBody,
): Promise<boolean> => {
  const { from, nonce } = paymentPayload.payload.permit2Authorization
  const bitmap = await client.readContract({
    address: permit2Address,
    abi: permit2Abi,
    functionName: 'nonceBitmap',
    args: [from, BigInt(nonce) >> 8n],
  })
  return ((bitmap >> (BigInt(nonce) & 0xffn)) & 1n) === 1n
}

/** The payer spends a permit's nonce on a transfer of other terms, directly by Permit2, which emits no event. */
export const spendNonceElsewhere = async (
  chain: LocalChain,
  wallet: EoaWallet,
  { nonce, deadline, permitted: { token } }: Pick<WirePermit, 'nonce' | 'deadline' | 'permitted'>,
  { to = randomAddress(), amount = 1n }: { readonly to?: Address; readonly amount?: bigint } = {},
): Promise<void> => {
  await chain.fundGas(wallet.address)
  const permit = { permitted: { token, amount }, nonce: BigInt(nonce), deadline: BigInt(deadline) }
  const { PermitWitnessTransferFrom: fields, TokenPermissions } = permitTypes
  const signature = await wallet.signTypedData({
    domain: { name: 'Permit2', chainId: chain.chainId, verifyingContract: permit2Address },
    types: { PermitTransferFrom: fields.slice(0, 4), TokenPermissions },
    primaryType: 'PermitTransferFrom',
    message: { ...permit, spender: wallet.address },
  })
  const { status } = await chain.send({
    account: wallet.account,
    to: permit2Address,
    data: encodeFunctionData({
      abi: permit2Abi,
      functionName: 'permitTransferFrom',
      args: [permit, { to, requestedAmount: amount }, wallet.address, signature],
    }),
  })
  if (status !== 'success') throw new Error('Permit2 refused the transfer')
}
