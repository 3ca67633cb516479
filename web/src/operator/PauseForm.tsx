import { useId, useState } from 'preact/hooks'
import { networks } from '../networks.js'
import { useStore } from '../store.js'
import { Confirm } from '../ui/Confirm.js'
import { Card } from '../ui/layout.js'
import { useAction } from '../useAction.js'
import { NameField } from './NameField.js'
import { operatorApi, readOperatorName } from './session.js'
import { describeTarget, type PauseTarget, readTarget, type TypedTarget } from './target.js'

const kinds = [
  { kind: 'network', label: 'A network' },
  { kind: 'scheme', label: 'A scheme on a network' },
  { kind: 'recipient', label: 'A recipient' },
  { kind: 'account', label: 'An account' },
] as const

const nothing: TypedTarget = { kind: 'network', network: '', scheme: '', payTo: '', accountId: '' }

export const PauseForm = ({ onSet }: { readonly onSet: () => void }) => {
  const [typed, setTyped] = useState(nothing)
  const [reason, setReason] = useState('')
  const [asked, setAsked] = useState<PauseTarget | null>(null)
  const known = useStore(networks)
  const id = useId()
  const network = typed.network === '' ? (known[0]?.network ?? '') : typed.network
  const submit = (event: Event) => {
    event.preventDefault()
    setAsked(readTarget({ ...typed, network }))
  }
  const clear = () => {
    setAsked(null)
    setTyped(nothing)
    setReason('')
    onSet()
  }
  const change = (changed: Partial<TypedTarget>) => setTyped({ ...typed, ...changed })
  return (
    <Card title="Pause">
      <form class="confirm" onSubmit={submit}>
        <div>
          <label for={`${id}-kind`}>What</label>
          <select
            id={`${id}-kind`}
            value={typed.kind}
            onInput={(event) => {
              const chosen = kinds.find(({ kind }) => kind === event.currentTarget.value)
              if (chosen !== undefined) change({ kind: chosen.kind })
            }}
          >
            {kinds.map(({ kind, label }) => (
              <option key={kind} value={kind}>
                {label}
              </option>
            ))}
          </select>
        </div>
        {typed.kind === 'account' ? null : (
          <div>
            <label for={`${id}-network`}>Network</label>
            <select
              id={`${id}-network`}
              value={network}
              onInput={(event) => change({ network: event.currentTarget.value })}
            >
              {known.map((each) => (
                <option key={each.network} value={each.network}>
                  {each.name}
                </option>
              ))}
            </select>
          </div>
        )}
        {typed.kind === 'scheme' ? (
          <Field label="Scheme" value={typed.scheme} onType={(scheme) => change({ scheme })} />
        ) : typed.kind === 'recipient' ? (
          <Field label="Recipient" value={typed.payTo} onType={(payTo) => change({ payTo })} />
        ) : typed.kind === 'account' ? (
          <Field label="Account id" value={typed.accountId} onType={(accountId) => change({ accountId })} />
        ) : null}
        <Field label="Reason, which callers read" maxLength={200} value={reason} onType={setReason} />
        <div>
          <button type="submit" class="button primary">
            Pause …
          </button>
        </div>
      </form>
      {asked === null ? null : (
        <ConfirmPause target={asked} reason={reason.trim()} onDone={clear} onClose={() => setAsked(null)} />
      )}
    </Card>
  )
}

interface FieldProps {
  readonly label: string
  readonly maxLength?: number
  readonly value: string
  readonly onType: (text: string) => void
}

const Field = ({ label, maxLength = 128, value, onType }: FieldProps) => {
  const id = useId()
  return (
    <div>
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        required
        maxLength={maxLength}
        autocomplete="off"
        value={value}
        onInput={(event) => onType(event.currentTarget.value)}
      />
    </div>
  )
}

interface ConfirmPauseProps {
  readonly target: PauseTarget
  readonly reason: string
  readonly onDone: () => void
  readonly onClose: () => void
}

const ConfirmPause = ({ target, reason, onDone, onClose }: ConfirmPauseProps) => {
  const change = useAction()
  const pause = async () => {
    const set = await change.run(() =>
      operatorApi.put('/v1/operator/pauses', { body: { target, reason, ...readOperatorName() } }),
    )
    if (set !== null) onDone()
  }
  return (
    <Confirm
      title={`Pause ${describeTarget(target)}`}
      action="Pause"
      {...change}
      onConfirm={() => void pause()}
      onClose={onClose}
    >
      <p>
        <strong>Stops:</strong> new payments are refused with 503 and the reason “{reason}”, on all instances
        within two seconds, also after restarts, until an operator resumes them.
      </p>
      <p>
        <strong>Goes on:</strong> settlements that were claimed or sent, funds that a <code>/verify</code>{' '}
        holds, transfers that clients made before, open streams, and answers that were given.
      </p>
      <NameField />
    </Confirm>
  )
}
