import { type Answer, readClaim, readSettleAnswer } from './answers.js'
import type { Books, Violation } from './audit.js'
import { type Payment, usesOneKey } from './payments.js'

/** Holds what clients were told against what happened. */
export const judgeAnswers = (
  payments: readonly Payment[],
  answers: readonly Answer[],
  books: Books,
): readonly Violation[] =>
  payments.flatMap((payment) => {
    const told = answers.filter(({ authorizationId }) => authorizationId === payment.authorizationId)
    return [
      ...judgeSuccesses(payment, told, books),
      ...judgeFailures(payment, told, books),
      ...judgeKeys(payment, told, books),
      ...judgeRejections(payment, told),
    ]
  })

const judgeSuccesses = (
  { authorizationId }: Payment,
  told: readonly Answer[],
  { facts }: Books,
): readonly Violation[] => {
  const paid = told.filter((answer) => readClaim(answer) === 'paid')
  const consumers = new Set(paid.map(({ consumer }) => consumer))
  const found: Violation[] = []
  if (consumers.size > 1) {
    const what = `told to ${[...consumers].join(' and ')}`
    found.push({ rule: 'one authorization earns one success', authorizationId, what })
  }
  if (paid.length > 0 && facts.get(authorizationId)?.use?.isPaid !== true) {
    found.push({ rule: 'success is told of money that moved', authorizationId, what: 'nothing moved' })
  }
  return found
}

/**
 * An answer is about one moment between its request and its arrival. A claim of failure is a lie when the row
 * that it names did move the money; and, whatever it names, when bytes that moved the money stood recorded before
 * the request was even sent. A refusal before that moment was true: whoever asks again begins anew.
 */
const judgeFailures = (
  { authorizationId }: Payment,
  told: readonly Answer[],
  { settlements, facts, broadcasts }: Books,
): readonly Violation[] => {
  const use = facts.get(authorizationId)?.use
  if (use?.isPaid !== true) return []
  const recordedAt = broadcasts
    .find(({ transaction }) => transaction === use.transaction)
    ?.recorded_at.getTime()
  const mover = settlements.find(({ transactions }) => transactions.includes(use.transaction))
  return told
    .filter((answer) => readClaim(answer) === 'failed')
    .filter(
      (answer) =>
        (mover !== undefined && readSettleAnswer(answer)?.settlementId === mover.id) ||
        (recordedAt !== undefined && recordedAt < answer.sentAt),
    )
    .map((answer) => ({
      rule: 'nothing that moved money was answered failed',
      authorizationId,
      what: `${answer.consumer} was told ${answer.text}`,
    }))
}

/** A key tells the truth in the end, and tells it again. */
const judgeKeys = (
  { authorizationId, habit }: Payment,
  told: readonly Answer[],
  { facts }: Books,
): readonly Violation[] => {
  const found: Violation[] = []
  const decided = told.map((answer) => ({ ...answer, claim: readClaim(answer) }))
  for (const key of new Set(decided.flatMap((answer) => answer.key ?? []))) {
    const ofKey = decided.filter((answer) => answer.key === key)
    const success = ofKey.find(({ claim }) => claim === 'paid')
    const turned = ofKey.find(
      ({ claim, sentAt }) =>
        success !== undefined && sentAt > success.receivedAt && claim !== 'paid' && claim !== 'undecided',
    )
    if (turned !== undefined) {
      found.push({
        rule: 'a key tells the same again',
        authorizationId,
        what: `after success: ${turned.text}`,
      })
    }
  }
  const hasMoved = facts.get(authorizationId)?.use?.isPaid === true
  if (hasMoved && usesOneKey(habit) && !decided.some(({ claim }) => claim === 'paid')) {
    found.push({
      rule: 'a key tells the truth in the end',
      authorizationId,
      what: 'paid, and nobody was told',
    })
  }
  return found
}

const judgeRejections = ({ authorizationId }: Payment, told: readonly Answer[]): readonly Violation[] =>
  told
    .filter((answer) => readClaim(answer) === 'rejected')
    .map(({ status, text }) => ({
      rule: 'a valid request is not called a mistake',
      authorizationId,
      what: `${status} ${text}`,
    }))
