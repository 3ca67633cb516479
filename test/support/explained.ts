import { expect } from 'vitest'
import type { Explanation } from '../../src/protocol/explanations.js'
import type { Payment } from '../../src/protocol/payment.js'
import type { VerifyResult } from '../../src/protocol/results.js'
import type { Scheme, Verification, VerifyOptions } from '../../src/schemes/scheme.js'
import { recordTrace } from '../../src/usecases/core/explain/recordTrace.js'

/** Verifies as usual and with a trace, and expects that both decide alike, for the reason of the first broken rule. */
export const verifyTraced = async (
  scheme: Pick<Scheme, 'verify' | 'kind'>,
  payment: Payment,
  options: VerifyOptions,
): Promise<Verification> => {
  const verdict = await scheme.verify(payment, options)
  const trace = recordTrace(undefined)
  const traced = await scheme.verify(payment, { ...options, trace })
  expect(summarize(traced)).toEqual(summarize(verdict))
  // The toys of tests name no rules.
  if (scheme.kind.network.startsWith('toy:')) return verdict
  const rules = trace.list()
  const failed = rules.find(({ state }) => state === 'failed')
  expect(failed?.reason ?? null, JSON.stringify(rules)).toBe(verdict.isValid ? null : verdict.reason)
  if (verdict.isValid) expect(rules.filter(({ state }) => state !== 'passed')).toEqual([])
  return verdict
}

const summarize = (verdict: Verification) =>
  verdict.isValid
    ? { payer: verdict.payer, authorizationId: verdict.authorizationId, amount: verdict.amount }
    : { payer: verdict.payer, reason: verdict.reason, message: verdict.message }

interface Explaining {
  explain(body: unknown, caller?: string): Promise<Explanation>
}

/** Expects that the explanation of a body agrees with what /verify answered to it. */
export const expectExplained = async (
  { explain }: Explaining,
  body: unknown,
  answer: VerifyResult,
): Promise<Explanation> => {
  const explanation = await explain(body)
  const failed = explanation.rules.find(({ state }) => state === 'failed')
  const { verdict, reason = null, payer } = explanation
  expect({ verdict, reason, payer, first: failed?.reason ?? null }, JSON.stringify(explanation)).toEqual({
    verdict: answer.isValid ? 'valid' : 'invalid',
    reason: answer.invalidReason ?? null,
    payer: answer.payer,
    first: answer.invalidReason ?? null,
  })
  const names = explanation.rules.map(({ rule }) => rule)
  expect(new Set(names).size).toBe(names.length)
  for (const { state, remedy, blockedBy } of explanation.rules) {
    if (state === 'failed') expect(remedy).toBeTruthy()
    if (state === 'skipped') expect(names).toContain(blockedBy)
  }
  return explanation
}
