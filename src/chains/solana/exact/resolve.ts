import type { Settlement } from '../../../ports/settlementJournal.js'
import type { Outcome } from '../../../schemes/scheme.js'
import type { Rpc } from '../rpc/rpc.js'
import { hasExpired } from '../transactions/expiry.js'
import { decodeTransaction } from './decode.js'
import { judgeStatus } from './judge.js'

/** What is believed of a cluster when a settlement is resolved, and when that is. */
export interface ResolvePolicy {
  readonly isCrossChecked: boolean
  readonly now: Date
}

/** What became of a recorded settlement; sends its bytes again while they can still come into a block. */
export const resolveSettlement = async (
  rpc: Rpc,
  { broadcasts, consumedBy, createdAt }: Settlement,
  { isCrossChecked, now }: ResolvePolicy,
): Promise<Outcome> => {
  const newest = broadcasts.at(-1)
  if (newest === undefined) throw new Error('Nothing was recorded for this settlement')
  const { transaction, bytes } = newest
  const [status] = await rpc.getStatuses([transaction], { searchesHistory: true })
  if (status != null) {
    // Somebody was told success, so this cluster has taken back a block: a failure must be beyond that.
    return await judgeStatus(rpc, transaction, status, {
      isCrossChecked,
      needsFinalFailure: consumedBy !== null,
    })
  }
  const recorded = decodeTransaction(bytes)
  if (recorded === null) throw new Error('What was recorded is no transaction')
  const { blockhash } = recorded
  if (await hasExpired(rpc, { transaction, blockhash, recordedAfter: createdAt }, now)) {
    return { state: 'failed', reason: 'settle_exact_svm_block_height_exceeded', transaction }
  }
  await rpc.send(bytes)
  return { state: 'pending', transaction }
}
