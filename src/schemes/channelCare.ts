import type { LedgerChannel, SeenChannel, UnsweptReceiver } from '../ports/channelLedger.js'
import type { Payment } from '../protocol/payment.js'
import type { Reason } from '../protocol/reasons.js'

/** When vouchers are claimed and receivers are paid without a request. */
export interface ChannelCareRules {
  /** How many times the gas of its row unclaimed value must be worth. */
  readonly claimWorth: bigint
  /** After this long it need be worth that gas only. */
  readonly claimAfterMs: number
  /** Smallest units of the token. */
  readonly sweepAmount: bigint
  readonly sweepAfterMs: number
}

/** A voucher and the total to which it is claimed. */
export interface ClaimedVoucher extends Pick<LedgerChannel, 'config' | 'ceiling' | 'signature'> {
  readonly total: bigint
}

/** Channels of anyone; `nextBlock` is the first block that was not read. */
export interface AnnouncedWithdrawals {
  readonly channelIds: readonly string[]
  readonly nextBlock: bigint
}

/** Looks after channels of one network whose claims this facilitator signs. */
export interface ChannelCare {
  readonly rules: ChannelCareRules
  /** Rows of one claim, and channels of one read, at most. */
  readonly maxRows: number
  /** Says whether this process has the key of the address, and so signs claims of channels that name it. */
  canSign(receiverAuthorizer: string): boolean
  /** In one block, in order; null: no node answers. */
  readChannels(channelIds: readonly string[]): Promise<readonly SeenChannel[] | null>
  /** The newest block, and about how many the chain made in the seconds before it, within limits; null: no node has one. */
  readHead(seconds: number): Promise<{ readonly number: bigint; readonly recent: bigint } | null>
  /**
   * Channels of anyone whose withdrawal was announced from a block on, as far as one query reaches and the node that answers it has
   * the blocks. Nodes are asked in order from number `turn` on. Null: they refuse so many blocks, and the next query asks for
   * fewer. Throws where no node answers.
   */
  listAnnounced(query: {
    readonly from: bigint
    readonly to: bigint
    readonly turn: number
  }): Promise<AnnouncedWithdrawals | null>
  /** What each receiver was credited and not paid, in one block; null: no node answers. */
  readUnswept(
    receivers: readonly Pick<UnsweptReceiver, 'receiver' | 'token'>[],
  ): Promise<readonly bigint[] | null>
  /** What one row of a claim costs, in smallest units of the token; null: unknown, or nothing. */
  findRowCost(token: string): bigint | null
  /** The same of each token that has a cost. */
  listRowCosts(): readonly { readonly token: string; readonly cost: bigint }[]
  /** Whether the payer can make its vouchers invalid. */
  isVoidable(config: LedgerChannel['config']): boolean
  /** Whether the reason lies in a row, so that others can be claimed without it. */
  isRowFault(reason: Reason): boolean
  /** Of one receiver; not signed. */
  writeClaim(
    rows: readonly ClaimedVoucher[],
    terms: { readonly receiver: string; readonly token: string },
  ): Payment
  writeSweep(terms: { readonly receiver: string; readonly token: string }): Payment
}
