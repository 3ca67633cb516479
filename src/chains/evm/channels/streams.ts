import type { JsonObject } from '../../../protocol/fields.js'
import type { Payment } from '../../../protocol/payment.js'
import type { ChannelClaim, ChannelStreams, ChannelVoucher } from '../../../schemes/channelStreams.js'
import type { Scheme } from '../../../schemes/scheme.js'
import { asHex } from '../abi/words.js'
import { toRefusal } from '../paymentMethod.js'
import type { EvmNetworkSettings } from '../settings.js'
import { unread } from './checks.js'
import { type ChannelConfig, domainOf, hashChannel } from './contract.js'
import { readChannelProof } from './payload.js'
import type { ChannelSnapshots } from './snapshots.js'

/* Streams that a channel pays: each voucher is verified as /verify does, and the claim is settled as /settle does. */

type Network = Pick<EvmNetworkSettings, 'network' | 'chainId'>

export const createChannelStreams = (
  network: Network,
  snapshots: ChannelSnapshots,
  verify: Scheme['verify'],
): ChannelStreams => {
  const findProblem: ChannelStreams['findProblem'] = async (
    { channelId, config, ceiling, signature },
    options,
  ) => {
    const voucher = { channelId, maxClaimableAmount: `${ceiling}`, signature }
    const proof = { type: 'voucher', channelConfig: config, voucher }
    const verdict = await verify(toPayment(network, config, proof), options)
    return verdict.isValid ? null : verdict
  }

  return {
    identify: ({ proof }) => {
      const reading = readChannelProof(proof)
      if ('problem' in reading || !('config' in reading.proof)) return null
      return hashChannel(network.chainId, reading.proof.config)
    },

    open: async (payment, options) => {
      const reading = readChannelProof(payment.proof)
      if ('proof' in reading && reading.proof.type !== 'voucher') return toRefusal(null, otherType)
      // Whatever the payload is, without a price: what was charged before is compared beside it.
      const asked = { ...payment, requirements: { ...payment.requirements, amount: 0n } }
      const channelId = 'proof' in reading && 'config' in reading.proof ? reading.proof.channelId : null
      // Another instance may have claimed since the last look: a lower total would be charged for twice.
      if (channelId !== null) snapshots.forget(channelId)
      const verdict = await verify(asked, options)
      if (!verdict.isValid) return verdict
      if (channelId === null || !('proof' in reading) || !('config' in reading.proof)) {
        return toRefusal(null, otherType)
      }
      const { config, maxClaimable: ceiling, signature } = reading.proof
      const state = snapshots.find(channelId, ceiling) ?? (await snapshots.read(channelId, ceiling))
      if (state === null) return toRefusal(config.payer, unread)
      const voucher = { channelId, config: toWire(config), ceiling, signature }
      return { isValid: true, payer: verdict.payer, voucher, totalClaimed: state.totalClaimed }
    },

    findProblem,

    findNewProblem: async (voucher, options) => {
      snapshots.forget(asHex(voucher.channelId))
      return await findProblem(voucher, options)
    },

    describeVoucher: ({ channelId, ceiling }) =>
      describe(network, 'Voucher', { channelId, maxClaimableAmount: `${ceiling}` }),

    describeClaim: ({ channelId, ceiling, total }) =>
      describe(network, 'ClaimBatch', {
        claims: [{ channelId, maxClaimableAmount: `${ceiling}`, totalClaimed: `${total}` }],
      }),

    toClaim: (claim) => toPayment(network, claim.config, toClaimProof(claim)),
  }
}

const otherType = {
  reason: 'invalid_batch_settlement_evm_payload_type',
  message:
    'payload.type: a stream is opened by a `voucher` over a channel that exists; make its `deposit` by /settle before',
} as const

const toWire = ({
  payer,
  payerAuthorizer,
  receiver,
  receiverAuthorizer,
  token,
  withdrawDelay,
  salt,
}: ChannelConfig): JsonObject => ({
  payer,
  payerAuthorizer,
  receiver,
  receiverAuthorizer,
  token,
  withdrawDelay,
  salt,
})

const toClaimProof = ({ config, ceiling, signature, total, claimSignature }: ChannelClaim): JsonObject => ({
  type: 'claim',
  claims: [
    { voucher: { channel: config, maxClaimableAmount: `${ceiling}` }, signature, totalClaimed: `${total}` },
  ],
  ...(claimSignature === null ? {} : { claimAuthorizerSignature: claimSignature }),
})

/** With the requirements that the config itself states; nothing is charged. */
const toPayment = (network: Network, config: ChannelVoucher['config'], proof: JsonObject): Payment => {
  const { receiver, token, receiverAuthorizer, withdrawDelay } = config
  return {
    version: 2,
    callerNetwork: network.network,
    requirements: {
      scheme: 'batch-settlement',
      network: network.network,
      amount: 0n,
      minAmount: null,
      asset: `${token}`,
      payTo: `${receiver}`,
      maxTimeoutSeconds: 0,
      extra: { receiverAuthorizer, withdrawDelay },
    },
    proof,
    resource: null,
    settleAmount: null,
    acceptedAmount: null,
    usageDetails: null,
    extensions: {},
    declaredExtensions: {},
    clientExtensions: {},
    resourceDetails: {},
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
