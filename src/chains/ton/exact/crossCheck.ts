import type { Outcome } from '../../../schemes/scheme.js'
import type { JudgeDependencies } from './judge.js'
import { type Resolution, type ResolveQuery, resolvePayment } from './resolve.js'

/** Dependencies of a cross-checked resolution. */
export interface CrossCheckDependencies extends JudgeDependencies {
  /** One per endpoint, sharing no state. */
  readonly witnesses: readonly JudgeDependencies[]
  readonly crossCheckAmount: bigint
}

const minWitnesses = 2

/**
 * From `crossCheckAmount` on, if two endpoints are configured, `confirmed` needs two that agree, and `failed` all that
 * respond, at least two.
 */
export const resolveCrossChecked = async (
  dependencies: CrossCheckDependencies,
  query: ResolveQuery,
): Promise<Resolution> => {
  const { witnesses, crossCheckAmount } = dependencies
  const resolution = await resolvePayment(dependencies, query)
  const isLarge = query.amount >= crossCheckAmount && witnesses.length >= minWitnesses
  if (!isLarge || resolution.outcome.state === 'pending') return resolution
  const outcomes = await Promise.all(witnesses.map((witness) => resolveAlone(witness, query)))
  const responding = outcomes.filter((outcome) => outcome !== null)
  const agreeing = responding.filter(({ state }) => state === resolution.outcome.state).length
  const needed =
    resolution.outcome.state === 'failed' ? Math.max(responding.length, minWitnesses) : minWitnesses
  if (agreeing >= needed) return resolution
  return { outcome: { state: 'pending', transaction: query.transaction }, isWorthSending: false }
}

const resolveAlone = async (witness: JudgeDependencies, query: ResolveQuery): Promise<Outcome | null> => {
  try {
    return (await resolvePayment(witness, query)).outcome
  } catch {
    return null
  }
}
