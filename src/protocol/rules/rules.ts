import type { Reason } from '../reasons.js'
import type { RuleName } from './ruleNames.js'

/** Why a rule is broken. */
export type Failure = Reason | { readonly reason: Reason; readonly message?: string }

/** What a rule compares. */
export interface Comparison {
  /** Where in the request. */
  readonly path?: string
  /** Untrusted. */
  readonly found?: unknown
  readonly expected?: string
}

export interface Rule<Candidate, Broken extends Failure = Reason> {
  readonly name: RuleName
  /** Null if the candidate keeps the rule. */
  readonly check: (candidate: Candidate) => Broken | null
  /** Only explanations call it. */
  readonly compare?: (candidate: Candidate) => Comparison
}

/** Facts beside the rules that help to mend a payment. */
export const factTitles = {
  payer_balance: "The payer's balance of the asset",
  payer_allowance: 'What the spender may take from the payer',
  authorization_state: 'State of the authorization on chain',
  token_name: "Name of the token's EIP-712 domain",
  token_version: "Version of the token's EIP-712 domain",
  required_amount: 'The required amount',
  authorized_amount: 'The authorized amount',
  service_time: 'The time of this facilitator',
} as const

export type FactName = keyof typeof factTitles

/**
 * Records one verification, which then checks further rules after the first failure where their inputs are known. The
 * verdict stays the same.
 */
export interface Trace {
  /** Rules that follow, in their order. Those that are never noted were not reached. */
  expect(names: readonly RuleName[]): void
  /** Failure null: the rule holds. */
  note(name: RuleName, failure: Failure | null, comparison?: Comparison): void
  /** The rule cannot be decided while another one is broken. */
  skip(name: RuleName, blockedBy: RuleName): void
  /** What the rule needs could not be read. */
  miss(name: RuleName): void
  hasPassed(name: RuleName): boolean
  addFact(name: FactName, value: string): void
}

/** The failure of the first broken rule, or null. */
export const runRules = <Candidate, Broken extends Failure>(
  rules: readonly Rule<Candidate, Broken>[],
  candidate: Candidate,
  trace?: Trace,
): Broken | null => {
  if (trace !== undefined) return traceRules(rules, candidate, trace)
  for (const { check } of rules) {
    const failure = check(candidate)
    if (failure !== null) return failure
  }
  return null
}

const traceRules = <Candidate, Broken extends Failure>(
  rules: readonly Rule<Candidate, Broken>[],
  candidate: Candidate,
  trace: Trace,
): Broken | null => {
  let first: Broken | null = null
  for (const { name, check, compare } of rules) {
    const failure = check(candidate)
    trace.note(name, failure, compareSafely(candidate, compare))
    first ??= failure
  }
  return first
}

/** A comparison of hostile values may throw: it must not change the verdict. */
const compareSafely = <Candidate>(
  candidate: Candidate,
  compare: Rule<Candidate>['compare'],
): Comparison | undefined => {
  try {
    return compare?.(candidate)
  } catch {
    return undefined
  }
}

/** Of the rule `required_amount`, in every family. */
export const compareRequiredAmount = ({
  requirements,
}: {
  readonly requirements: { readonly amount: bigint }
}): Comparison => ({ path: 'paymentRequirements.amount', found: requirements.amount, expected: 'at least 1' })

export const namesOf = (rules: readonly { readonly name: RuleName }[]): readonly RuleName[] =>
  rules.map(({ name }) => name)

export const toFields = (failure: Failure): { readonly reason: Reason; readonly message?: string } =>
  typeof failure === 'string' ? { reason: failure } : failure

export const reasonOf = (failure: Failure): Reason => (typeof failure === 'string' ? failure : failure.reason)
