import { useId, useState } from 'preact/hooks'
import { Card, Page } from '../ui/layout.js'
import { useLoad } from '../useLoad.js'
import { operatorApi, signInOperator } from './session.js'

export const OperatorSignIn = ({ reason }: { readonly reason: string | null }) => {
  // Without a token: 401 where one is set, 403 where none is.
  const { error } = useLoad((signal) => operatorApi.get('/v1/operator/pauses', { signal }), [])
  return (
    <Page title="Operator" lead="How this instance is doing, who causes load, and what is paused.">
      {reason === null ? null : (
        <div class="note warn" role="alert">
          <p>
            <strong>You were signed out.</strong> {reason}.
          </p>
        </div>
      )}
      {error?.status === 403 ? <NoToken /> : <TokenCard />}
      <p class="operator-way">
        <a href="/console">I have an API key</a>
      </p>
    </Page>
  )
}

const NoToken = () => (
  <Card title="No token is set">
    <p>
      This instance has no <code>OPERATOR_TOKEN</code>, so that its operator’s pages stay closed. Set it to a
      long random text, such as that of <code>openssl rand -hex 32</code>, and restart the instance.
    </p>
  </Card>
)

const TokenCard = () => {
  const [token, setToken] = useState('')
  const [isRemembered, setRemembered] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const id = useId()
  const submit = async (event: Event) => {
    event.preventDefault()
    // What no header can carry is no token.
    if (!/^[\x21-\x7e]+$/.test(token.trim())) return setProblem('Enter the OPERATOR_TOKEN of this instance')
    setBusy(true)
    setProblem(null)
    const refused = await signInOperator(token.trim(), isRemembered)
    if (refused === null) return
    setBusy(false)
    setProblem(refused)
  }
  return (
    <Card title="With the operator’s token" form="receipt">
      <form onSubmit={(event) => void submit(event)} noValidate>
        <label for={`${id}-token`}>Operator token</label>
        <input
          id={`${id}-token`}
          type="password"
          name="operatorToken"
          autocomplete="off"
          spellcheck={false}
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
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
          Remember the token until this tab closes
        </label>
        <button type="submit" class="button primary" disabled={isBusy}>
          {isBusy ? 'Checking …' : 'Open'}
        </button>
        <p class="small soft">
          The setting <code>OPERATOR_TOKEN</code>. It pauses payments and revokes accounts: it stays in this
          tab, and is sent to this service only.
        </p>
      </form>
    </Card>
  )
}
