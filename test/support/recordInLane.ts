import type { Lane, SettlementJournal, SignedTransaction } from '../../src/ports/settlementJournal.js'
import type { SignerLanes, SignNumbered } from '../../src/ports/signerLanes.js'

interface InstanceStores {
  readonly journal: SettlementJournal
  readonly lanes: SignerLanes
}

/** Records a transaction that settles one payment; throws if the settlement was taken over. */
export const recordInLane = async (
  { journal, lanes }: InstanceStores,
  settlementId: string,
  { lane, sign }: { readonly lane: Lane; readonly sign: SignNumbered },
): Promise<SignedTransaction> => {
  const answer = await lanes.record(lane, [journal.recorderFor(settlementId)], sign)
  if ('recorded' in answer) return answer.recorded
  throw new Error(`taken over: ${answer.lost}`)
}
