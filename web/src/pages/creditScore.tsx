import { useState } from 'preact/hooks'
import { creditWeights } from '../../../src/protocol/creditWeights.js'
import type { Schemas } from '../api.js'
import { formatCount, formatShare, formatUnits } from '../format.js'
import { api } from '../session.js'
import { Code } from '../ui/copy.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Card, Empty, Fact, Facts } from '../ui/layout.js'
import { useAction } from '../useAction.js'
import { useLoad } from '../useLoad.js'

type CreditScore = Schemas['CreditScore']

/** From millionths. */
export const formatDollars = (amount: string): string => `$${formatUnits(amount, 6)}`

interface ScoreProps {
  readonly wallet: string
  readonly network: string | undefined
}

export const Score = ({ wallet, network }: ScoreProps) => {
  const query = { wallet, ...(network === undefined ? {} : { network }) }
  const { data, error, reload, update, isLoading } = useLoad<CreditScore>(
    (signal) => api.get('/v1/credit/score', { query, signal }),
    [wallet, network],
  )
  if (data === null) {
    if (isLoading) return <p class="soft">Loading …</p>
    return error === null ? null : error.status === 400 ? (
      <Empty title="This is no address that the service knows.">
        <p>{error.message}</p>
      </Empty>
    ) : (
      <ErrorNote error={error} onRetry={reload} />
    )
  }
  return (
    <div class="columns">
      <Card title="Score" form="receipt">
        <p class="total-amount">
          {data.score} <span class="unit">of 1,000</span>
        </p>
        <Parts score={data} />
        <dl class="long-facts">
          <Fact name={`Wallet, ${data.namespace}`}>
            <Code text={data.wallet} label="wallet" />
          </Fact>
        </dl>
        <Recount query={query} onScore={(score) => update(() => score)} />
      </Card>
      <div class="stack">
        <Card title="Figures">
          <Figures stats={data.stats} />
        </Card>
        <Card title="How it came about">
          <ul class="plain-list">
            {data.explanation.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </Card>
        {data.improvements.length === 0 ? null : (
          <Card title="What would raise it">
            <ul class="plain-list">
              {data.improvements.map(({ part, points, action }) => (
                <li key={part}>
                  {action}{' '}
                  <span class="soft">
                    {names[part]}: {points} points
                  </span>
                </li>
              ))}
            </ul>
          </Card>
        )}
      </div>
    </div>
  )
}

const names = {
  volumeScore: 'Volume',
  frequencyScore: 'Frequency',
  reliabilityScore: 'Reliability',
  ageScore: 'Age',
} as const

const parts = [
  { part: 'volumeScore', most: creditWeights.volume },
  { part: 'frequencyScore', most: creditWeights.frequency },
  { part: 'reliabilityScore', most: creditWeights.reliability },
  { part: 'ageScore', most: creditWeights.age },
] as const

const Parts = ({ score: { breakdown } }: { readonly score: CreditScore }) => (
  <dl class="parts">
    {parts.map(({ part, most }) => (
      <div key={part}>
        <dt>{names[part]}</dt>
        <dd>
          {breakdown[part]} <span class="unit">of {most}</span>
          <meter aria-label={`Points for ${names[part]}`} min={0} max={most} value={breakdown[part]} />
        </dd>
      </div>
    ))}
  </dl>
)

const Figures = ({ stats }: Pick<CreditScore, 'stats'>) => (
  <Facts>
    <Fact name="Payments that count">{formatCount(stats.paymentCount)}</Fact>
    <Fact name="Their volume">{formatDollars(stats.totalVolume)}</Fact>
    <Fact name="Recipients">{formatCount(stats.payeeCount)}</Fact>
    <Fact name="Failures">{formatCount(stats.failureCount)}</Fact>
    <Fact name="Did not fail">{stats.paymentCount === 0 ? '–' : formatShare(stats.successRate)}</Fact>
    <Fact name="Days since the first">{formatCount(stats.accountAgeDays)}</Fact>
    <Fact name="Came back, not counted">
      {formatCount(stats.cyclePaymentCount)}, {formatDollars(stats.returnedVolume)}
    </Fact>
  </Facts>
)

interface RecountProps {
  readonly query: { readonly wallet: string; readonly network?: string }
  readonly onScore: (score: CreditScore) => void
}

const Recount = ({ query, onScore }: RecountProps) => {
  const { isBusy, error, run } = useAction()
  const [said, setSaid] = useState<string | null>(null)
  const recount = async () => {
    setSaid(null)
    const score = await run(() => api.post('/v1/credit/refresh', { query }))
    if (score === null) return
    const { isComplete, repairs } = score.refresh
    setSaid(
      isComplete
        ? `${repairs === 0 ? 'No figure' : formatCount(repairs)} had to be corrected.`
        : 'There are too many payments to count them now.',
    )
    onScore(score)
  }
  return (
    <>
      <div class="actions more">
        <button type="button" class="button" disabled={isBusy} onClick={() => void recount()}>
          {isBusy ? 'Counting …' : 'Count the payments again'}
        </button>
      </div>
      <p class="small soft" role="status">
        {said}
      </p>
      {error === null ? null : <ErrorNote error={error} />}
    </>
  )
}
