import type { Stream, StreamProgress } from '../../ports/streamStore.js'

/* How much of a stream its payer has signed for. Pure. */

export interface SignedUpdate {
  /** Cumulative since the stream was opened. */
  readonly amount: bigint
  /** A signature of the payer, which was verified: over the update, or over `ceiling` of a channel. */
  readonly voucher: string | null
  /** Cumulative over the life of the channel. Absent: no channel. */
  readonly ceiling?: bigint
}

/** Cumulative since the stream was opened; null: nothing is signed, and nothing has to be. */
export const findSigned = ({ channel, ceiling, voucher, amount }: Stream): bigint | null => {
  if (channel !== null) return (ceiling ?? channel.baseline) - channel.baseline
  return voucher === null ? null : amount
}

/** What may be used at most before the payer signs again. */
export const findLimit = (stream: Stream): bigint => {
  const signed = stream.channel === null ? null : findSigned(stream)
  return signed !== null && signed < stream.maxAmount ? signed : stream.maxAmount
}

/** Why an update needs another voucher; null: it needs none. */
export const findVoucherProblem = (
  stream: Stream,
  { amount, voucher, ceiling }: SignedUpdate,
): string | null => {
  const { channel } = stream
  if (channel === null) {
    return stream.voucher !== null && voucher === null
      ? 'The payer signs the updates of this stream: a voucher is required'
      : null
  }
  const owed = channel.baseline + amount
  const highest = stream.ceiling ?? 0n
  if (ceiling !== undefined && ceiling < owed)
    return `The voucher allows ${ceiling} of the ${owed} that are owed`
  return ceiling === undefined && highest < owed
    ? `The payer's highest voucher allows ${highest} of the ${owed} that are owed: a voucher is required`
    : null
}

/** What a voucher changes: that of a channel which is not above the highest changes nothing. */
export const takeVoucher = (
  stream: Stream,
  { voucher, ceiling }: SignedUpdate,
): Partial<Pick<StreamProgress, 'voucher' | 'ceiling'>> => {
  if (voucher === null) return {}
  if (stream.channel === null) return { voucher }
  return ceiling !== undefined && ceiling > (stream.ceiling ?? 0n) ? { voucher, ceiling } : {}
}

/** Whether an update that changes no amount has news: the first voucher of a permit, or a higher one of a channel. */
export const isNews = (stream: Stream, update: SignedUpdate): boolean =>
  (stream.channel !== null || stream.voucher === null) && Object.keys(takeVoucher(stream, update)).length > 0
