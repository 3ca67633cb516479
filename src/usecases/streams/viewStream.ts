import type { Stream } from '../../ports/streamStore.js'
import { isFields } from '../../protocol/fields.js'
import { refusalFields } from '../../protocol/results.js'
import type { StreamUpdated, StreamView } from '../../protocol/streams.js'
import { findLimit } from './coverage.js'

export const viewStream = (stream: Stream): StreamView => {
  const { settlementId, finalAmount, settledAmount, transaction, reason, risk, closedAt } = stream
  const metadata = readMetadata(stream.metadata)
  const refusal = reason === null ? null : refusalFields(reason)
  return {
    id: stream.id,
    status: stream.state,
    scheme: stream.scheme,
    network: stream.network,
    asset: stream.asset,
    payer: stream.payer,
    payee: stream.payTo,
    maxAmount: stream.maxAmount.toString(),
    currentAmount: stream.amount.toString(),
    sequence: stream.sequence,
    updates: stream.updates,
    vouchers: stream.voucher !== null,
    ...(finalAmount === null ? {} : { finalAmount: finalAmount.toString() }),
    ...(settledAmount === null ? {} : { settledAmount: settledAmount.toString() }),
    ...(transaction === null ? {} : { transaction }),
    ...(settlementId === null ? {} : { settlementId }),
    ...(refusal === null ? {} : { errorReason: refusal.reason, errorMessage: refusal.message }),
    ...(risk === null ? {} : { risk }),
    ...viewChannel(stream),
    ...(metadata === null ? {} : { metadata }),
    createdAt: stream.createdAt.toISOString(),
    lastUpdatedAt: stream.updatedAt.toISOString(),
    expiresAt: stream.closesAt.toISOString(),
    ...(closedAt === null ? {} : { closedAt: closedAt.toISOString() }),
  }
}

const viewChannel = ({ channel, ceiling }: Stream): Pick<StreamView, 'channel'> =>
  channel === null
    ? {}
    : {
        channel: {
          channelId: channel.id,
          baseline: channel.baseline.toString(),
          ceiling: (ceiling ?? channel.baseline).toString(),
        },
      }

export const viewUpdate = (stream: Stream, now: Date): StreamUpdated => {
  const limit = findLimit(stream)
  return {
    stream: viewStream(stream),
    remaining: (limit > stream.amount ? limit - stream.amount : 0n).toString(),
    canContinue:
      stream.state === 'active' &&
      stream.risk === null &&
      stream.amount < limit &&
      now.getTime() < stream.closesAt.getTime(),
  }
}

/** Stored as JSON text that was an object. */
const readMetadata = (text: string | null): Record<string, unknown> | null => {
  if (text === null) return null
  const value: unknown = JSON.parse(text)
  return isFields(value) ? { ...value } : null
}
