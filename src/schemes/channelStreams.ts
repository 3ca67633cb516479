import type { Requester } from '../ports/rateLimiter.js'
import type { JsonObject } from '../protocol/fields.js'
import type { Payment } from '../protocol/payment.js'
import type { Reason } from '../protocol/reasons.js'

/** A ceiling that the payer of a channel signed; amounts are smallest units over the life of the channel. */
export interface ChannelVoucher {
  readonly channelId: string
  /** What the id is the hash of, as on the wire. */
  readonly config: JsonObject
  readonly ceiling: bigint
  readonly signature: string
}

/** One that is to be verified. */
interface ChargedVoucher extends ChannelVoucher {
  /** What was charged of the channel before, at most the ceiling: no more than that may be claimed on its behalf. */
  readonly charged: bigint
}

/** What a claim takes of the newest voucher. */
export interface ChannelClaim extends ChannelVoucher {
  /** What is claimed then, with what was claimed before. */
  readonly total: bigint
  /** Signature of the receiver's authorizer; null: not given. */
  readonly claimSignature: string | null
}

/** As in `VerifyOptions`. */
interface ChannelAsking {
  readonly isAwaited: () => boolean
  readonly caller: string
  readonly requester?: Requester | undefined
}

/** As `Refusal`. */
interface RefusedChannel {
  readonly isValid: false
  readonly payer: string | null
  readonly reason: Reason
  readonly message?: string
}

export interface OpenedChannel {
  readonly isValid: true
  readonly payer: string
  readonly voucher: ChannelVoucher
  /** What was charged of the channel before: as stated, and at least what is claimed on chain, or shown by vouchers that are kept. */
  readonly charged: bigint
  /** Names the refund in the journal that the channel can make next. */
  readonly refundId: string
}

/** How channels of a scheme pay streams: the payer raises the ceiling, and one claim takes what was used. */
export interface ChannelStreams {
  /** The id of the channel, from the payload alone; null if it names none. */
  identify(payment: Payment): string | null
  /** Reads it from the voucher that asks for a service, in the payload alone; null: it asks for none, as a refund does. */
  readCeiling(payment: Payment): bigint | null
  /** As /verify of a voucher, by a new look at the chain. Throws as `Scheme.verify`. */
  open(
    payment: Payment,
    asking: ChannelAsking & { readonly statedCharge: bigint },
  ): Promise<OpenedChannel | RefusedChannel>
  /** As /verify of the voucher: null if its payer signed it and the channel backs it. Throws as `Scheme.verify`. */
  findProblem(voucher: ChargedVoucher, asking: ChannelAsking): Promise<RefusedChannel | null>
  /** The same by a new look at the chain: the payer may have announced a withdrawal since. */
  findNewProblem(voucher: ChargedVoucher, asking: ChannelAsking): Promise<RefusedChannel | null>
  /**
   * Has the total claimed with others of the channel, and by no payment again, where this facilitator signs for the receiver. No-op
   * elsewhere.
   */
  keep(claim: Pick<ChannelClaim, keyof ChannelVoucher | 'total'>, caller: string): Promise<void>
  /** EIP-712 typed data for a wallet, with numbers as decimal texts. */
  describeVoucher(voucher: Pick<ChannelVoucher, 'channelId' | 'ceiling'>): JsonObject
  /** The same for the receiver's authorizer. */
  describeClaim(claim: Pick<ChannelClaim, 'channelId' | 'ceiling' | 'total'>): JsonObject
  /** What `/settle` takes. */
  toClaim(claim: ChannelClaim): Payment
}
