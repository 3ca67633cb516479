import type { Hex } from 'viem'
import type { Lane } from '../../../../ports/settlementJournal.js'
import type { SignerLanes } from '../../../../ports/signerLanes.js'
import type { Rpc } from '../../rpc/rpc.js'

/** Transactions of an account that are mined. */
export interface TransactionCount {
  readonly count: number
  /** Whether a second healthy endpoint has as many or more. */
  readonly isAgreed: boolean
}

/** The highest count that two healthy endpoints have; one endpoint's where no other answers. */
export const readTransactionCount = async (rpc: Rpc, address: Hex): Promise<TransactionCount> => {
  const witnesses = rpc.listWitnesses()
  const asked = witnesses.length < 2 ? [rpc] : witnesses.map((witness) => rpc.viewOf(witness))
  const answers = await Promise.allSettled(asked.map((each) => each.getTransactionCount(address, 'latest')))
  const counts = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  const [highest, second] = counts.sort((left, right) => right - left)
  if (second !== undefined) return { count: second, isAgreed: true }
  return { count: highest ?? (await rpc.getTransactionCount(address, 'latest')), isAgreed: false }
}

/** How far one endpoint alone may move a lane at once: its gaps stay small enough to be filled. */
export const maxUnconfirmedJump = 64

/** Moves a lane to what the chain has used; by one endpoint alone in bounded steps, once the lane is in use. */
export const advanceLane = async (
  lanes: SignerLanes,
  lane: Lane,
  { count, isAgreed }: TransactionCount,
): Promise<void> => {
  const next = await lanes.readNext(lane)
  const isBounded = !isAgreed && next > 0
  await lanes.advance(lane, isBounded ? Math.min(count, next + maxUnconfirmedJump) : count)
}
