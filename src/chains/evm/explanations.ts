import type { Payment } from '../../protocol/payment.js'
import type { Reason } from '../../protocol/reasons.js'
import type { RuleName } from '../../protocol/rules/ruleNames.js'
import {
  type Comparison,
  compareRequiredAmount,
  type FactName,
  type Failure,
  namesOf,
  type Rule,
  reasonOf,
  type Trace,
} from '../../protocol/rules/rules.js'
import type { Token } from './tokens/tokenRegistry.js'
import type { ContractCall, ReadAnswers, RevertReason } from './transactions/settlementCall.js'

/* What explanations show of payments on EVM networks. A verification without a trace calls none of it. */

/** Rules before those of a method. */
export const structureRules = ['payload_fields', 'asset'] as const satisfies readonly RuleName[]

/** Rules after those of a method. */
export const closingRules = [
  'minimum_payment',
  'simulation',
  'settlement_cost',
] as const satisfies readonly RuleName[]

export const compareAsset = ({ requirements }: Payment): Comparison => ({
  path: 'paymentRequirements.asset',
  found: requirements.asset,
  expected: 'a token that this facilitator settles there, as POST /accepts names it',
})

export const compareAmountOf = ({ payment }: { readonly payment: Payment }): Comparison =>
  compareRequiredAmount(payment)

// The latest second that a Date can hold.
const latestSecond = 8_640_000_000_000n

/** A time in Unix seconds, with the distance to now. */
export const describeAge = (seconds: bigint, nowSeconds: bigint): string => {
  if (seconds > latestSecond) return `${seconds}, later than any date`
  const date = new Date(Number(seconds) * 1_000).toISOString()
  const distance = seconds - nowSeconds
  if (distance === 0n) return `${seconds} (${date}), now`
  return `${seconds} (${date}), ${distance > 0n ? `${distance} s from now` : `${-distance} s ago`}`
}

/** Shows the token's domain, because clients often sign for another one. */
export const noteToken = (token: Token, payment: Payment, trace: Trace): void => {
  trace.note('asset', null, compareAsset(payment))
  if (token.domain === null) return
  trace.addFact('token_name', token.domain.name)
  trace.addFact('token_version', token.domain.version)
}

/** Contracts answer it about the payer, beside a simulation or without one. */
interface StateInspection extends Pick<StateFacts<never>, 'shownBy'> {
  readonly reads: readonly ContractCall[]
  judge(answers: ReadAnswers): {
    readonly judged: readonly JudgedRule[]
    readonly facts: Readonly<Partial<Record<FactName, string>>>
  }
}

interface JudgedRule {
  readonly name: RuleName
  readonly failure: Failure | null
  readonly comparison: Comparison | undefined
}

export interface StateRules {
  readonly names: readonly RuleName[]
  /** Null for an unreadable payload. */
  inspect(payment: Payment): StateInspection | null
}

interface StateFacts<Candidate> {
  /** Earlier rules to which a revert reason of the simulation belongs: a wallet contract may accept what no key signed. */
  readonly shownBy: Readonly<Partial<Record<Reason, RuleName>>>
  readonly rules: readonly Rule<Candidate, Failure>[]
  read(payment: Payment): {
    readonly reads: readonly ContractCall[]
    decode(answers: ReadAnswers): Candidate
  } | null
  list(candidate: Candidate): Readonly<Partial<Record<FactName, string>>>
}

export const createStateRules = <Candidate>({
  shownBy,
  rules,
  read,
  list,
}: StateFacts<Candidate>): StateRules => ({
  names: namesOf(rules),
  inspect: (payment) => {
    const reading = read(payment)
    if (reading === null) return null
    const { reads, decode } = reading
    return {
      reads,
      shownBy,
      judge: (answers) => {
        const candidate = decode(answers)
        const judged = rules.map(({ name, check, compare }) => ({
          name,
          failure: check(candidate),
          comparison: compare?.(candidate),
        }))
        return { judged, facts: list(candidate) }
      },
    }
  },
})

/**
 * Notes the simulation with the state of the contracts. If the state explains the revert, that rule fails and the simulation
 * is skipped; otherwise the simulation fails.
 */
export const noteState = (
  { judge, shownBy }: StateInspection,
  { reads, refused }: { readonly reads: ReadAnswers; readonly refused: RevertReason | null | 'skipped' },
  trace: Trace,
): void => {
  const { judged, facts } = judge(reads)
  for (const [name, value] of factsOf(facts)) trace.addFact(name, value)
  if (refused === null) trace.note('simulation', null)
  else if (refused !== 'skipped') noteRefused(refused, { judged, shownBy }, trace)
  for (const { name, failure, comparison } of judged) trace.note(name, failure, comparison)
}

const noteRefused = (
  refused: RevertReason,
  {
    judged,
    shownBy,
  }: { readonly judged: readonly JudgedRule[]; readonly shownBy: StateInspection['shownBy'] },
  trace: Trace,
): void => {
  const first = judged.find(({ failure }) => failure !== null)
  const isShown = first?.failure != null && reasonOf(first.failure) === refused.reason
  if (first !== undefined && isShown) {
    trace.skip('simulation', first.name)
    return
  }
  const earlier = shownBy[refused.reason]
  trace.note(earlier ?? 'simulation', refused)
  if (earlier !== undefined) trace.skip('simulation', earlier)
}

const factsOf = (
  facts: Readonly<Partial<Record<FactName, string>>>,
): readonly (readonly [FactName, string])[] =>
  factNames.flatMap((name) => {
    const value = facts[name]
    return value === undefined ? [] : [[name, value] as const]
  })

const factNames = ['payer_balance', 'payer_allowance', 'authorization_state'] as const
