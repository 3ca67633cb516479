import type { JsonObject } from '../protocol/fields.js'

/** A channel on one network. */
interface ChannelName {
  readonly network: string
  /** In lower case. */
  readonly channelId: string
}

/** A voucher that was verified for the account to which its channel is bound; amounts in smallest units. */
export interface VerifiedVoucher extends ChannelName {
  readonly accountId: string
  /** What the channel's id is the hash of. */
  readonly config: JsonObject
  readonly receiver: string
  readonly token: string
  /** Cumulative. */
  readonly ceiling: bigint
  readonly signature: string
  /** Of the request that it was verified for: what is below the ceiling less price was charged before. */
  readonly price: bigint
}

/** What the chain knows of a channel. */
export interface SeenChannel {
  readonly channelId: string
  readonly balance: bigint
  readonly totalClaimed: bigint
  readonly withdrawal: bigint
  /** Unix seconds; 0: none is pending. */
  readonly withdrawRequestedAt: number
}

export interface LedgerChannel extends VerifiedVoucher {
  readonly boundAt: Date
  readonly verifiedAt: Date
  /** The highest ceiling less price of all vouchers. */
  readonly charged: bigint
  /** As last seen on chain; null balance: it was not looked at yet. */
  readonly claimed: bigint
  readonly balance: bigint | null
  readonly withdrawal: bigint
  readonly withdrawRequestedAt: number
  readonly seenAt: Date | null
  readonly unclaimedSince: Date | null
  /** The claim that is under way, or was last. */
  readonly settlementId: string | null
  /** The ceiling of a voucher that cannot be claimed; null: none is known. */
  readonly unclaimable: bigint | null
}

/** What a receiver was credited in a token, and is not known to have been paid. */
export interface UnsweptReceiver {
  readonly network: string
  readonly receiver: string
  readonly token: string
  /** The account that is to have it paid out. */
  readonly accountId: string
  readonly unsweptSince: Date
  /** How often it was credited. */
  readonly credits: bigint
}

/** A row of a claim costs this, in smallest units of the token. */
export interface RowCost {
  readonly network: string
  readonly token: string
  readonly cost: bigint
}

export interface UnclaimedTotal {
  readonly network: string
  readonly token: string
  readonly amount: bigint
  /** It counts what is worth its row and is not set aside; 0: there is nothing. */
  readonly oldestSeconds: number
  /** The part of the same whose payers have requested a withdrawal. */
  readonly withdrawing: bigint
}

/** Vouchers of one network, token and key that signs their claims add up to this. `UnclaimedTotal` says which are worth it. */
export interface SignerTotal {
  readonly network: string
  readonly token: string
  /** In lower case. */
  readonly receiverAuthorizer: string
  readonly channels: number
  readonly amount: bigint
  readonly withdrawing: bigint
}

/** The first block whose announced withdrawals were not read; null: none were. */
interface Watch {
  readonly nextBlock: bigint | null
}

/** What a round may look at again although no voucher came since. */
interface DueLimits {
  /** With a ceiling above what is claimed: nothing is known to be charged, or what is was not backed. */
  readonly seenBefore: Date
  /** Emptied channels that owe nothing. */
  readonly emptySeenBefore: Date
}

/**
 * The highest voucher of each bound channel, durable before its request is answered. Database constraints decide races: ceilings
 * and charged amounts never fall.
 */
export interface ChannelLedger {
  /** A lower or repeated voucher changes nothing. Throws SERVICE_UNAVAILABLE: it may not be stored. */
  keep(voucher: VerifiedVoucher, at: Date): Promise<void>
  find(name: ChannelName): Promise<LedgerChannel | null>
  /** Of one account, the newest first; `after` is the last of the page before. */
  list(
    accountId: string,
    page: { readonly limit: number; readonly after: ChannelName | null },
  ): Promise<readonly LedgerChannel[]>
  /**
   * Channels to look at that are not retired, by id from `after` on. `onlyWithdrawn`: those whose payer was last seen to have
   * announced a withdrawal.
   */
  listDue(
    network: string,
    page: { readonly limit: number; readonly after: string; readonly onlyWithdrawn?: boolean } & DueLimits,
  ): Promise<readonly LedgerChannel[]>
  /** Null: every channel of the network is retired, and what was read of its announcements is forgotten. */
  findWatch(network: string): Promise<Watch | null>
  moveWatch(network: string, nextBlock: bigint): Promise<void>
  /** Returns those of the channels that have a voucher, are not retired, and of which no withdrawal is known. */
  listUnnoticed(
    network: string,
    channelIds: readonly string[],
  ): Promise<readonly Pick<LedgerChannel, 'channelId' | 'accountId'>[]>
  /**
   * Stores what was seen, and enqueues `channel.withdrawal_requested` once for each withdrawal and `channel.near_cap` once for each
   * balance. Returns the rows as they are now.
   */
  observe(network: string, seen: readonly SeenChannel[], at: Date): Promise<readonly LedgerChannel[]>
  /** Binds a claim to its channels before it is sent; false, and nothing is bound, if another one was bound meanwhile. */
  bindClaim(
    network: string,
    channels: readonly Pick<LedgerChannel, 'channelId' | 'settlementId'>[],
    settlementId: string,
  ): Promise<boolean>
  /**
   * Has replacements of a claim's transactions paid by what its account may draw for urgent work. What others of a shared
   * transaction were to pay counts as well, since it is replaced as a whole or not at all.
   */
  hurryClaim(claim: { readonly settlementId: string; readonly accountId: string }): Promise<void>
  /** Counts a voucher that was refused alone; at `limit` it is set aside, with one `channel.unclaimable`. */
  countRefusal(
    channel: Pick<LedgerChannel, 'network' | 'channelId' | 'ceiling'>,
    refusal: { readonly reason: string; readonly limit: number },
  ): Promise<void>
  /**
   * By receiver and token from `after` on. Each with the account that was credited last; behind it, where that one was passed over,
   * those whose own part is `dueAmount` or was credited by `dueBefore`: none has to pay for the parts of others alone.
   */
  listUnswept(
    network: string,
    page: {
      readonly limit: number
      readonly after: Pick<UnsweptReceiver, 'receiver' | 'token'> | null
      readonly dueAmount: bigint
      readonly dueBefore: Date
    },
  ): Promise<readonly UnsweptReceiver[]>
  /** The account could not pay for the transaction: others come first. */
  passOver(receiver: UnsweptReceiver, at: Date): Promise<void>
  /**
   * The settlement paid it out: no account has a part in what is left, unless it was credited anew since it was listed. Their parts
   * count again if the settlement fails, as a reorg can have it.
   */
  endShares(receiver: UnsweptReceiver, settlementId: string): Promise<void>
  /**
   * Whether a sweep that has not failed was asked for while the total that had been paid out was in this range. `name` begins the
   * authorization id of every sweep of the receiver; the total ends it.
   */
  hasSweep(name: string, settledBefore: { readonly from: bigint; readonly below: bigint }): Promise<boolean>
  /** No-op if it was credited anew since it was listed, or while what paid it out can still fail. */
  markSwept(receiver: UnsweptReceiver): Promise<void>
  /**
   * Has rounds skip channels whose last voucher is a day old and that owe nothing that is backed, until the next voucher or
   * deposit; returns how many, `limit` at most.
   */
  retire(at: Date, limit: number): Promise<number>
  /** By network and token; without its cost every amount is worth its row. */
  measureUnclaimed(costs: readonly RowCost[]): Promise<readonly UnclaimedTotal[]>
  /** Counts every network that vouchers are kept of, by the key that signs their claims as well. */
  measureSigners(costs: readonly RowCost[]): Promise<readonly SignerTotal[]>
}
