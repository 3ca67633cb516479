import { useState } from 'preact/hooks'
import type { Answer } from '../api.js'
import { api, revokeOwnKey, rotateKey, session } from '../session.js'
import { useStore } from '../store.js'
import { Confirm } from '../ui/Confirm.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Card, Page } from '../ui/layout.js'
import { SecretDialog } from '../ui/SecretDialog.js'
import { Table } from '../ui/Table.js'
import { Status, Time } from '../ui/values.js'
import { useAction } from '../useAction.js'
import { useLoad } from '../useLoad.js'
import { LatestChanges } from './keysAudit.js'
import { CreateKey } from './keysCreate.js'
import { Restrictions } from './keysRestrictions.js'
import type { ConsolePage } from './page.js'

type Key = Answer<'/dashboard/api-keys'>['keys'][number]

const Keys = () => {
  const { key: sessionKey, account } = useStore(session)
  const { data, error, isLoading, reload } = useLoad(
    (signal) => api.get('/dashboard/api-keys', { signal }),
    [sessionKey],
  )
  const [created, setCreated] = useState<string | null>(null)
  const [changes, setChanges] = useState(0)
  const changed = () => {
    setChanges((count) => count + 1)
    reload()
  }
  const onKey = (apiKey: string) => {
    setCreated(apiKey)
    changed()
  }
  const current = data?.keys.find((key) => key.current)
  return (
    <Page title="Keys" lead="Who may act for this project, from where, and who changed it.">
      <Card title="Keys of the project">
        {error === null ? null : <ErrorNote error={error} onRetry={reload} />}
        {data === null ? (
          isLoading ? (
            <p class="soft">Loading …</p>
          ) : null
        ) : (
          <KeyTable keys={data.keys} onKey={onKey} onRevoked={changed} />
        )}
      </Card>
      <div class="columns">
        <CreateKey grantable={current?.scopes ?? []} onKey={onKey} />
        {account === null ? null : <Restrictions account={account} onChanged={changed} />}
      </div>
      <LatestChanges round={changes} />
      {created === null ? null : (
        <SecretDialog
          title="Your new API key"
          secret={created}
          label="API key"
          onClose={() => setCreated(null)}
        >
          It is shown once. Store it where your server reads its secrets.
        </SecretDialog>
      )}
    </Page>
  )
}

interface KeyTableProps {
  readonly keys: readonly Key[]
  readonly onKey: (apiKey: string) => void
  readonly onRevoked: () => void
}

const KeyTable = ({ keys, onKey, onRevoked }: KeyTableProps) => {
  const [asked, setAsked] = useState<{ readonly key: Key; readonly to: 'rotate' | 'revoke' } | null>(null)
  const close = () => setAsked(null)
  return (
    <>
      <Table
        caption="Keys of the project"
        rows={keys}
        getKey={({ id }) => id}
        columns={[
          { label: 'Name', render: (key) => <KeyName apiKey={key} /> },
          { label: 'Status', render: ({ status }) => <Status status={status} /> },
          { label: 'Scopes', isExtra: true, render: ({ scopes }) => scopes.join(', ') },
          { label: 'Created', isExtra: true, render: ({ createdAt }) => <Time at={createdAt} /> },
          {
            label: 'Last used',
            isExtra: true,
            render: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time at={lastUsedAt} />),
          },
          {
            label: 'Expires',
            isExtra: true,
            render: ({ expiresAt }) => (expiresAt === null ? 'never' : <Time at={expiresAt} />),
          },
          {
            label: 'Actions',
            align: 'end',
            render: (key) => (
              <span class="row-actions">
                {key.current && key.status === 'active' ? (
                  <button type="button" class="button quiet" onClick={() => setAsked({ key, to: 'rotate' })}>
                    Rotate
                  </button>
                ) : null}
                {key.isPrimary || key.status === 'expired' ? null : (
                  <button
                    type="button"
                    class="button quiet"
                    aria-label={`Revoke ${key.name}`}
                    onClick={() => setAsked({ key, to: 'revoke' })}
                  >
                    Revoke
                  </button>
                )}
              </span>
            ),
          },
        ]}
      />
      <p class="small soft">
        Only the key of this session can be rotated. The primary key is the one of the registration: it cannot
        be revoked.
      </p>
      {asked?.to === 'rotate' ? <Rotate onKey={onKey} onClose={close} /> : null}
      {asked?.to === 'revoke' ? <Revoke apiKey={asked.key} onRevoked={onRevoked} onClose={close} /> : null}
    </>
  )
}

const KeyName = ({ apiKey }: { readonly apiKey: Key }) => (
  <>
    <strong>{apiKey.name}</strong>
    <span class="marks">
      {apiKey.current ? <span class="mark">this session</span> : null}
      {apiKey.isPrimary ? <span class="mark">primary</span> : null}
    </span>
    <span class="narrow soft">
      {apiKey.scopes.join(', ')}
      {apiKey.expiresAt === null ? null : (
        <>
          , expires <Time at={apiKey.expiresAt} />
        </>
      )}
    </span>
  </>
)

const overlaps = [
  { seconds: 0, label: 'Invalid at once' },
  { seconds: 3_600, label: 'Valid for another hour' },
  { seconds: 86_400, label: 'Valid for another day' },
  { seconds: 604_800, label: 'Valid for another 7 days' },
]

interface RotateProps {
  readonly onKey: (apiKey: string) => void
  readonly onClose: () => void
}

const Rotate = ({ onKey, onClose }: RotateProps) => {
  const [graceSeconds, setGraceSeconds] = useState(3_600)
  const change = useAction()
  const rotate = async () => {
    const rotated = await change.run(() => rotateKey(graceSeconds))
    if (rotated === null) return
    onClose()
    onKey(rotated.apiKey)
  }
  return (
    <Confirm
      title="Rotate the key of this session"
      action="Rotate"
      {...change}
      onConfirm={() => void rotate()}
      onClose={onClose}
    >
      <p>
        A new key with the same name, scopes and expiry replaces it, and this session goes on with the new
        one.
      </p>
      <fieldset>
        <legend>The old key is</legend>
        {overlaps.map(({ seconds, label }) => (
          <label key={seconds} class="check">
            <input
              type="radio"
              name="overlap"
              checked={seconds === graceSeconds}
              onInput={() => setGraceSeconds(seconds)}
            />
            {label}
          </label>
        ))}
      </fieldset>
      <p class="small soft">
        {graceSeconds === 0
          ? 'Servers that use it are refused until they have the new one.'
          : 'Until then it works without the scope manage.'}
      </p>
    </Confirm>
  )
}

interface RevokeProps {
  readonly apiKey: Key
  readonly onRevoked: () => void
  readonly onClose: () => void
}

const Revoke = ({ apiKey, onRevoked, onClose }: RevokeProps) => {
  const change = useAction()
  const revoke = async () => {
    const { id, current } = apiKey
    const revoked = await change.run(() =>
      current ? revokeOwnKey(id) : api.delete('/dashboard/api-keys/{id}', { params: { id } }),
    )
    // The page is gone with the session of a key that revoked itself.
    if (revoked === null || current) return
    onClose()
    onRevoked()
  }
  return (
    <Confirm
      title={`Revoke ${apiKey.name}`}
      action="Revoke"
      {...change}
      onConfirm={() => void revoke()}
      onClose={onClose}
    >
      <p>
        Requests with it are refused at once, and it cannot be restored.{' '}
        {apiKey.current
          ? 'It is the key of this session: you will be signed out.'
          : apiKey.lastUsedAt === null
            ? 'It was never used.'
            : null}
        {!apiKey.current && apiKey.lastUsedAt !== null ? (
          <>
            It was last used <Time at={apiKey.lastUsedAt} />.
          </>
        ) : null}
      </p>
    </Confirm>
  )
}

export const keysPage: ConsolePage = { path: '/console/keys', label: 'Keys', render: () => <Keys /> }
