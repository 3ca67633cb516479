import type { Settlement } from '../../../ports/settlementJournal.js'
import type { Outcome } from '../../../schemes/scheme.js'
import type { Rpc } from '../rpc/rpc.js'
import { hasExpired } from '../transactions/expiry.js'
import { decodeTransaction } from './decode.js'
import { judgeStatus } from './judge.js'

export interface ResolvePolicy {
  readonly isCrossChecked: boolean
  readonly now: Date
  /** As in `ResolveOptions`. */
  readonly isReadOnly: boolean
}

/** Resolves a recorded settlement; rebroadcasts while its transaction can still land. */
export const resolveSettlement = async (
  rpc: Rpc,
  { broadcasts, createdAt }: Settlement,
  { isCrossChecked, now, isReadOnly }: ResolvePolicy,
): Promise<Outcome> => {
  const newest = broadcasts.at(-1)
  if (newest === undefined) throw new Error('The settlement has no recorded transaction')
  const { transaction, bytes } = newest
  const [status] = await rpc.getStatuses([transaction], { searchesHistory: true })
  if (status != null) {
    return await judgeStatus(rpc, transaction, status, { isCrossChecked })
  }
  const recorded = decodeTransaction(bytes)
  if (recorded === null) throw new Error('The recorded transaction cannot be decoded')
  const { blockhash } = recorded
  if (await hasExpired(rpc, { transaction, blockhash, recordedAfter: createdAt, isCrossChecked }, now)) {
    return { state: 'failed', reason: 'settle_exact_svm_block_height_exceeded', transaction }
  }
  if (!isReadOnly) await rpc.send(bytes)
  return { state: 'pending', transaction }
}
