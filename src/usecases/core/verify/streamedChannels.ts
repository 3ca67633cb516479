import type { StreamStore } from '../../../ports/streamStore.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Refusal, Scheme } from '../../../schemes/scheme.js'

/** An account has at most one open stream with this name. */
export const nameChannelStream = (channel: {
  readonly network: string
  readonly channelId: string
  readonly caller: string
}): string => `${channel.network}/${channel.channelId}/stream/${channel.caller}`.toLowerCase()

/**
 * Why a payment may not charge, or empty, a channel that pays an open stream of the caller; null: it may. The stream counts from
 * what was charged before: the same vouchers would pay twice.
 */
export type FindStreamed = (scheme: Scheme, payment: Payment, caller: string) => Promise<Refusal | null>

export const createFindStreamed =
  (store: Pick<StreamStore, 'findOpen'>): FindStreamed =>
  async (scheme, payment, caller) => {
    // A stream over a channel belongs to an account.
    const channelId = caller === 'anonymous' ? null : (scheme.channelStreams?.identify(payment) ?? null)
    if (channelId === null) return null
    const { network } = scheme.kind
    const stream = await store.findOpen(nameChannelStream({ network, channelId, caller }))
    if (stream === null) return null
    const message = `The channel pays the stream ${stream.id}; close it first`
    return { isValid: false, payer: stream.payer, reason: 'duplicate_settlement', message }
  }
