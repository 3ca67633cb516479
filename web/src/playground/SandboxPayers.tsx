import { useState } from 'preact/hooks'
import type { Answer } from '../api.js'
import { nameOf } from '../networks.js'
import { api } from '../session.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Card } from '../ui/layout.js'
import { useLoad } from '../useLoad.js'
import { type Plan, planFixedPayer, planScenario, scenarios } from './plan.js'

/** Empty: the clock decides how it ends. */
type Tone = 'good' | 'warn' | 'bad' | ''
type Payer = Answer<'/sandbox/addresses'>['addresses'][number]

interface SandboxPayersProps {
  readonly chosen: Plan | null
  readonly onChoose: (plan: Plan) => void
}

const usual = 'eip155:84532'

/** Those with fixed results, and those that follow a script. */
export const SandboxPayers = ({ chosen, onChoose }: SandboxPayersProps) => {
  const { data, error, reload } = useLoad((signal) => api.get('/sandbox/addresses', { signal }), [])
  const [network, setNetwork] = useState(usual)
  if (error !== null) return <ErrorNote error={error} onRetry={reload} />
  if (data === null) return <p class="soft">Loading the payers …</p>
  const networks = [...new Set(data.addresses.flatMap((each) => each.networks))].sort()
  const payers = data.addresses.filter((each) => each.networks.includes(network))
  const change = (next: string) => {
    setNetwork(next)
    onChoose(planFixedPayer('CAFE11', next))
  }
  return (
    <Card
      title="A payer of the sandbox"
      actions={
        <label class="inline">
          Network{' '}
          <select value={network} onInput={(event) => change(event.currentTarget.value)}>
            {networks.map((each) => (
              <option key={each} value={each}>
                {nameOf(each)}
              </option>
            ))}
          </select>
        </label>
      }
    >
      <ul class="payers">
        {payers.map((payer) => {
          const plan = planFixedPayer(payer.name, network)
          return (
            <li key={payer.name}>
              <PlanButton
                plan={plan}
                chosen={chosen}
                onChoose={onChoose}
                text={payer.meaning}
                tone={findTone(payer)}
              />
            </li>
          )
        })}
      </ul>
      <h3 class="group">Scripts, on a clock that you move</h3>
      <ul class="payers">
        {scenarios.map((scenario) => {
          const plan = planScenario(scenario, network)
          return (
            <li key={scenario.title}>
              <PlanButton plan={plan} chosen={chosen} onChoose={onChoose} text={null} tone="" />
            </li>
          )
        })}
      </ul>
    </Card>
  )
}

const findTone = ({ settle }: Payer): Tone =>
  settle.success ? 'good' : settle.status === 'pending' ? 'warn' : 'bad'

interface PlanButtonProps extends SandboxPayersProps {
  readonly plan: Plan
  readonly text: string | null
  readonly tone: Tone
}

const PlanButton = ({ plan, chosen, onChoose, text, tone }: PlanButtonProps) => (
  <button
    type="button"
    class={`payer ${tone}`}
    aria-pressed={chosen?.id === plan.id}
    onClick={() => onChoose(plan)}
  >
    <strong>{plan.title}</strong>
    {text === null ? null : <span>{text}</span>}
  </button>
)
