import type { StreamStore } from '../../../ports/streamStore.js'
import type { Payment } from '../../../protocol/payment.js'
import { findClaimedPayer } from '../../../protocol/readPayment.js'
import type { Refusal, Scheme } from '../../../schemes/scheme.js'

/** An account has at most one open stream with this name. */
export const nameChannelStream = (channel: {
  readonly network: string
  readonly channelId: string
  readonly caller: string
}): string => `${channel.network}/${channel.channelId}/stream/${channel.caller}`.toLowerCase()

/**
 * Why a payment may not charge, or empty, a channel that pays streams of the caller; null: it may. An open stream counts from what
 * was charged before it, and what failed ones have used is still owed: the same vouchers would pay twice. `addsToOpen`: a deposit is
 * made, which an open stream can use.
 */
export type FindStreamed = (
  scheme: Scheme,
  payment: Payment,
  asking: { readonly caller: string; readonly addsToOpen: boolean },
) => Promise<Refusal | null>

export const createFindStreamed =
  (store: Pick<StreamStore, 'findOpen' | 'findOwed'>): FindStreamed =>
  async ({ channelStreams, kind: { network } }, payment, { caller, addsToOpen }) => {
    // A stream over a channel belongs to an account.
    if (channelStreams === undefined || caller === 'anonymous') return null
    const channelId = channelStreams.identify(payment)
    if (channelId === null) return null
    const name = nameChannelStream({ network, channelId, caller })
    const stream = await store.findOpen(name)
    if (stream !== null) {
      const message = `The channel pays the stream ${stream.id}; close it first`
      return addsToOpen
        ? null
        : { isValid: false, payer: stream.payer, reason: 'duplicate_settlement', message }
    }
    const ceiling = channelStreams.readCeiling(payment)
    if (ceiling === null) return null
    // Afterwards: a stream that fails meanwhile is found by one of both.
    const owed = await store.findOwed(name)
    if (owed === 0n || (ceiling > owed && ceiling >= owed + payment.requirements.amount)) return null
    return {
      isValid: false,
      payer: findClaimedPayer(payment.proof),
      reason: 'invalid_batch_settlement_evm_cumulative_below_claimed',
      message: `Streams of the account have used the channel up to ${owed}, which is not claimed: the voucher must cover it beside the price`,
    }
  }
