import { useId, useState } from 'preact/hooks'
import { api } from '../session.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Card } from '../ui/layout.js'
import { useAction } from '../useAction.js'

const scopes = [
  { scope: 'verify', meaning: 'verifies payments' },
  { scope: 'settle', meaning: 'settles payments, streams and intents' },
  { scope: 'read', meaning: 'reads this console and the feed of events' },
  { scope: 'manage', meaning: 'changes keys, webhook and restrictions' },
] as const

type Scope = (typeof scopes)[number]['scope']

const lives = [
  { days: null, label: 'Never' },
  { days: 30, label: 'In 30 days' },
  { days: 90, label: 'In 90 days' },
  { days: 365, label: 'In a year' },
]

const dayMs = 86_400_000

interface CreateKeyProps {
  /** Scopes of the key of this session. */
  readonly grantable: readonly Scope[]
  readonly onKey: (apiKey: string) => void
}

export const CreateKey = ({ grantable, onKey }: CreateKeyProps) => {
  const [name, setName] = useState('')
  // What a server that is paid needs.
  const [chosen, setChosen] = useState<readonly Scope[]>(['verify', 'settle'])
  const [days, setDays] = useState<number | null>(null)
  const { isBusy, error, run } = useAction()
  const id = useId()
  const granted = scopes
    .map(({ scope }) => scope)
    .filter((scope) => chosen.includes(scope) && grantable.includes(scope))
  const submit = async (event: Event) => {
    event.preventDefault()
    const expiresAt = days === null ? {} : { expiresAt: new Date(Date.now() + days * dayMs).toISOString() }
    const created = await run(() =>
      api.post('/dashboard/api-keys', { body: { name, scopes: granted, ...expiresAt } }),
    )
    if (created === null) return
    setName('')
    onKey(created.apiKey)
  }
  const toggle = (scope: Scope) =>
    setChosen((before) =>
      before.includes(scope) ? before.filter((each) => each !== scope) : [...before, scope],
    )
  return (
    <Card title="Create a key">
      <form onSubmit={(event) => void submit(event)}>
        <label for={`${id}-name`}>Name</label>
        <input
          id={`${id}-name`}
          type="text"
          required
          maxLength={100}
          autocomplete="off"
          placeholder="Checkout server"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <fieldset>
          <legend>Scopes</legend>
          {scopes.map(({ scope, meaning }) => (
            <label key={scope} class="check">
              <input
                type="checkbox"
                checked={granted.includes(scope)}
                disabled={!grantable.includes(scope)}
                onInput={() => toggle(scope)}
              />
              <span>
                <code>{scope}</code> <span class="soft">{meaning}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {grantable.length === scopes.length ? null : (
          <p class="small soft">A key grants only scopes that it has itself.</p>
        )}
        <label for={`${id}-life`}>Expires</label>
        <select
          id={`${id}-life`}
          value={String(days)}
          onInput={(event) =>
            setDays(lives.find((each) => String(each.days) === event.currentTarget.value)?.days ?? null)
          }
        >
          {lives.map((each) => (
            <option key={each.label} value={String(each.days)}>
              {each.label}
            </option>
          ))}
        </select>
        {error === null ? null : <ErrorNote error={error} />}
        <button type="submit" class="button" disabled={isBusy || granted.length === 0}>
          {isBusy ? 'Creating …' : 'Create the key'}
        </button>
      </form>
    </Card>
  )
}
