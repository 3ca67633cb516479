import type { Outcome } from '../../../schemes/scheme.js'
import { type FoundOutcome, findOutcome, type OutcomeQuestion } from './findOutcome.js'
import type { TraceParts } from './tracePayment.js'

/** Who is asked what became of a payment. */
export interface WitnessParts extends TraceParts {
  /** Every endpoint by itself, with nothing that another one said. */
  readonly witnesses: readonly TraceParts[]
  /** From this amount on one endpoint is not enough. */
  readonly crossCheckAmount: bigint
}

const enough = 2

/** What became of a payment; a large one is confirmed only when two endpoints say so, where there are two. */
export const findWitnessedOutcome = async (
  parts: WitnessParts,
  question: OutcomeQuestion,
): Promise<FoundOutcome> => {
  const { witnesses, crossCheckAmount } = parts
  const found = await findOutcome(parts, question)
  const isLarge = question.amount >= crossCheckAmount && witnesses.length >= enough
  if (!isLarge || found.outcome.state === 'pending') return found
  const outcomes = await Promise.all(witnesses.map((one) => findAlone(one, question)))
  const agreeing = outcomes.filter((outcome) => outcome?.state === found.outcome.state).length
  if (agreeing >= enough) return found
  return { outcome: { state: 'pending', transaction: question.transaction }, isWorthSending: false }
}

/** What one endpoint says; null when it does not answer. */
const findAlone = async (witness: TraceParts, question: OutcomeQuestion): Promise<Outcome | null> => {
  try {
    return (await findOutcome(witness, question)).outcome
  } catch {
    return null
  }
}
