import type { Lane } from '../../../ports/settlementJournal.js'
import type { SignerLanes } from '../../../ports/signerLanes.js'
import type { AgreedAccount } from './relayAccount.js'

/** How far one endpoint alone may move a lane at once: each seqno of a gap takes a message and a block. */
export const maxUnconfirmedJump = 4

/** Moves a lane to what the chain has used; by one endpoint alone in bounded steps, once the lane is in use. */
export const advanceLane = async (
  lanes: SignerLanes,
  lane: Lane,
  { seqno, isAgreed }: Pick<AgreedAccount, 'seqno' | 'isAgreed'>,
): Promise<void> => {
  const next = await lanes.readNext(lane)
  const isBounded = !isAgreed && next > 0
  await lanes.advance(lane, isBounded ? Math.min(seqno, next + maxUnconfirmedJump) : seqno)
}
