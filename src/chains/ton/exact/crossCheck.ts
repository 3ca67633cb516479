import type { Outcome } from '../../../schemes/scheme.js'
import { canCrossCheck, collectBallots, passesCrossCheck, type Vote } from '../../nodes/crossCheck.js'
import type { JudgeDependencies } from './judge.js'
import { type Resolution, type ResolveQuery, resolvePayment } from './resolve.js'

/** One endpoint; shares no state with another. */
export interface Witness extends JudgeDependencies {
  readonly host: string
}

/** Dependencies of a cross-checked resolution. */
export interface CrossCheckDependencies extends JudgeDependencies {
  readonly witnesses: readonly Witness[]
  readonly crossCheckAmount: bigint
}

/** Every configured endpoint is asked: one that does not respond counts as unreachable. */
export const resolveCrossChecked = async (
  dependencies: CrossCheckDependencies,
  query: ResolveQuery,
): Promise<Resolution> => {
  const { witnesses, crossCheckAmount } = dependencies
  const resolution = await resolvePayment(dependencies, query)
  const { state } = resolution.outcome
  const isLarge = query.amount >= crossCheckAmount && canCrossCheck(witnesses)
  if (!isLarge || state === 'pending') return resolution
  const ballots = await collectBallots(witnesses, (witness) => voteOn(state, witness, query))
  const outcome = state === 'failed' ? 'failure' : 'success'
  if (passesCrossCheck({ ballots, endpoints: witnesses, outcome })) return resolution
  return { outcome: { state: 'pending', transaction: query.transaction }, isWorthSending: false }
}

const voteOn = async (expected: Outcome['state'], witness: Witness, query: ResolveQuery): Promise<Vote> => {
  const { state } = (await resolvePayment(witness, query)).outcome
  if (state === 'pending') return 'unknown'
  return state === expected ? 'confirms' : 'contradicts'
}
