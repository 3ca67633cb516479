/** What identifies a payment channel on every network of its family. */
export interface ChannelName {
  /** CAIP-2 identifier. */
  readonly network: string
  /** 32 bytes of hex in lower case, with `0x`. */
  readonly channelId: string
}

/** A channel whose claims and refunds this facilitator signs for its receiver. Addresses in lower case. */
export interface BoundChannel extends ChannelName {
  /** Account id. */
  readonly account: string
  readonly payer: string
  readonly payerAuthorizer: string
  readonly receiver: string
  readonly receiverAuthorizer: string
  readonly token: string
  /** Seconds. */
  readonly withdrawDelay: number
  readonly salt: string
}

/**
 * `full`: the account has too many channels of the payer that never held money. `claimed`: another account has stated that
 * the receiver is its own.
 */
export type Binding = { readonly account: string } | { readonly refused: 'full' | 'claimed' }

/** A holder of its signature can submit it while the channel's nonce is not above its own. */
export interface SignedRefund {
  readonly nonce: bigint
  /** It takes at most this, in smallest units. */
  readonly amount: bigint
}

/** Which account each delegated channel belongs to, over all instances. A binding never changes: the primary key decides. */
export interface ChannelCustody {
  /** The account of each channel, in order; null: it is bound to none. */
  findAccounts(channels: readonly ChannelName[]): Promise<readonly (string | null)[]>
  /** Binds the channel unless it is bound; answers whose it is. `isFunded`: the chain shows money in it. */
  bind(channel: BoundChannel, options: { readonly isFunded: boolean }): Promise<Binding>
  /** Of a bound channel, durable before it is signed. What can still be taken by refunds that were signed before is kept. */
  recordRefund(channel: ChannelName, refund: SignedRefund): Promise<void>
  /** The refund that was signed last; null: none was. */
  findRefund(channel: ChannelName): Promise<SignedRefund | null>
}
