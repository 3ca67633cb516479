import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { api, refreshAccount, session } from '../session.js'
import { useStore } from '../store.js'
import { Confirm } from '../ui/Confirm.js'
import { CodeBlock } from '../ui/copy.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Card, Page } from '../ui/layout.js'
import { SecretDialog } from '../ui/SecretDialog.js'
import { ExactTime } from '../ui/values.js'
import { useAction } from '../useAction.js'
import type { ConsolePage, PageInput } from './page.js'
import { Deliveries } from './webhookDeliveries.js'

const Webhooks = ({ query }: Pick<PageInput, 'query'>) => {
  const { account } = useStore(session)
  if (account === null) return <Page title="Webhooks">{null}</Page>
  return (
    <Page
      title="Webhooks"
      lead="Your server hears of every outcome, also of those that come after its request."
    >
      <div class="columns">
        <Endpoint key={account.webhookUrl} url={account.webhookUrl} />
        <Listen />
      </div>
      <Deliveries query={query} hasEndpoint={account.webhookUrl !== ''} />
    </Page>
  )
}

interface Secret {
  readonly text: string
  /** Until then messages carry the signature of the previous one, too; null: there is no previous one. */
  readonly previousUntil: string | null
}

const Endpoint = ({ url }: { readonly url: string }) => {
  const [secret, setSecret] = useState<Secret | null>(null)
  const setEndpoint = useAction()
  const [text, setText] = useState(url)
  const id = useId()
  const submit = async (event: Event) => {
    event.preventDefault()
    const set = await setEndpoint.run(() =>
      api.post('/dashboard/webhook', { body: { webhookUrl: text.trim() } }),
    )
    if (set === null) return
    if (set.secret === undefined) await refreshAccount()
    else setSecret({ text: set.secret, previousUntil: null })
  }
  const closeSecret = () => {
    setSecret(null)
    void refreshAccount()
  }
  return (
    <Card title="Endpoint">
      <form onSubmit={(event) => void submit(event)}>
        <label for={`${id}-url`}>URL</label>
        <input
          id={`${id}-url`}
          type="url"
          required
          maxLength={2_048}
          spellcheck={false}
          placeholder="https://shop.example/webhooks/payments"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {setEndpoint.error === null ? null : <ErrorNote error={setEndpoint.error} />}
        <button type="submit" class="button primary" disabled={setEndpoint.isBusy}>
          {url === '' ? 'Set the webhook' : 'Save and show the secret'}
        </button>
        <p class="small soft">
          HTTPS, on a public address. The same URL keeps its signing secret; another one gets a new one.
        </p>
      </form>
      {url === '' ? null : <EndpointActions onSecret={setSecret} />}
      {secret === null ? null : (
        <SecretDialog
          title="Signing secret"
          secret={secret.text}
          label="signing secret"
          onClose={closeSecret}
        >
          Your receiver verifies messages with it. Store it where your server reads its secrets.
          {secret.previousUntil === null ? null : (
            <>
              {' '}
              Until <ExactTime at={secret.previousUntil} />, messages carry the signature of the previous one,
              too.
            </>
          )}
        </SecretDialog>
      )}
    </Card>
  )
}

const EndpointActions = ({ onSecret }: { readonly onSecret: (secret: Secret) => void }) => {
  const [asked, setAsked] = useState<'rotate' | 'remove' | null>(null)
  const change = useAction()
  const close = () => {
    setAsked(null)
    change.clear()
  }
  const rotate = async () => {
    const rotated = await change.run(() => api.post('/dashboard/webhook/rotate'))
    if (rotated === null) return
    close()
    onSecret({ text: rotated.secret, previousUntil: rotated.previousSecretUntil })
  }
  const remove = async () => {
    const removed = await change.run(() => api.post('/dashboard/webhook', { body: { webhookUrl: '' } }))
    if (removed === null) return
    close()
    await refreshAccount()
  }
  return (
    <>
      <SendTest>
        <button type="button" class="button" onClick={() => setAsked('rotate')}>
          Rotate the secret
        </button>
        <button type="button" class="button" onClick={() => setAsked('remove')}>
          Remove
        </button>
      </SendTest>
      {asked === 'rotate' ? (
        <Confirm
          title="Rotate the signing secret"
          action="Rotate"
          {...change}
          onConfirm={() => void rotate()}
          onClose={close}
        >
          <p>
            For 24 hours messages carry two signatures, so that your receiver can change to the new secret
            without refusing any.
          </p>
        </Confirm>
      ) : null}
      {asked === 'remove' ? (
        <Confirm
          title="Remove the webhook"
          action="Remove"
          {...change}
          onConfirm={() => void remove()}
          onClose={close}
        >
          <p>
            Messages that wait to be sent fail. Events stay in the feed for 30 days, and can be sent again
            once a URL is set.
          </p>
        </Confirm>
      ) : null}
    </>
  )
}

const SendTest = ({ children }: { readonly children: ComponentChildren }) => {
  const [result, setResult] = useState<{ readonly success: boolean; readonly message: string } | null>(null)
  const { isBusy, error, run } = useAction()
  const send = async () => {
    setResult(null)
    setResult(await run(() => api.post('/dashboard/webhook/test')))
  }
  return (
    <>
      <div class="actions more">
        <button type="button" class="button" disabled={isBusy} onClick={() => void send()}>
          {isBusy ? 'Waiting for the answer …' : 'Send a test'}
        </button>
        {children}
      </div>
      {error === null ? null : <ErrorNote error={error} />}
      {result === null ? null : (
        <div class={`note ${result.success ? 'good' : 'bad'}`} role="status">
          <p>
            <strong>{result.success ? 'The test arrived.' : 'The test failed.'}</strong> {result.message}.
          </p>
        </div>
      )}
    </>
  )
}

const Listen = () => (
  <Card title="On your machine">
    <p>
      While you develop, no public address is needed: this prints events as they happen, and posts each to
      your receiver as a signed message.
    </p>
    <CodeBlock label="Command that forwards events to your machine" text={listenCommand(location.origin)} />
    <p class="small soft">
      In a clone of the service. It prints the secret that it signs with, and needs a key with the scope{' '}
      <code>read</code>.
    </p>
  </Card>
)

const listenCommand = (origin: string): string => `export QUITTANCE_API_KEY=…
npm run listen -- --url ${origin} \\
  --key "$QUITTANCE_API_KEY" \\
  --forward http://localhost:3000/hook`

export const webhooksPage: ConsolePage = {
  path: '/console/webhooks',
  label: 'Webhooks',
  render: ({ query }) => <Webhooks query={query} />,
}
