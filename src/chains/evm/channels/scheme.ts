import type { Payment } from '../../../protocol/payment.js'
import type { Scheme, SettledState, Verification, VerifyOptions } from '../../../schemes/scheme.js'
import { isSameAddress } from '../abi/address.js'
import { asHex, readWord } from '../abi/words.js'
import { type CreateScheme, createPaymentMethod, type PaymentMethod, toRefusal } from '../paymentMethod.js'
import { tryCall } from '../rpc/rpc.js'
import { createDescribeToken } from '../tokens/tokenRegistry.js'
import { createChannelCare } from './care.js'
import { describeState } from './checks.js'
import { createPrepareClaim, formatClaimId, toRows } from './claim.js'
import { hashChannel, settlementAddress, topics } from './contract.js'
import { choosePull, createPrepareDeposit } from './deposit.js'
import { toJudgedDeposit } from './depositCall.js'
import { readDepositJudge } from './depositJudge.js'
import { createReadRequestJudge } from './judge.js'
import { readChannelProof } from './payload.js'
import type { ChannelDependencies, Prepare, PreparedChannelCall } from './prepared.js'
import { createPrepareRefund, formatRefundId } from './refund.js'
import { type ChannelSnapshots, createChannelSnapshots } from './snapshots.js'
import { decodeState, planStateRead } from './states.js'
import { createChannelStreams } from './streams.js'
import { createPrepareSweep } from './sweep.js'
import { createVerifyVoucher } from './voucher.js'

/**
 * `batch-settlement` on one network: the payer deposits once, then signs a higher ceiling for each request; the server claims
 * and sweeps what it charged. Servers bring a receiverAuthorizer of their own, or delegate that to this facilitator.
 */
export const createChannelScheme: CreateScheme = (dependencies) => {
  const { family, network, opened, tokens, channels, custody, rpc, clock } = dependencies
  const snapshots = createChannelSnapshots(rpc, family.channelSnapshots, clock)
  const describeToken = createDescribeToken(network, tokens)
  const identify = createIdentify(dependencies)
  const createMethod = (
    prepare: Prepare,
    readJudge: typeof readDepositJudge = createReadRequestJudge(dependencies),
  ): PaymentMethod =>
    createPaymentMethod<PreparedChannelCall>(dependencies, {
      prepare,
      isWalletAsked: (prepared) => prepared.isWalletAsked,
      findFailedCheck: (candidate) => candidate.recheck(candidate),
      identify,
      describe: ({ details }) => details,
      readJudge,
    })
  const deposit = createMethod(createPrepareDeposit(dependencies), readDepositJudge)
  const claim = createMethod(createPrepareClaim(dependencies))
  const settled: Readonly<Record<string, PaymentMethod>> = {
    deposit,
    claim,
    settle: createMethod(createPrepareSweep(dependencies)),
    refund: createMethod(createPrepareRefund(dependencies)),
  }
  const verifyVoucher = createVerifyVoucher(dependencies, snapshots)

  const verify = async (payment: Payment, options: VerifyOptions): Promise<Verification> => {
    const { type } = payment.proof
    const name = typeof type === 'string' ? type : ''
    if (name === 'deposit' || options.isForSettle === true) {
      const method = Object.hasOwn(settled, name) ? settled[name] : undefined
      return await (method ?? deposit).verify(payment, options)
    }
    return await verifyVoucher(payment, options)
  }

  const terms = custody.address === null ? {} : { receiverAuthorizer: custody.address }
  /** Servers read whether an unsigned refund is refused to others than the receiver. */
  const kindTerms = custody.address === null ? {} : { ...terms, delegatedRefund: true }

  const verifyOffered: Scheme['verify'] = async (payment, options) => {
    if (await channels.ask()) return await verify(payment, options)
    const unoffered = { reason: 'unsupported_scheme', message: unofferedMessage } as const
    options.trace?.note('scheme_served', unoffered)
    return toRefusal(null, unoffered)
  }

  return {
    kind: { scheme: 'batch-settlement', network: network.network },
    network: opened,
    journalClaims: null,
    settledState: createSettledState(dependencies, snapshots),
    describeKind: () =>
      channels.peek() === true ? { extra: { ...kindTerms, ...channelExtra }, extensions: [] } : null,
    describeAsset: async (asset) => {
      const described = (await channels.ask()) ? await describeToken(asset) : null
      return described === null ? null : { ...described, extra: { ...described.extra, ...terms } }
    },
    identify,
    ...(custody.address === null ? {} : { channelCare: createChannelCare(dependencies) }),
    continues,
    verify: verifyOffered,
    channelStreams: createChannelStreams(dependencies, snapshots, verifyOffered),
    resolve: (settlement, signal, options) =>
      (settlement.details.type === 'deposit' ? deposit : claim).resolve(settlement, signal, options),
  }
}

/** What was deposited before a pause is the receiver's, or returns to the payer. */
export const continues = ({ proof: { type } }: Pick<Payment, 'proof'>): boolean =>
  type === 'claim' || type === 'settle' || type === 'refund'

export const channelExtra = { assetTransferMethods: ['eip3009', 'permit2'] } as const

const unofferedMessage =
  "batch-settlement: this network lacks x402's settlement of channels; /supported does not list it"

/** A sweep has no identity of its own: what it pays depends on the chain. */
export const createIdentify =
  ({
    network,
  }: {
    readonly network: Pick<ChannelDependencies['network'], 'network' | 'chainId'>
  }): PaymentMethod['identify'] =>
  (payment) => {
    const reading = readChannelProof(payment.proof)
    if ('problem' in reading) return null
    const { proof } = reading
    switch (proof.type) {
      case 'deposit': {
        const pull = choosePull(proof, payment)
        return 'reason' in pull ? null : toJudgedDeposit(network.network, proof, pull).id
      }
      case 'claim':
        // As a payment it is refused, also where the same claim was made before.
        return payment.requirements.amount > 0n
          ? null
          : formatClaimId(network.network, toRows(proof.claims, network.chainId))
      case 'refund':
        return proof.order === null
          ? null
          : formatRefundId(network.network, proof.channelId, proof.order.nonce)
      case 'voucher':
      case 'settle':
        return null
    }
  }

/** Servers store what a deposit or a refund left in the channel: in the block that holds it, never before. */
const createSettledState = (
  { rpc, network }: Pick<ChannelDependencies, 'rpc' | 'network'>,
  snapshots: ChannelSnapshots,
): SettledState => ({
  describe: async ({ proof: fields }, transaction) => {
    const reading = readChannelProof(fields)
    if ('problem' in reading) return {}
    const { proof } = reading
    if (proof.type === 'claim') {
      for (const { config } of proof.claims) snapshots.forget(hashChannel(network.chainId, config))
      return { amount: '' }
    }
    if (proof.type !== 'deposit' && proof.type !== 'refund') return {}
    const { channelId } = proof
    snapshots.forget(channelId)
    const receipt = await rpc.getReceipt(asHex(transaction))
    if (receipt === null) throw new Error('No node has the receipt of the channel')
    const state = decodeState(await tryCall(rpc, { at: receipt.blockNumber, ...planStateRead(channelId) }))
    if (state === null) throw new Error('The settlement does not answer what it knows of the channel')
    const refunded = receipt.logs.find(
      ({ address, topics: [event, id] }) =>
        isSameAddress(address, settlementAddress) &&
        event?.toLowerCase() === topics.refunded &&
        id?.toLowerCase() === channelId,
    )
    const amount = proof.type === 'deposit' ? proof.amount : (readWord(refunded?.data) ?? 0n)
    return { amount: `${amount}`, extra: { channelState: describeState(channelId, state) } }
  },
})
