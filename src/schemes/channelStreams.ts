import type { JsonObject } from '../protocol/fields.js'
import type { Payment } from '../protocol/payment.js'
import type { Refusal, VerifyOptions } from './scheme.js'

/** A ceiling that the payer of a channel signed; amounts are smallest units over the life of the channel. */
export interface ChannelVoucher {
  readonly channelId: string
  /** What the id is the hash of, as on the wire. */
  readonly config: JsonObject
  readonly ceiling: bigint
  readonly signature: string
}

/** What a claim takes of the newest voucher. */
export interface ChannelClaim extends ChannelVoucher {
  /** What is claimed then, with what was claimed before. */
  readonly total: bigint
  /** Signature of the receiver's authorizer; null: not given. */
  readonly claimSignature: string | null
}

export interface OpenedChannel {
  readonly isValid: true
  readonly payer: string
  readonly voucher: ChannelVoucher
  /** What is claimed of the channel on chain. */
  readonly totalClaimed: bigint
}

/** How channels of a scheme pay streams: the payer raises the ceiling, and one claim takes what was used. */
export interface ChannelStreams {
  /** The id of the channel, from the payload alone; null if it names none. */
  identify(payment: Payment): string | null
  /** As /verify of a voucher for which nothing is charged, by a new look at the chain. Throws as `Scheme.verify`. */
  open(payment: Payment, options: VerifyOptions): Promise<OpenedChannel | Refusal>
  /** As /verify of the voucher: null if its payer signed it and the channel backs it. Throws as `Scheme.verify`. */
  findProblem(voucher: ChannelVoucher, options: VerifyOptions): Promise<Refusal | null>
  /** The same by a new look at the chain: the payer may have announced a withdrawal since. */
  findNewProblem(voucher: ChannelVoucher, options: VerifyOptions): Promise<Refusal | null>
  /** EIP-712 typed data for a wallet, with numbers as decimal texts. */
  describeVoucher(voucher: Pick<ChannelVoucher, 'channelId' | 'ceiling'>): JsonObject
  /** The same for the receiver's authorizer. */
  describeClaim(claim: Pick<ChannelClaim, 'channelId' | 'ceiling' | 'total'>): JsonObject
  /** What `/settle` takes. */
  toClaim(claim: ChannelClaim): Payment
}
