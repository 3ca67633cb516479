import { useId, useLayoutEffect, useState } from 'preact/hooks'
import { type Problem, readBody, readHeader } from '../explain/readInput.js'
import { useExplain } from '../explain/useExplain.js'
import { Choice } from '../playground/Choice.js'
import { api, session } from '../session.js'
import { useStore } from '../store.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Card, Page } from '../ui/layout.js'
import { Rules } from '../ui/Rules.js'
import { useLoad } from '../useLoad.js'
import type { ConsolePage } from './page.js'
import { SignIn } from './signIn.js'

const Explain = () => {
  const { account, reason } = useStore(session)
  const { data } = useLoad((signal) => api.get('/info', { signal }), [])
  if (data?.features.apiKeyRequired === true && account === null) return <SignIn reason={reason} />
  return (
    <Page
      title="Explain"
      lead="Why a payment passes /verify or not, rule by rule. Nothing is kept, and nothing moves."
    >
      <PaymentForm />
    </Page>
  )
}

const forms = ['Body of /verify', 'Header and requirements'] as const
const [bodyForm, headerForm] = forms

const PaymentForm = () => {
  const [form, setForm] = useState<string>(bodyForm)
  const [body, setBody] = useState('')
  const [header, setHeader] = useState('')
  const [requirements, setRequirements] = useState('')
  const [problem, setProblem] = useState<Problem | null>(null)
  const { explanation, error, isBusy, ask, clear } = useExplain()
  const id = useId()
  // A problem is that of the texts which were sent.
  useLayoutEffect(() => setProblem(null), [form, body, header, requirements])
  const submit = (event: Event) => {
    event.preventDefault()
    const read = form === headerForm ? readHeader(header, requirements) : readBody(body)
    if ('problem' in read) {
      clear()
      setProblem(read)
    } else void ask(read.body)
  }
  return (
    <Card title="Payment">
      <form class="ask" onSubmit={submit}>
        <Choice label="What you have" options={forms} chosen={form} onChoose={setForm} />
        {form === headerForm ? (
          <>
            <PasteField
              label="Header PAYMENT-SIGNATURE or X-PAYMENT, in base64"
              rows={5}
              value={header}
              onInput={setHeader}
              problemId={problem?.field === 'header' ? id : null}
            />
            <PasteField
              label="Payment requirements, as JSON"
              rows={8}
              placeholder={'{ "scheme": "exact", "network": "eip155:84532", … }'}
              value={requirements}
              onInput={setRequirements}
              problemId={problem?.field === 'requirements' ? id : null}
            />
          </>
        ) : (
          <PasteField
            label="Body of /verify, as JSON"
            rows={14}
            placeholder={'{ "x402Version": 2, "paymentPayload": { … }, "paymentRequirements": { … } }'}
            value={body}
            onInput={setBody}
            problemId={problem?.field === 'body' ? id : null}
          />
        )}
        <p id={id} class="problem" role="alert">
          {problem?.problem}
        </p>
        <button type="submit" class="button primary" disabled={isBusy}>
          {isBusy ? 'Asking …' : 'Explain'}
        </button>
      </form>
      {error === null ? null : <ErrorNote error={error} />}
      <Rules explanation={explanation} />
    </Card>
  )
}

interface PasteFieldProps {
  readonly label: string
  readonly rows: number
  readonly placeholder?: string
  readonly value: string
  readonly onInput: (text: string) => void
  /** Null: nothing is wrong with it. */
  readonly problemId: string | null
}

const PasteField = ({ label, rows, placeholder = '', value, onInput, problemId }: PasteFieldProps) => {
  const id = useId()
  return (
    <>
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        spellcheck={false}
        autocomplete="off"
        placeholder={placeholder}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
        {...(problemId === null ? {} : { 'aria-invalid': true, 'aria-describedby': problemId })}
      />
    </>
  )
}

export const explainPage: ConsolePage = {
  path: '/console/explain',
  label: 'Explain',
  isOpen: true,
  render: () => <Explain />,
}
