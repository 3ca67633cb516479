import type { JsonObject } from '../../../protocol/fields.js'
import { type Payment, statedByNone } from '../../../protocol/payment.js'
import type { ChannelClaim, ChannelStreams, ChannelVoucher } from '../../../schemes/channelStreams.js'
import type { Scheme } from '../../../schemes/scheme.js'
import { asHex, larger } from '../abi/words.js'
import { toRefusal } from '../paymentMethod.js'
import type { EvmNetworkSettings } from '../settings.js'
import { createKeepVoucher } from './care.js'
import { domainOf, hashChannel } from './contract.js'
import { readChannelProof } from './payload.js'
import type { ChannelDependencies } from './prepared.js'
import { formatRefundId } from './refund.js'
import type { ChannelSnapshots } from './snapshots.js'

/* Streams that a channel pays: each voucher is verified as /verify does, and the claim is settled as /settle does. */

type Network = Pick<EvmNetworkSettings, 'network' | 'chainId'>

export const createChannelStreams = (
  dependencies: Pick<ChannelDependencies, 'network' | 'custody' | 'channelLedger' | 'clock'>,
  snapshots: ChannelSnapshots,
  verify: Scheme['verify'],
): ChannelStreams => {
  const { network, channelLedger: ledger } = dependencies
  const keepVoucher = createKeepVoucher(dependencies)

  const findProblem: ChannelStreams['findProblem'] = async (
    { channelId, config, ceiling, signature, charged },
    options,
  ) => {
    const proof = toVoucherProof({ channelId, config, ceiling, signature })
    const verdict = await verify(toPayment(network, config, proof, ceiling - charged), options)
    return verdict.isValid ? null : verdict
  }

  return {
    identify: ({ proof }) => {
      const reading = readChannelProof(proof)
      if ('problem' in reading || !('config' in reading.proof)) return null
      return hashChannel(network.chainId, reading.proof.config)
    },

    readCeiling: ({ proof }) => {
      const reading = readChannelProof(proof)
      if ('problem' in reading) return null
      const { type } = reading.proof
      return type === 'voucher' || type === 'deposit' ? reading.proof.maxClaimable : null
    },

    open: async (payment, { statedCharge, ...options }) => {
      const reading = readChannelProof(payment.proof)
      if ('problem' in reading)
        return toRefusal(null, {
          reason: 'invalid_batch_settlement_evm_voucher_payload',
          message: reading.problem,
        })
      const { proof } = reading
      if (proof.type !== 'voucher') return toRefusal(null, otherType)
      const { channelId, config, maxClaimable: ceiling, signature } = proof
      // Another instance may have claimed since the last look: a lower total would be charged for twice.
      snapshots.forget(channelId)
      const { totalClaimed = 0n, refundNonce = 0n } = (await snapshots.read(channelId, ceiling)) ?? {}
      // Kept vouchers prove this charge and claim it for themselves, so that it pays no stream.
      const kept = await ledger?.find({ network: network.network, channelId })
      const keptCharge = kept?.accountId === options.caller ? kept.charged : 0n
      const charged = larger(larger(statedCharge, totalClaimed), keptCharge)
      if (charged > ceiling) return toRefusal(config.payer, uncovered)
      // The price is what the voucher adds: the ledger may claim what was charged before, and no more.
      const requirements = { ...payment.requirements, amount: ceiling - charged }
      const verdict = await verify({ ...payment, requirements }, options)
      if (!verdict.isValid) return verdict
      const voucher = { channelId, config: { ...config }, ceiling, signature }
      const refundId = formatRefundId(network.network, channelId, refundNonce)
      return { isValid: true, payer: verdict.payer, voucher, charged, refundId }
    },

    findProblem,

    findNewProblem: async (voucher, options) => {
      snapshots.forget(asHex(voucher.channelId))
      return await findProblem(voucher, options)
    },

    keep: async ({ channelId, config, ceiling, signature, total }, caller) => {
      const reading = readChannelProof(toVoucherProof({ channelId, config, ceiling, signature }))
      if ('problem' in reading || reading.proof.type !== 'voucher')
        throw new Error('The voucher is unreadable')
      await keepVoucher(reading.proof, { caller, price: ceiling - total })
    },

    describeVoucher: ({ channelId, ceiling }) =>
      describe(network, 'Voucher', { channelId, maxClaimableAmount: `${ceiling}` }),

    describeClaim: ({ channelId, ceiling, total }) =>
      describe(network, 'ClaimBatch', {
        claims: [{ channelId, maxClaimableAmount: `${ceiling}`, totalClaimed: `${total}` }],
      }),

    toClaim: (claim) => toPayment(network, claim.config, toClaimProof(claim), 0n),
  }
}

const uncovered = {
  reason: 'invalid_batch_settlement_evm_cumulative_below_claimed',
  message: 'The voucher does not cover what was charged of the channel before',
} as const

const otherType = {
  reason: 'invalid_batch_settlement_evm_payload_type',
  message:
    'payload.type: a stream is opened by a `voucher` over a channel that exists; make its `deposit` by /settle before',
} as const

const toVoucherProof = ({ channelId, config, ceiling, signature }: ChannelVoucher): JsonObject => ({
  type: 'voucher',
  channelConfig: config,
  voucher: { channelId, maxClaimableAmount: `${ceiling}`, signature },
})

const toClaimProof = ({ config, ceiling, signature, total, claimSignature }: ChannelClaim): JsonObject => ({
  type: 'claim',
  claims: [
    { voucher: { channel: config, maxClaimableAmount: `${ceiling}` }, signature, totalClaimed: `${total}` },
  ],
  ...(claimSignature === null ? {} : { claimAuthorizerSignature: claimSignature }),
})

/** With the requirements that the config itself states. */
const toPayment = (
  network: Network,
  config: ChannelVoucher['config'],
  proof: JsonObject,
  amount: bigint,
): Payment => {
  const { receiver, token, receiverAuthorizer, withdrawDelay } = config
  return {
    version: 2,
    callerNetwork: network.network,
    requirements: {
      scheme: 'batch-settlement',
      network: network.network,
      amount,
      minAmount: null,
      asset: `${token}`,
      payTo: `${receiver}`,
      maxTimeoutSeconds: 0,
      extra: { receiverAuthorizer, withdrawDelay },
    },
    proof,
    ...statedByNone,
  }
}

const domainType = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const

const types = {
  Voucher: {
    Voucher: [
      { name: 'channelId', type: 'bytes32' },
      { name: 'maxClaimableAmount', type: 'uint128' },
    ],
  },
  ClaimBatch: {
    ClaimBatch: [{ name: 'claims', type: 'ClaimEntry[]' }],
    ClaimEntry: [
      { name: 'channelId', type: 'bytes32' },
      { name: 'maxClaimableAmount', type: 'uint128' },
      { name: 'totalClaimed', type: 'uint128' },
    ],
  },
} as const

const describe = (
  { chainId }: Network,
  primaryType: keyof typeof types,
  message: JsonObject,
): JsonObject => ({
  domain: domainOf(chainId),
  types: { EIP712Domain: domainType, ...types[primaryType] },
  primaryType,
  message,
})
