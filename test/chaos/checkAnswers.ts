import { type Answer, readClaim, readSettleResponse } from './answers.js'
import type { AuditRecords, Violation } from './audit.js'
import { type Payment, usesOneKey } from './payments.js'

export const checkAnswers = (
  payments: readonly Payment[],
  answers: readonly Answer[],
  books: AuditRecords,
): readonly Violation[] =>
  payments.flatMap((payment) => {
    const responses = answers.filter(({ authorizationId }) => authorizationId === payment.authorizationId)
    return [
      ...checkSuccesses(payment, responses, books),
      ...checkFailures(payment, responses, books),
      ...checkKeys(payment, responses, books),
      ...checkRejections(payment, responses),
    ]
  })

const checkSuccesses = (
  { authorizationId }: Payment,
  responses: readonly Answer[],
  { facts }: AuditRecords,
): readonly Violation[] => {
  const paid = responses.filter((answer) => readClaim(answer) === 'paid')
  const consumers = new Set(paid.map(({ consumer }) => consumer))
  const found: Violation[] = []
  if (consumers.size > 1) {
    const what = `reported to ${[...consumers].join(' and ')}`
    found.push({ rule: 'one authorization earns one success', authorizationId, what })
  }
  if (paid.length > 0 && facts.get(authorizationId)?.use?.isPaid !== true) {
    found.push({
      rule: 'success is only reported for funds that moved',
      authorizationId,
      what: 'no funds moved',
    })
  }
  return found
}

/**
 * A reported failure is wrong if its settlement moved funds, or if the transaction that did was recorded
 * before the request was sent. An earlier rejection was correct at its time.
 */
const checkFailures = (
  { authorizationId }: Payment,
  responses: readonly Answer[],
  { settlements, facts, broadcasts }: AuditRecords,
): readonly Violation[] => {
  const use = facts.get(authorizationId)?.use
  if (use?.isPaid !== true) return []
  const recordedAt = broadcasts
    .find(({ transaction }) => transaction === use.transaction)
    ?.recorded_at.getTime()
  const mover = settlements.find(({ transactions }) => transactions.includes(use.transaction))
  return responses
    .filter((answer) => readClaim(answer) === 'failed')
    .filter(
      (answer) =>
        (mover !== undefined && readSettleResponse(answer)?.settlementId === mover.id) ||
        (recordedAt !== undefined && recordedAt < answer.sentAt),
    )
    .map((answer) => ({
      rule: 'no payment that moved funds was reported as failed',
      authorizationId,
      what: `${answer.consumer} received ${answer.text}`,
    }))
}

const checkKeys = (
  { authorizationId, behavior }: Payment,
  responses: readonly Answer[],
  { facts }: AuditRecords,
): readonly Violation[] => {
  const found: Violation[] = []
  const decided = responses.map((answer) => ({ ...answer, claim: readClaim(answer) }))
  for (const key of new Set(decided.flatMap((answer) => answer.key ?? []))) {
    const ofKey = decided.filter((answer) => answer.key === key)
    const success = ofKey.find(({ claim }) => claim === 'paid')
    const changed = ofKey.find(
      ({ claim, sentAt }) =>
        success !== undefined && sentAt > success.receivedAt && claim !== 'paid' && claim !== 'undecided',
    )
    if (changed !== undefined) {
      found.push({
        rule: 'a key returns the same result again',
        authorizationId,
        what: `after success: ${changed.text}`,
      })
    }
  }
  const hasMoved = facts.get(authorizationId)?.use?.isPaid === true
  if (hasMoved && usesOneKey(behavior) && !decided.some(({ claim }) => claim === 'paid')) {
    found.push({
      rule: 'a key eventually returns success',
      authorizationId,
      what: 'paid, but success was never reported',
    })
  }
  return found
}

const checkRejections = ({ authorizationId }: Payment, responses: readonly Answer[]): readonly Violation[] =>
  responses
    .filter((answer) => readClaim(answer) === 'rejected')
    .map(({ status, text }) => ({
      rule: 'a valid request is not rejected',
      authorizationId,
      what: `${status} ${text}`,
    }))
