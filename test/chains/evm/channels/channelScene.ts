import { type Address, getAddress, type Hex, serializeErc6492Signature, zeroAddress } from 'viem'
import { randomAddress, randomHex } from '../../../support/evm/authorization.js'
import {
  batchSettlementAbi,
  batchSettlementAddress,
  type ChannelConfig,
  channelConfig,
  channelIdOf,
  signClaim,
  signClaimBatch,
  signErc3009Deposit,
  signPermit2Deposit,
  signRefund,
  signVoucher,
  type VoucherClaim,
  type WireErc3009Deposit,
} from '../../../support/evm/channels.js'
import { callContract } from '../../../support/evm/contractCalls.js'
import type { LocalChain } from '../../../support/evm/localChain.js'
import type { WireRequirements } from '../../../support/evm/payment.js'
import { setUsdcAllowance } from '../../../support/evm/permit2.js'
import { createEoa, type EoaWallet, type PayerWallet } from '../../../support/evm/wallets.js'

/* Channels as payers and servers use them, signed by the tests' own typed data. */

export const prefixed = (reason: string) => `invalid_batch_settlement_evm_${reason}`

type Payload = Readonly<Record<string, unknown>>

export interface ChannelBody {
  readonly x402Version: 2
  readonly paymentPayload: {
    readonly x402Version: 2
    readonly accepted: WireRequirements
    readonly payload: Payload
  }
  readonly paymentRequirements: WireRequirements
}

export interface ChannelPlan {
  readonly wallet?: PayerWallet
  /** Signs vouchers; default: a key of its own, as the published client suggests. Null: the payer's account. */
  readonly voucherKey?: PayerWallet | null
  readonly authorizer?: EoaWallet
  readonly payTo?: Address
  readonly token?: Address
  readonly config?: Partial<ChannelConfig>
  /** Of one request, in smallest units. */
  readonly price?: bigint
  readonly extra?: Readonly<Record<string, unknown>>
}

/** What signing needs: no running chain. */
type SigningChain = Pick<LocalChain, 'chainId' | 'network' | 'token'>

export interface Channel<Chain extends SigningChain = LocalChain> {
  readonly chain: Chain
  readonly config: ChannelConfig
  readonly id: Hex
  readonly wallet: PayerWallet
  readonly voucherSigner: PayerWallet
  readonly authorizer: EoaWallet
  readonly requirements: WireRequirements
}

export const planChannel = <Chain extends SigningChain>(
  chain: Chain,
  {
    wallet = createEoa(),
    voucherKey = createEoa(),
    authorizer = createEoa(),
    payTo = getAddress(randomAddress()),
    token = chain.token.verifyingContract,
    config: changes = {},
    price = 1_000n,
    extra = {},
  }: ChannelPlan = {},
): Channel<Chain> => {
  const config = channelConfig({
    payer: wallet.address,
    payerAuthorizer: voucherKey?.address ?? zeroAddress,
    receiver: payTo,
    receiverAuthorizer: authorizer.address,
    token,
    salt: randomHex(32),
    ...changes,
  })
  const { name, version } = chain.token
  return {
    chain,
    config,
    id: channelIdOf(chain.chainId, config),
    wallet,
    voucherSigner: voucherKey ?? wallet,
    authorizer,
    requirements: {
      scheme: 'batch-settlement',
      network: chain.network,
      amount: String(price),
      asset: token,
      payTo,
      maxTimeoutSeconds: 300,
      extra: {
        name,
        version,
        receiverAuthorizer: authorizer.address,
        withdrawDelay: config.withdrawDelay,
        ...extra,
      },
    },
  }
}

export const bodyOf = (requirements: WireRequirements, payload: Payload): ChannelBody => ({
  x402Version: 2,
  paymentPayload: { x402Version: 2, accepted: requirements, payload },
  paymentRequirements: requirements,
})

export const withPayload = (
  { paymentRequirements, paymentPayload }: ChannelBody,
  changes: Payload,
): ChannelBody => bodyOf(paymentRequirements, { ...paymentPayload.payload, ...changes })

/** After signing: the payer signed for other requirements. */
export const withRequirements = (
  { paymentRequirements, paymentPayload }: ChannelBody,
  changes: Partial<WireRequirements>,
): ChannelBody => bodyOf({ ...paymentRequirements, ...changes }, paymentPayload.payload)

export const withExtra = (
  { paymentRequirements, paymentPayload }: ChannelBody,
  changes: Payload,
): ChannelBody =>
  bodyOf(
    { ...paymentRequirements, extra: { ...paymentRequirements.extra, ...changes } },
    paymentPayload.payload,
  )

export const wireVoucher = async (
  { chain, config, id, voucherSigner }: Channel<SigningChain>,
  ceiling: bigint,
  signature?: Hex,
) => ({
  channelId: id,
  maxClaimableAmount: String(ceiling),
  signature: signature ?? (await signVoucher(chain, voucherSigner, config, ceiling)),
})

export interface DepositPlan {
  readonly amount?: bigint
  /** Of the voucher; default: the price of one request. */
  readonly ceiling?: bigint
  readonly method?: 'eip3009' | 'permit2'
  /** The payer's balance before; default: the amount. */
  readonly balance?: bigint
  /** Changes what is signed. */
  readonly authorization?: Readonly<Record<string, unknown>>
  /** Whether the payer has approved Permit2; default: true. */
  readonly isApproved?: boolean
  /** Wraps the signature of ERC-3009 with the wallet's deployment (ERC-6492). */
  readonly isWrapped?: boolean
}

export const depositBody = async (channel: Channel, plan: DepositPlan = {}): Promise<ChannelBody> => {
  const { chain, wallet } = channel
  const { method, balance = plan.amount ?? usualDeposit, isApproved = true } = plan
  if (balance > 0n) await chain.mint(wallet.address, balance)
  if (method === 'permit2' && isApproved) await setUsdcAllowance(chain, wallet.address)
  return await signedDeposit(channel, plan)
}

const usualDeposit = 10_000n

/** The same where the payer has what it needs. */
export const signedDeposit = async (
  channel: Channel<SigningChain>,
  {
    amount = usualDeposit,
    ceiling = BigInt(channel.requirements.amount),
    method = 'eip3009',
    authorization: changes = {},
    isWrapped = false,
  }: DepositPlan = {},
): Promise<ChannelBody> => {
  const { chain, config, wallet, requirements } = channel
  const toSign = { wallet, config, amount }
  const wrap = (signed: WireErc3009Deposit): WireErc3009Deposit =>
    isWrapped ? { ...signed, signature: wrapSignature(wallet, signed.signature) } : signed
  const authorization =
    method === 'permit2'
      ? { permit2Authorization: (await signPermit2Deposit(chain, toSign, changes)).authorization }
      : { erc3009Authorization: wrap((await signErc3009Deposit(chain, toSign, changes)).authorization) }
  const isPermit = method === 'permit2'
  const asked = isPermit
    ? { ...requirements, extra: { ...requirements.extra, assetTransferMethod: 'permit2' } }
    : requirements
  return bodyOf(asked, {
    type: 'deposit',
    channelConfig: config,
    voucher: await wireVoucher(channel, ceiling),
    deposit: { amount: String(amount), authorization },
  })
}

const wrapSignature = ({ deployment }: PayerWallet, signature: Hex): Hex => {
  if (deployment === null) throw new Error('The wallet has no factory')
  const { factory: address, factoryData: data } = deployment
  return serializeErc6492Signature({ address, data, signature })
}

/** As any account may submit it, without this service. */
export const depositOnChain = async (channel: Channel, amount: bigint): Promise<void> => {
  const { chain, config, wallet } = channel
  await chain.mint(wallet.address, amount)
  const { collector, collectorData } = await signErc3009Deposit(chain, { wallet, config, amount })
  await callSettlement(channel, randomAddress(), 'deposit', [config, amount, collector, collectorData])
}

/** One that was opened without this service. */
export const openChannelOnChain = async (
  chain: LocalChain,
  plan: ChannelPlan = {},
  amount = 10_000n,
): Promise<Channel> => {
  const channel = planChannel(chain, plan)
  await depositOnChain(channel, amount)
  return channel
}

/** A call of the settlement by any account. */
export const callSettlement = async (
  { chain }: Pick<Channel, 'chain'>,
  from: Address,
  functionName: string,
  args: readonly unknown[],
): Promise<void> => {
  const call = { from, to: batchSettlementAddress, abi: batchSettlementAbi, functionName, args } as const
  const { error } = await callContract(chain, call)
  if (error !== null) throw new Error(`${functionName} reverts: ${error}`)
}

export const voucherBody = async (
  channel: Channel<SigningChain>,
  ceiling: bigint,
  signature?: Hex,
): Promise<ChannelBody> =>
  bodyOf(channel.requirements, {
    type: 'voucher',
    channelConfig: channel.config,
    voucher: await wireVoucher(channel, ceiling, signature),
  })

/** What the client sends. */
export const refundBody = async (channel: Channel<SigningChain>, charged: bigint): Promise<ChannelBody> =>
  withPayload(await voucherBody(channel, charged), { type: 'refund' })

/** The requirements of the published server's channel manager. */
export const managerRequirements = ({
  network,
  asset,
  payTo,
}: Pick<WireRequirements, 'network' | 'asset' | 'payTo'>): WireRequirements => ({
  scheme: 'batch-settlement',
  network,
  asset,
  amount: '0',
  payTo,
  maxTimeoutSeconds: 0,
  extra: {},
})

const toWire = ({ voucher, signature, totalClaimed }: VoucherClaim) => ({
  voucher: { channel: voucher.channel, maxClaimableAmount: String(voucher.maxClaimableAmount) },
  signature,
  totalClaimed: String(totalClaimed),
})

/** A row that claims the whole ceiling by default. */
export const rowOf = (
  channel: Channel<SigningChain>,
  ceiling: bigint,
  total: bigint = ceiling,
): Promise<VoucherClaim> => signClaim(channel.chain, channel.voucherSigner, channel.config, ceiling, total)

export const claimBody = async (
  { chain, authorizer, requirements }: Channel<SigningChain>,
  rows: readonly VoucherClaim[],
  changes: Payload = {},
): Promise<ChannelBody> =>
  bodyOf(managerRequirements(requirements), {
    type: 'claim',
    claims: rows.map(toWire),
    claimAuthorizerSignature: await signClaimBatch(chain, authorizer, rows),
    ...changes,
  })

export const sweepBody = ({ requirements }: Channel<SigningChain>, changes: Payload = {}): ChannelBody =>
  bodyOf(managerRequirements(requirements), {
    type: 'settle',
    receiver: requirements.payTo,
    token: requirements.asset,
    ...changes,
  })

/** What the server makes of a refund, with what the payer owes. */
export const refundOrder = async (
  channel: Channel<SigningChain>,
  { charged = 0n, amount, nonce = 0n }: { charged?: bigint; amount: bigint; nonce?: bigint },
  changes: Payload = {},
): Promise<ChannelBody> => {
  const { chain, authorizer, config } = channel
  const rows = charged === 0n ? [] : [await rowOf(channel, charged)]
  return withPayload(await refundBody(channel, charged), {
    amount: String(amount),
    refundNonce: String(nonce),
    claims: rows.map(toWire),
    refundAuthorizerSignature: await signRefund(chain, authorizer, config, { nonce, amount }),
    ...(rows.length === 0 ? {} : { claimAuthorizerSignature: await signClaimBatch(chain, authorizer, rows) }),
    ...changes,
  })
}
