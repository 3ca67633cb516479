import type { AppError } from '../../../errors.js'
import type { ExplainedRule, Explanation } from '../../../protocol/explanations.js'
import { findReasonHelp } from '../../../protocol/reasons/help.js'
import { describeReason, type Reason } from '../../../protocol/reasons.js'
import { type RuleName, ruleTitles } from '../../../protocol/rules/ruleNames.js'
import {
  type Comparison,
  type FactName,
  factTitles,
  type Trace,
  toFields,
} from '../../../protocol/rules/rules.js'
import { errorHelp } from './errorHelp.js'
import { describeAt, showValue } from './showValue.js'

/** What was noted of one verification. */
export interface TraceRecord extends Trace {
  /** The rule is broken, and /verify answers with the error. */
  noteError(name: RuleName, error: Pick<AppError, 'code' | 'message'>): void
  addProblems(name: RuleName, problems: readonly Comparison[]): void
  findFirstFailed(): RuleName | null
  /** An earlier settlement outranks broken rules. Null: it makes the payment valid, so that broken rules are skipped. */
  noteSettlement(failure: SettlementFailure | null): void
  /** Rules that were not noted were not reached: an earlier one failed, or something did not answer. */
  list(): ExplainedRule[]
  listFacts(): Explanation['facts']
}

interface SettlementFailure {
  readonly reason: Reason
  readonly message?: string | undefined
}

interface Noted {
  readonly state: ExplainedRule['state']
  readonly reason?: Reason
  readonly errorCode?: string
  readonly message?: string
  readonly remedy?: string
  readonly comparison?: Comparison | undefined
  readonly problems?: readonly Comparison[]
  readonly blockedBy?: RuleName
}

/** `body`: where paths of comparisons lead. */
export const recordTrace = (body: unknown): TraceRecord => {
  const expected = new Set<RuleName>()
  let noted = new Map<RuleName, Noted>()
  const facts = new Map<FactName, string>()

  const findFirstFailed = (): RuleName | null => {
    for (const [name, { state }] of noted) if (state === 'failed') return name
    return null
  }

  /** Several checks of one name are one rule: it holds if all of them do. */
  const write = (name: RuleName, entry: Noted): void => {
    const earlier = noted.get(name)
    if (earlier?.state === 'failed') return
    // A failed rule moves to the end, so that failures are listed in the order in which they were found.
    if (entry.state === 'failed') noted.delete(name)
    noted.set(name, earlier === undefined ? entry : { ...earlier, ...entry })
  }

  return {
    expect: (names) => {
      for (const name of names) expected.add(name)
    },
    note: (name, failure, comparison) => {
      const compared = comparison === undefined ? {} : { comparison }
      if (failure === null) {
        write(name, { state: 'passed', ...compared })
        return
      }
      const { reason, message } = toFields(failure)
      const { remedy } = findReasonHelp(reason)
      write(name, {
        state: 'failed',
        reason,
        message: message ?? describeReason(reason),
        remedy,
        ...(comparison === undefined ? readComparison(message) : compared),
      })
    },
    noteError: (name, { code, message }) => {
      const [, remedy] = errorHelp[code]
      write(name, { state: 'failed', errorCode: code, message, remedy, ...readComparison(message) })
    },
    addProblems: (name, problems) => {
      const entry = noted.get(name)
      if (entry !== undefined) noted.set(name, { ...entry, problems })
    },
    skip: (name, blockedBy) => write(name, { state: 'skipped', blockedBy }),
    miss: (name) => {
      if (!noted.has(name)) write(name, { state: 'unknown' })
    },
    hasPassed: (name) => noted.get(name)?.state === 'passed',
    addFact: (name, value) => void facts.set(name, value),
    findFirstFailed,
    noteSettlement: (failure) => {
      const name = 'settled_once'
      const first = findFirstFailed()
      const settled = new Map<RuleName, Noted>()
      for (const [each, entry] of noted) {
        if (each === first) settled.set(name, toSettled(failure))
        const isExcused = failure === null && entry.state === 'failed'
        settled.set(each, isExcused ? { ...entry, state: 'skipped', blockedBy: name } : entry)
      }
      noted = settled.set(name, toSettled(failure))
    },
    list: () => {
      const first = findFirstFailed()
      const missing: Noted = first === null ? { state: 'unknown' } : { state: 'skipped', blockedBy: first }
      const rules = [...noted].map(([name, entry]) => explain(name, entry, body))
      const rest = [...expected].filter((name) => !noted.has(name))
      return [...rules, ...rest.map((name) => explain(name, missing, body))]
    },
    listFacts: () =>
      [...facts].map(([fact, value]) => ({ fact, title: factTitles[fact], value: showValue(value) })),
  }
}

const toSettled = (failure: SettlementFailure | null): Noted => {
  if (failure === null) return { state: 'passed' }
  const { reason, message } = failure
  const { remedy } = findReasonHelp(reason)
  return { state: 'failed', reason, message: message ?? describeReason(reason), remedy }
}

const located =
  /^(?<path>payload|payment(?:Payload|Requirements)(?:\.[\w-]+)*|payload(?:\.[\w-]+)*): (?<rest>.+)$/

/** What a message says about a field. */
export const readExpected = (message: string): string =>
  message === 'is required' ? 'a value' : message.replace(/^must be /, '')

/** Messages about a field begin with its path. */
const readComparison = (message: string | undefined): Pick<Noted, 'comparison'> => {
  const { path, rest } = located.exec(message ?? '')?.groups ?? {}
  if (path === undefined || rest === undefined) return {}
  return {
    comparison: {
      path: path.startsWith('payload') ? `paymentPayload.${path}` : path,
      expected: readExpected(rest),
    },
  }
}

/** `found` is what is at the path, where the rule does not say it. */
const showComparison = ({ path, found, expected }: Comparison, body: unknown) => {
  const content = found === undefined && path !== undefined ? describeAt(body, path) : undefined
  const shown = content ?? (found === undefined ? undefined : showValue(found))
  return {
    ...(path === undefined ? {} : { path }),
    ...(shown === undefined ? {} : { found: shown }),
    ...(expected === undefined ? {} : { expected: showExpected(expected) }),
  }
}

const maxExpectedLength = 500

/** Our own words, in which texts of the request may be repeated. */
const showExpected = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, maxExpectedLength)

const explain = (
  name: RuleName,
  { comparison, problems, ...entry }: Noted,
  body: unknown,
): ExplainedRule => ({
  rule: name,
  title: ruleTitles[name],
  ...entry,
  ...(comparison === undefined ? {} : showComparison(comparison, body)),
  ...(problems === undefined ? {} : { problems: problems.map((each) => showComparison(each, body)) }),
})
