import { useReason } from '../reasons.js'
import { Badge } from '../ui/values.js'
import { CodeCard } from './CodeCard.js'
import { ExchangeView, HeaderView } from './ExchangeView.js'
import { ExplainPayment } from './ExplainPayment.js'
import type { Meaning } from './meaning.js'
import type { Plan } from './plan.js'
import { type StepName, type StepResult, stepNames } from './steps.js'
import { useWalk } from './useWalk.js'

interface Described {
  readonly title: string
  readonly button: string
  readonly describe: (plan: Plan) => string
}

const described: Readonly<Record<StepName, Described>> = {
  required: {
    title: '402 Payment Required',
    button: 'Ask',
    describe: () =>
      'A server answers a request without payment with what it asks for, which /accepts completes.',
  },
  sign: { title: 'Sign', button: 'Sign', describe: ({ signing }) => signing },
  verify: {
    title: 'Verify',
    button: 'Verify',
    describe: () => 'The server asks whether the payment would settle. Nothing moves.',
  },
  settle: {
    title: 'Settle',
    button: 'Settle',
    describe: () => 'The server has the payment executed, and delivers once it succeeded.',
  },
}

export const WalkView = ({ plan }: { readonly plan: Plan }) => {
  const walk = useWalk(plan)
  const { results, running, found } = walk
  const settled = results.settle
  return (
    <>
      <section class="walk" aria-label="Steps">
        <div class="walk-head">
          <h2>{plan.title}</h2>
          <button
            type="button"
            class="button primary"
            disabled={running !== null}
            onClick={() => void walk.take(stepNames)}
          >
            Run all
          </button>
        </div>
        <ol class="steps">
          {stepNames.map((name) => (
            <Step
              key={name}
              {...described[name]}
              text={described[name].describe(plan)}
              result={results[name] ?? null}
              isRunning={running === name}
              onTake={walk.canTake(name) ? () => void walk.take([name]) : null}
            >
              {name === 'verify' && results.verify !== undefined && found.payment !== null ? (
                <ExplainPayment payment={found.payment} verified={results.verify} />
              ) : null}
              {name === 'settle' && settled !== undefined ? (
                <AfterSettle
                  settlementId={found.settlementId}
                  isBusy={running !== null}
                  onAnother={() => void walk.settleAsAnother()}
                  onAdvance={
                    plan.advanceSeconds === null || found.settlementId === null
                      ? null
                      : () => void walk.advance()
                  }
                  seconds={plan.advanceSeconds ?? 0}
                />
              ) : null}
            </Step>
          ))}
        </ol>
      </section>
      <CodeCard found={found} />
    </>
  )
}

interface StepProps {
  readonly title: string
  readonly button: string
  readonly text: string
  readonly result: StepResult | null
  readonly isRunning: boolean
  /** Null: it cannot be taken now. */
  readonly onTake: (() => void) | null
  readonly children: preact.ComponentChildren
}

const Step = ({ title, button, text, result, isRunning, onTake, children }: StepProps) => (
  <li class={result === null ? 'step' : `step ${result.meaning.tone}`}>
    <div class="step-head">
      <div>
        <h3>{title}</h3>
        <p class="soft">{text}</p>
      </div>
      <button type="button" class="button" disabled={onTake === null} onClick={() => onTake?.()}>
        {isRunning ? 'Waiting …' : button}
      </button>
    </div>
    <div role="status">{result === null ? null : <MeaningNote meaning={result.meaning} />}</div>
    {result === null ? null : (
      <>
        {result.header === null ? null : <HeaderView header={result.header} />}
        {result.exchanges.map((exchange, index) => (
          <ExchangeView key={index} exchange={exchange} />
        ))}
        {children}
      </>
    )}
  </li>
)

const MeaningNote = ({ meaning: { tone, title, text, code } }: { readonly meaning: Meaning }) => {
  const known = useReason(code)
  return (
    <p class="meaning">
      <Badge tone={tone}>{title}</Badge> {text} {known?.remedy}{' '}
      {code === null ? null : <code class="soft">{code}</code>}
    </p>
  )
}

interface AfterSettleProps {
  readonly settlementId: string | null
  readonly isBusy: boolean
  readonly seconds: number
  readonly onAnother: () => void
  /** Null: there is no clock to move. */
  readonly onAdvance: (() => void) | null
}

const AfterSettle = ({ settlementId, isBusy, seconds, onAnother, onAdvance }: AfterSettleProps) => (
  <div class="actions after">
    {settlementId === null ? null : (
      <a href={`/console/payments/${encodeURIComponent(settlementId)}`}>Open the payment</a>
    )}
    {onAdvance === null ? null : (
      <button type="button" class="button" disabled={isBusy} onClick={onAdvance}>
        Move the clock by {seconds} s
      </button>
    )}
    <button type="button" class="button" disabled={isBusy} onClick={onAnother}>
      Settle for another order
    </button>
  </div>
)
