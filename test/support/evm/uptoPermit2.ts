import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { randomAddress, randomHex, unixNow } from './authorization.js'
import type { PaymentChain, WireRequirements, WireResource } from './payment.js'
import { permit2Address, uptoProxyAddress, type WirePermit } from './permit2.js'
import type { PayerWallet } from './wallets.js'

interface WireUptoPermit extends Omit<WirePermit, 'witness'> {
  readonly witness: { readonly to: Address; readonly facilitator: Address; readonly validAfter: string }
}

interface WireUptoProof {
  readonly signature: Hex
  readonly permit2Authorization: WireUptoPermit
}

/** The body of `/verify` and `/settle`, version 2. */
export interface UptoPaymentBody {
  readonly x402Version: 2
  readonly paymentPayload: {
    readonly x402Version: 2
    readonly resource: WireResource
    readonly accepted: WireRequirements
    readonly payload: WireUptoProof
    readonly extensions?: Readonly<Record<string, unknown>>
  }
  readonly paymentRequirements: WireRequirements
  readonly settleAmount?: string
}

export interface UptoPaymentOptions {
  readonly chain: PaymentChain
  readonly wallet: PayerWallet
  readonly facilitator: Address
  readonly payTo?: Address
  /** Maximum, in smallest units. */
  readonly amount?: bigint
  /** Changes before signing. */
  readonly permit?: Partial<WireUptoPermit>
  /** Changes to the requirements, including the accepted copy. */
  readonly requirements?: Partial<WireRequirements>
}

const uptoTypes = {
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
    { name: 'facilitator', type: 'address' },
    { name: 'validAfter', type: 'uint256' },
  ],
} as const

/** Typed data of a permit with the witness of x402's proxy for upto. */
export const uptoTypedData = (chainId: number, permit: WireUptoPermit) =>
  ({
    domain: { name: 'Permit2', chainId, verifyingContract: permit2Address },
    types: uptoTypes,
    primaryType: 'PermitWitnessTransferFrom',
    message: {
      permitted: { token: permit.permitted.token, amount: BigInt(permit.permitted.amount) },
      spender: permit.spender,
      nonce: BigInt(permit.nonce),
      deadline: BigInt(permit.deadline),
      witness: { ...permit.witness, validAfter: BigInt(permit.witness.validAfter) },
    },
  }) as const

/** As a resource server sends it to `/verify`; at `/settle` x402 puts the charge into `paymentRequirements`. */
export const uptoPayment = async (options: UptoPaymentOptions): Promise<UptoPaymentBody> => {
  const { chain, wallet, facilitator, payTo = randomAddress(), amount = 10_000n } = options
  const { name, version, chainId, verifyingContract } = chain.token
  const requirements: WireRequirements = {
    scheme: 'upto',
    network: chain.network,
    amount: String(amount),
    asset: verifyingContract,
    payTo,
    maxTimeoutSeconds: 300,
    extra: { name, version, assetTransferMethod: 'permit2', facilitatorAddress: facilitator },
    ...options.requirements,
  }
  const permit: WireUptoPermit = {
    from: wallet.address,
    permitted: { token: verifyingContract, amount: String(amount) },
    spender: uptoProxyAddress,
    nonce: String(BigInt(randomHex(32))),
    deadline: String(unixNow() + 300),
    witness: { to: payTo, facilitator, validAfter: '0' },
    ...options.permit,
  }
  const signature = await wallet.signTypedData(uptoTypedData(chainId, permit))
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      resource: { url: 'https://merchant.example/report', description: 'A report', mimeType: 'text/plain' },
      accepted: requirements,
      payload: { signature, permit2Authorization: permit },
    },
    paymentRequirements: requirements,
  }
}

/** As x402's servers ask for a charge: in the place of the maximum. */
export const chargeOnly = (body: UptoPaymentBody, charge: bigint): UptoPaymentBody => ({
  ...body,
  paymentRequirements: { ...body.paymentRequirements, amount: String(charge) },
})

const uptoAbi = parseAbi([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct Witness { address to; address facilitator; uint256 validAfter; }',
  'function settle(PermitTransferFrom permit, uint256 amount, address owner, Witness witness, bytes signature)',
])

/** Calldata of the proxy's `settle`. */
export const encodeCharge = ({ paymentPayload }: UptoPaymentBody, charge: bigint): Hex => {
  const { signature, permit2Authorization: permit } = paymentPayload.payload
  return encodeFunctionData({
    abi: uptoAbi,
    functionName: 'settle',
    args: [
      {
        permitted: { token: permit.permitted.token, amount: BigInt(permit.permitted.amount) },
        nonce: BigInt(permit.nonce),
        deadline: BigInt(permit.deadline),
      },
      charge,
      permit.from,
      { ...permit.witness, validAfter: BigInt(permit.witness.validAfter) },
      signature,
    ],
  })
}
