import { AppError } from '../../errors.js'
import type { Requester } from '../../ports/rateLimiter.js'
import type { Stream } from '../../ports/streamStore.js'
import type { JsonObject } from '../../protocol/fields.js'
import type { Payment } from '../../protocol/payment.js'
import { isRefused, readPayment } from '../../protocol/readPayment.js'
import { describeReason, type Reason } from '../../protocol/reasons.js'
import type { StreamClaim, UpdateStreamBody } from '../../protocol/streams.js'
import { wirePaymentRequest } from '../../protocol/wire.js'
import type { ChannelStreams, ChannelVoucher } from '../../schemes/channelStreams.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { Scheme } from '../../schemes/scheme.js'
import type { SettleAttempt } from '../core/settle/settlementContext.js'
import { checkNewRequirements } from '../core/verify/checkRequirements.js'
import { nameChannelStream } from '../core/verify/streamedChannels.js'
import type { SignedUpdate } from './coverage.js'
import { type Hold, type OpenChannel, type StreamHold, streamNameOf } from './hold.js'
import { endangersFunds } from './refusals.js'

/* What pays a stream: an authorization whose maximum is held, or a channel whose payer raises a ceiling. */

type WireVoucher = NonNullable<UpdateStreamBody['voucher']>

/** Of a new stream. */
interface MeansOpening extends StreamHold {
  /** What the resource server has charged of a channel before; null: what is claimed. */
  readonly baseline: bigint | null
  /** What earlier streams over the channel have used and not settled, with what was charged before. */
  readonly owed: bigint
}

export type Taken = Pick<
  Stream,
  'authorizationId' | 'payer' | 'maxAmount' | 'channel' | 'voucher' | 'ceiling'
> & {
  readonly expiresAt: Date | null
  /** Of a channel: what would return what the stream is to be paid from. */
  readonly refundId: string | null
}

interface SettleTerms {
  /** Names the settlement in the journal. */
  readonly authorizationId: string
  readonly attempt: Pick<
    SettleAttempt,
    'payment' | 'holdPurpose' | 'holdUntil' | 'isAdmitted' | 'isUrgent' | 'requester'
  >
}

/** What the chain says of the funds; `isEnding`: what was used must be settled at once. */
interface Assessment {
  readonly risk: Reason | null
  readonly isEnding: boolean
}

export interface StreamMeans {
  /** What at most one open stream has; null: the payload is unreadable. */
  identify(payment: Payment, caller: string): string | null
  /** Throws PAYMENT_REFUSED. What a new stream held is given back then. */
  open(
    opening: MeansOpening,
    ways: { readonly hold: Hold; readonly openChannel: OpenChannel },
  ): Promise<Taken>
  /** For the payer, who signs what was used; undefined: it cannot. */
  describeVoucher(stream: Stream): JsonObject | undefined
  /** What the receiver's authorizer signs, and the row that it claims; undefined: no channel pays, or it has ended. */
  describeClaim(stream: Stream): StreamClaim | undefined
  /** The form of a voucher. Throws INVALID_REQUEST and INVALID_VOUCHER. */
  readVoucher(
    stream: Stream,
    voucher: WireVoucher,
    sequence: number | undefined,
  ): Pick<SignedUpdate, 'voucher' | 'ceiling'>
  /** Throws INVALID_VOUCHER, and whatever if the chain is needed and unavailable. */
  verifyVoucher(
    stream: Stream,
    update: SignedUpdate & { readonly sequence: number | null },
    signal: AbortSignal,
  ): Promise<void>
  /** Null: the final amount needs no settlement. Throws if what is stored is unreadable. */
  toSettle(stream: Stream, stored: unknown): SettleTerms | null
  /** What is owed, and may not be settled, is kept for claims without a request. */
  keepOwed(stream: Stream): Promise<void>
  /** Null: nothing is known that was not. Throws if the chain is unavailable. */
  assess(stream: Stream, stored: unknown, signal: AbortSignal): Promise<Assessment | null>
}

/** What the receiver's authorizer signs, where a channel pays. */
export const viewClaim = (registry: SchemeRegistry, stream: Stream): { readonly claim?: StreamClaim } => {
  const scheme = registry.find(stream.scheme, stream.network)
  const claim = scheme === null ? undefined : findMeans(scheme).describeClaim(stream)
  return claim === undefined ? {} : { claim }
}

export const findMeans = (scheme: Scheme): StreamMeans =>
  scheme.channelStreams === undefined
    ? createAuthorizationMeans(scheme)
    : createChannelMeans(scheme, scheme.channelStreams)

const createAuthorizationMeans = (scheme: Scheme): StreamMeans => ({
  identify: (payment) => scheme.identify(payment),

  open: async (opening, { hold }) => {
    if (opening.baseline !== null) {
      throw new AppError('INVALID_REQUEST', 'baseline: belongs to streams over a channel')
    }
    const { amount: maxAmount, ...authorized } = await hold(opening)
    return { ...authorized, maxAmount, channel: null, voucher: null, ceiling: null, refundId: null }
  },

  describeVoucher: ({ id }) => scheme.network.vouchers?.describe({ streamId: id, amount: 0n, sequence: 0n }),

  describeClaim: () => undefined,

  readVoucher: (_stream, { signature, maxClaimableAmount, channelId }, sequence) => {
    if (sequence === undefined) {
      throw new AppError('INVALID_REQUEST', 'sequence: is required beside a voucher, which covers it')
    }
    if (maxClaimableAmount !== undefined || channelId !== undefined) {
      const message = 'voucher: this stream has no channel; the payer signs `voucherTypedData`'
      throw new AppError('INVALID_REQUEST', message)
    }
    return { voucher: signature }
  },

  verifyVoucher: async ({ id: streamId, network, payer }, { amount, sequence, voucher }, signal) => {
    const { vouchers } = scheme.network
    if (vouchers === null || sequence === null || voucher === null) {
      throw new AppError('INVALID_VOUCHER', `Payers cannot sign vouchers on ${network}`)
    }
    const signed = { streamId, amount, sequence: BigInt(sequence) }
    if (!(await vouchers.isSigned(signed, payer, voucher, signal))) {
      throw new AppError('INVALID_VOUCHER', 'The payer did not sign this update')
    }
  },

  toSettle: (stream, stored) => ({
    authorizationId: stream.authorizationId,
    attempt: {
      payment: readStreamPayment(stored, stream.finalAmount ?? stream.amount),
      holdPurpose: streamNameOf(stream.id),
      holdUntil: stream.settlesUntil,
      // Opening it was one admission: what is sent again after a failure counts anew.
      isAdmitted: stream.reverts === 0,
    },
  }),

  keepOwed: async () => undefined,

  assess: async (stream, stored, signal) => {
    const payment = readStreamPayment(stored, stream.amount)
    const verdict = await scheme.verify(payment, {
      isAwaited: () => !signal.aborted,
      requester: askedBy(stream),
    })
    if (verdict.isValid) return { risk: null, isEnding: false }
    // Other refusals say nothing of the funds, such as an amount that is still below the minimum of the network.
    return endangersFunds(verdict.reason) ? { risk: verdict.reason, isEnding: false } : null
  },
})

const createChannelMeans = (scheme: Scheme, channels: ChannelStreams): StreamMeans => {
  const optionsOf = (stream: Stream, signal: AbortSignal) => ({
    isAwaited: () => !signal.aborted,
    caller: stream.caller,
    requester: askedBy(stream),
  })

  return {
    identify: (payment, caller) => {
      const channelId = channels.identify(payment)
      // It is of one account: everyone who saw a voucher can open a stream, which must not keep the receiver from its own.
      const { network } = scheme.kind
      return channelId === null ? null : nameChannelStream({ network, channelId, caller })
    },

    open: async (opening, { openChannel }) => {
      const { authorizationId, payment, baseline, owed } = opening
      checkNewRequirements(payment, scheme)
      // Otherwise one voucher would pay for two streams.
      const statedCharge = baseline !== null && baseline > owed ? baseline : owed
      const { payer, voucher, charged, refundId } = await openChannel({ ...opening, statedCharge }, channels)
      const { channelId: id, config, ceiling, signature } = voucher
      return {
        authorizationId: authorizationId ?? id,
        payer,
        maxAmount: payment.requirements.amount,
        channel: { id, config, baseline: charged },
        voucher: signature,
        ceiling,
        // Vouchers are valid until they are claimed.
        expiresAt: null,
        refundId,
      }
    },

    describeVoucher: (stream) => {
      const voucher = toVoucher(stream)
      return voucher === null ? undefined : channels.describeVoucher(voucher)
    },

    describeClaim: (stream) => {
      const claim = toClaim(stream)
      if (claim === null || stream.state === 'closed' || stream.state === 'expired') return undefined
      const { claims } = channels.toClaim(claim).proof
      return { claims: Array.isArray(claims) ? claims : [], typedData: { ...channels.describeClaim(claim) } }
    },

    readVoucher: ({ channel }, { signature, maxClaimableAmount, channelId }) => {
      if (maxClaimableAmount === undefined) {
        const message = 'voucher.maxClaimableAmount: is required in a stream over a channel'
        throw new AppError('INVALID_REQUEST', message)
      }
      if (channelId !== undefined && channelId.toLowerCase() !== channel?.id) {
        throw new AppError('INVALID_VOUCHER', 'voucher.channelId: is another channel than that of the stream')
      }
      return { voucher: signature.toLowerCase(), ceiling: BigInt(maxClaimableAmount) }
    },

    verifyVoucher: async (stream, { voucher: signature, ceiling }, signal) => {
      const newest = toVoucher(stream)
      if (newest === null || signature === null || ceiling === undefined) return
      if (signature === newest.signature && ceiling === newest.ceiling) return
      const problem = await channels.findProblem(
        { ...newest, signature, ceiling, charged: findCharged(stream) },
        optionsOf(stream, signal),
      )
      if (problem === null) return
      const { reason, message = describeReason(reason) } = problem
      if (reason === 'invalid_batch_settlement_evm_rpc_read_failed') throw new Error(message)
      throw new AppError('INVALID_VOUCHER', message, { reason })
    },

    toSettle: (stream) => {
      const claim = toClaim(stream)
      // Nothing was used: what was charged before is the receiver's to claim.
      if (claim === null || stream.finalAmount === 0n) return null
      const payment = channels.toClaim(claim)
      const authorizationId = scheme.identify(payment)
      if (authorizationId === null) throw new Error('The claim of the stream is unreadable')
      return {
        authorizationId,
        attempt: {
          payment,
          // As the care of channels: what payers have the account settle exhausts neither its part of the budget,
          requester: { name: `channels of ${stream.caller}`, site: null },
          // nor the time until a withdrawal. Other claims count as those of the account, and what is sent again after a failure.
          isUrgent: stream.risk !== null && stream.reverts === 0,
        },
      }
    },

    keepOwed: async (stream) => {
      const claim = toClaim(stream)
      if (claim !== null) await channels.keep(claim, stream.caller)
    },

    assess: async (stream, _stored, signal) => {
      const voucher = toVoucher(stream)
      const problem =
        voucher === null
          ? null
          : await channels.findNewProblem(
              { ...voucher, charged: findCharged(stream) },
              optionsOf(stream, signal),
            )
      switch (problem?.reason) {
        case undefined:
        // The receiver has claimed it meanwhile.
        case 'invalid_batch_settlement_evm_cumulative_below_claimed':
          return { risk: null, isEnding: false }
        // A withdrawal, or a refund: what it can take is claimed before.
        case 'invalid_batch_settlement_evm_cumulative_exceeds_balance':
        case 'invalid_batch_settlement_evm_channel_not_found':
          return { risk: problem?.reason ?? null, isEnding: true }
        case 'invalid_batch_settlement_evm_voucher_signature':
          return { risk: problem?.reason ?? null, isEnding: false }
        case 'invalid_batch_settlement_evm_rpc_read_failed':
          throw new Error('The settlement of channels does not answer')
        default:
          return null
      }
    },
  }
}

/** The payer's own account may be asked, whose code the payer chose. */
const askedBy = ({ payer }: Stream): Requester => ({ name: `payer ${payer}`, site: null })

/** The highest of a channel; null: no channel pays. */
const toVoucher = ({ channel, voucher, ceiling }: Stream): ChannelVoucher | null =>
  channel === null || voucher === null || ceiling === null
    ? null
    : { channelId: channel.id, config: channel.config, ceiling, signature: voucher }

/** What is durable: an update that is refused after its voucher was verified charges nothing. */
const findCharged = ({ channel, amount }: Stream): bigint => (channel?.baseline ?? 0n) + amount

/** Of what was used, or of the final amount. */
const toClaim = (stream: Stream) => {
  const voucher = toVoucher(stream)
  if (voucher === null || stream.channel === null) return null
  const total = stream.channel.baseline + (stream.finalAmount ?? stream.amount)
  return { ...voucher, total, claimSignature: stream.claimSignature }
}

/** The stored body of the open request, as a payment of an amount. Throws if it is unreadable. */
export const readStreamPayment = (stored: unknown, settleAmount: bigint): Payment => {
  const payment = readPayment(wirePaymentRequest.parse(stored))
  if (isRefused(payment)) throw new Error(`The stored payment of the stream is unreadable: ${payment.reason}`)
  return { ...payment, settleAmount }
}
