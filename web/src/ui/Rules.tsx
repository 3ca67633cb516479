import type { Schemas } from '../api.js'
import { Badge, NetworkName } from './values.js'

type Explanation = Schemas['Explanation']
type Rule = Schemas['ExplainedRule']
type State = Rule['state']
type Comparison = Pick<Rule, 'path' | 'found' | 'expected'>

const states: Readonly<
  Record<State, { readonly name: string; readonly tone: 'good' | 'bad' | 'warn' | 'plain' }>
> = {
  passed: { name: 'Passed', tone: 'good' },
  failed: { name: 'Failed', tone: 'bad' },
  skipped: { name: 'Skipped', tone: 'plain' },
  unknown: { name: 'Unknown', tone: 'warn' },
}

const verdicts = {
  valid: { name: 'Valid', tone: 'good', text: '/verify would accept this payment now.' },
  invalid: { name: 'Invalid', tone: 'bad', text: '/verify would refuse this payment now.' },
  unknown: {
    name: 'Unknown',
    tone: 'warn',
    text: 'It cannot be decided now: /verify would answer with an error that can be retried.',
  },
} as const

/** What `POST /v1/explain` answered, or nothing yet. A reader of the screen hears the verdict when it arrives. */
export const Rules = ({ explanation }: { readonly explanation: Explanation | null }) => (
  <div class="explained">
    <div role="status">{explanation === null ? null : <Verdict {...explanation} />}</div>
    {explanation === null ? null : <RuleList {...explanation} />}
  </div>
)

const Verdict = ({ verdict, reason, errorCode, rules }: Explanation) => {
  const { name, tone, text } = verdicts[verdict]
  const code = reason ?? errorCode
  return (
    <p class="meaning">
      <Badge tone={tone}>{name}</Badge> {text} {countStates(rules)}{' '}
      {code === undefined ? null : <code class="soft">{code}</code>}
    </p>
  )
}

const RuleList = ({ rules, facts, ...kind }: Explanation) => {
  const titles = new Map<string, string>(rules.map(({ rule, title }) => [rule, title]))
  return (
    <>
      <Kind {...kind} />
      <ol class="rules" aria-label="Rules, in the order of /verify">
        {rules.map((rule) => (
          <RuleEntry
            key={rule.rule}
            rule={rule}
            blockedBy={rule.blockedBy === undefined ? null : (titles.get(rule.blockedBy) ?? rule.blockedBy)}
          />
        ))}
      </ol>
      {facts.length === 0 ? null : (
        <>
          <h4>What is known besides</h4>
          <dl class="compared">
            {facts.map(({ fact, title, value }) => (
              <div key={fact}>
                <dt>{title}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </>
  )
}

/** Such as `9 rules passed, 1 failed.` */
const countStates = (rules: readonly Rule[]): string => {
  const counts = (['passed', 'failed', 'skipped', 'unknown'] as const)
    .map((state) => ({ state, count: rules.filter((rule) => rule.state === state).length }))
    .filter(({ count }) => count > 0)
    .map(({ state, count }, index) =>
      index > 0 ? `${count} ${state}` : `${count} ${count === 1 ? 'rule' : 'rules'} ${state}`,
    )
  return counts.length === 0 ? '' : `${counts.join(', ')}.`
}

const Kind = ({ scheme, network, payer }: Pick<Explanation, 'scheme' | 'network' | 'payer'>) =>
  scheme === undefined || network === undefined ? null : (
    <p class="soft kind">
      {scheme} on <NetworkName network={network} />
      {payer === undefined ? null : (
        <>
          , paid by <code>{payer}</code>
        </>
      )}
    </p>
  )

interface RuleEntryProps {
  readonly rule: Rule
  /** Title of the rule that this one waits for. */
  readonly blockedBy: string | null
}

const RuleEntry = ({ rule, blockedBy }: RuleEntryProps) => {
  const { state, title, message, remedy, problems = [] } = rule
  const { name, tone } = states[state]
  const code = rule.reason ?? rule.errorCode
  // What holds is of interest to few, and would hide what does not.
  const isFolded = state === 'passed' && (rule.found ?? rule.expected) !== undefined
  const heading = (
    <>
      {title} <code class="soft">{rule.rule}</code>
    </>
  )
  return (
    <li class={`rule ${tone}`}>
      <Badge tone={tone}>{name}</Badge>
      <div>
        {isFolded ? (
          <details>
            <summary class="rule-title">{heading}</summary>
            <Compared {...rule} />
          </details>
        ) : (
          <p class="rule-title">{heading}</p>
        )}
        {message === undefined ? null : (
          <p>
            {message}. {code === undefined ? null : <code class="soft">{code}</code>}
          </p>
        )}
        {blockedBy === null ? null : <p class="soft">Waits for: {blockedBy}</p>}
        {state === 'unknown' ? <p class="soft">The chain or the database did not answer.</p> : null}
        {isFolded ? null : <Compared {...rule} />}
        {problems.map((problem, index) => (
          <Compared key={index} {...problem} />
        ))}
        {remedy === undefined ? null : (
          <p class="advice">
            <strong>What to do:</strong> {remedy}
          </p>
        )}
      </div>
    </li>
  )
}

/** The place on a line, then what is there beside what must be there. */
const Compared = ({ path, found, expected }: Comparison) => {
  const parts = [
    { name: 'Place', text: path, class: 'wide' },
    { name: 'Found', text: found, class: '' },
    { name: 'Expected', text: expected, class: '' },
  ].filter(({ text }) => text !== undefined)
  return parts.length === 0 ? null : (
    <dl class="compared">
      {parts.map((part) => (
        <div key={part.name} class={part.class}>
          <dt>{part.name}</dt>
          <dd>{part.text}</dd>
        </div>
      ))}
    </dl>
  )
}
