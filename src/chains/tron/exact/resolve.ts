import type { Settlement } from '../../../ports/settlementJournal.js'
import type { Outcome } from '../../../schemes/scheme.js'
import type { Rpc } from '../rpc/rpc.js'
import { hasExpired } from '../transactions/expiry.js'
import { decodeTransfer } from './decode.js'
import { resolveReceipt, toJudgeQuery } from './judge.js'

export interface ResolvePolicy {
  readonly crossCheckAmount: bigint
  /** As in `ResolveOptions`. */
  readonly isReadOnly: boolean
  /** Called with a transaction that has a receipt, whatever it proves, or that can get none any more. */
  readonly onOver: (transaction: string) => void
}

/** Resolves a recorded settlement; rebroadcasts while its transaction can still be included. */
export const resolveSettlement = async (
  rpc: Rpc,
  settlement: Settlement,
  { crossCheckAmount, isReadOnly, onOver }: ResolvePolicy,
): Promise<Outcome> => {
  const newest = settlement.broadcasts.at(-1)
  if (newest === undefined) throw new Error('The settlement has no recorded transaction')
  const reading = decodeTransfer(newest.bytes)
  if ('reason' in reading) throw new Error('The recorded transaction is not a transfer')
  const { transfer } = reading
  const { transaction, bytes } = transfer

  const receipt = await rpc.findReceipt(transaction)
  if (receipt !== null) {
    onOver(transaction)
    return await resolveReceipt(rpc, receipt, toJudgeQuery(transfer, crossCheckAmount))
  }
  if (await hasExpired(rpc, { ...transfer, isCrossChecked: transfer.value >= crossCheckAmount })) {
    onOver(transaction)
    return { state: 'failed', reason: 'authorization_expired_unsettled', transaction }
  }
  if (!isReadOnly) await rpc.send(bytes)
  return { state: 'pending', transaction }
}
