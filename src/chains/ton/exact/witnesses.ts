import type { Outcome } from '../../../schemes/scheme.js'
import { type Resolution, type ResolveQuery, resolvePayment } from './resolve.js'
import type { TraceDependencies } from './trace.js'

/** Who is asked what became of a payment. */
export interface WitnessDependencies extends TraceDependencies {
  /** Every endpoint by itself, with nothing that another one said. */
  readonly witnesses: readonly TraceDependencies[]
  /** From this amount on one endpoint is not enough. */
  readonly crossCheckAmount: bigint
}

const minWitnesses = 2

/** What became of a payment; a large one is confirmed only when two endpoints say so, where there are two. */
export const resolveByWitnesses = async (
  dependencies: WitnessDependencies,
  question: ResolveQuery,
): Promise<Resolution> => {
  const { witnesses, crossCheckAmount } = dependencies
  const found = await resolvePayment(dependencies, question)
  const isLarge = question.amount >= crossCheckAmount && witnesses.length >= minWitnesses
  if (!isLarge || found.outcome.state === 'pending') return found
  const outcomes = await Promise.all(witnesses.map((one) => findAlone(one, question)))
  const agreeing = outcomes.filter((outcome) => outcome?.state === found.outcome.state).length
  if (agreeing >= minWitnesses) return found
  return { outcome: { state: 'pending', transaction: question.transaction }, isWorthSending: false }
}

/** What one endpoint says; null when it does not answer. */
const findAlone = async (witness: TraceDependencies, question: ResolveQuery): Promise<Outcome | null> => {
  try {
    return (await resolvePayment(witness, question)).outcome
  } catch {
    return null
  }
}
