import { useId, useState } from 'preact/hooks'
import type { ApiError } from '../api.js'
import { api, signIn } from '../session.js'
import { CopyButton } from '../ui/copy.js'
import { Dialog } from '../ui/Dialog.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Card, Page } from '../ui/layout.js'
import { useLoad } from '../useLoad.js'

/** Replaces every page until someone signs in; the path stays, and its page follows. */
export const SignIn = ({ reason }: { readonly reason: string | null }) => (
  <Page title="Sign in" lead="See your payments arrive, and what became of each.">
    {reason === null ? null : (
      <div class="note warn" role="alert">
        <p>
          <strong>You were signed out.</strong> {reason}.
        </p>
      </div>
    )}
    <div class="columns">
      <Card title="With an API key" form="receipt">
        <KeyForm />
      </Card>
      <Card title="Register a project">
        <RegisterForm />
      </Card>
    </div>
    <p class="operator-way">
      <a href="/console/operator">I operate this instance</a>
    </p>
  </Page>
)

const KeyForm = () => {
  const [key, setKey] = useState('')
  const [isRemembered, setRemembered] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const id = useId()
  const submit = async (event: Event) => {
    event.preventDefault()
    if (key.trim() === '') return setProblem('Enter an API key')
    setBusy(true)
    setProblem(null)
    const refused = await signIn(key.trim(), isRemembered)
    if (refused === null) return
    setBusy(false)
    setProblem(refused)
  }
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <label for={`${id}-key`}>API key</label>
      <input
        id={`${id}-key`}
        type="password"
        name="apiKey"
        autocomplete="off"
        spellcheck={false}
        placeholder="qtn_sk_…"
        value={key}
        onInput={(event) => setKey(event.currentTarget.value)}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-problem`}
      />
      <p id={`${id}-problem`} class="problem" role="alert">
        {problem}
      </p>
      <label class="check">
        <input
          type="checkbox"
          checked={isRemembered}
          onInput={(event) => setRemembered(event.currentTarget.checked)}
        />
        Remember the key until this tab closes
      </label>
      <button type="submit" class="button primary" disabled={isBusy}>
        {isBusy ? 'Checking …' : 'Sign in'}
      </button>
      <p class="small soft">
        The key stays in this tab, and is sent to this service only. A key with the scope <code>read</code> is
        enough to look.
      </p>
    </form>
  )
}

interface Registered {
  readonly apiKey: string
  readonly isNew: boolean
  readonly email: string
}

const RegisterForm = () => {
  const [email, setEmail] = useState('')
  const [projectName, setProjectName] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError | null>(null)
  const [registered, setRegistered] = useState<Registered | null>(null)
  const id = useId()
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    setRegistered(null)
    const result = await api.post('/register', { body: { email, projectName } })
    setBusy(false)
    if (result.ok) setRegistered({ ...result.data, email })
    else setError(result.error)
  }
  return (
    <>
      <form onSubmit={(event) => void submit(event)}>
        <label for={`${id}-email`}>E-mail address</label>
        <input
          id={`${id}-email`}
          type="email"
          autocomplete="email"
          required
          value={email}
          onInput={(event) => setEmail(event.currentTarget.value)}
        />
        <label for={`${id}-project`}>Project</label>
        <input
          id={`${id}-project`}
          type="text"
          required
          maxLength={100}
          placeholder="Report shop"
          value={projectName}
          onInput={(event) => setProjectName(event.currentTarget.value)}
        />
        {error === null ? null : <ErrorNote error={error} />}
        <button type="submit" class="button" disabled={isBusy}>
          {isBusy ? 'Registering …' : 'Get a key'}
        </button>
      </form>
      {registered === null ? null : isMasked(registered.apiKey) ? (
        <MaskedKey {...registered} />
      ) : (
        <NewKey {...registered} onClose={() => setRegistered(null)} />
      )}
    </>
  )
}

const isMasked = (apiKey: string): boolean => apiKey.includes('*')

const NewKey = ({ apiKey, isNew, onClose }: Registered & { readonly onClose: () => void }) => (
  <Dialog title={isNew ? 'Your API key' : 'The key of this project'} onClose={null}>
    <p>
      {isNew
        ? 'It is shown once. Store it where your server reads its secrets.'
        : 'Your project already had one.'}
    </p>
    <p class="key">
      <code>{apiKey}</code>
    </p>
    <div class="actions">
      <CopyButton text={apiKey} label="API key" />
      <button type="button" class="button" onClick={onClose}>
        Close
      </button>
      <button type="button" class="button primary" onClick={() => void signIn(apiKey, false)}>
        I stored it: sign in
      </button>
    </div>
  </Dialog>
)

/** The operator decides who sees a key again: docs/keys.md. */
const MaskedKey = ({ email }: Pick<Registered, 'email'>) => {
  const { data } = useLoad((signal) => api.get('/info', { signal }), [])
  const isMailed = data?.features.registration === 'verified'
  return (
    <div class="note good" role="status">
      <p>
        {isMailed ? (
          <>
            The key is on its way to <strong>{email}</strong>. Sign in with it when the mail is there.
          </>
        ) : (
          <>
            This project has a key already, which was shown when it was created. If you lost it, its operator
            can look it up for you.
          </>
        )}
      </p>
    </div>
  )
}
