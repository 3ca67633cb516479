import type { Outcome } from '../../../schemes/scheme.js'
import { canCrossCheck, passesCrossCheck, type Vote } from '../../nodes/crossCheck.js'
import type { JudgeDependencies } from './judge.js'
import { type Resolution, type ResolveQuery, resolvePayment } from './resolve.js'

/** Dependencies of a cross-checked resolution. */
export interface CrossCheckDependencies extends JudgeDependencies {
  /** One per endpoint, sharing no state. */
  readonly witnesses: readonly JudgeDependencies[]
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
  const configured = witnesses.length
  const isLarge = query.amount >= crossCheckAmount && canCrossCheck(configured)
  if (!isLarge || state === 'pending') return resolution
  const votes = await Promise.all(witnesses.map((witness) => voteOn(state, witness, query)))
  const outcome = state === 'failed' ? 'failure' : 'success'
  if (passesCrossCheck({ votes, configured, outcome })) return resolution
  return { outcome: { state: 'pending', transaction: query.transaction }, isWorthSending: false }
}

const voteOn = async (
  expected: Outcome['state'],
  witness: JudgeDependencies,
  query: ResolveQuery,
): Promise<Vote> => {
  try {
    const { state } = (await resolvePayment(witness, query)).outcome
    if (state === 'pending') return 'unknown'
    return state === expected ? 'confirms' : 'contradicts'
  } catch {
    return 'unreachable'
  }
}
