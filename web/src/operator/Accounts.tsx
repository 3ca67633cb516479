import { useId, useState } from 'preact/hooks'
import type { Schemas } from '../api.js'
import { navigate, withQuery } from '../router.js'
import { Confirm } from '../ui/Confirm.js'
import { Listing } from '../ui/Listing.js'
import { Card, Empty } from '../ui/layout.js'
import { Table } from '../ui/Table.js'
import { Status, Time } from '../ui/values.js'
import { useAction } from '../useAction.js'
import { useAddressText } from '../useAddressText.js'
import { useLoad } from '../useLoad.js'
import { Redeliver } from './Redeliver.js'
import { operatorApi } from './session.js'

type Account = Schemas['OperatorAccount']

/** What is asked about an account; `tier`: the one to grant. */
interface Question {
  readonly account: Account
  readonly tier: string | null
}

const pageSize = 50

export const Accounts = ({ query }: { readonly query: URLSearchParams }) => {
  const search = query.get('search') ?? ''
  const cursor = query.get('cursor')
  const loaded = useLoad(
    (signal) =>
      operatorApi.get('/v1/operator/accounts', {
        query: { limit: pageSize, search, ...(cursor === null ? {} : { cursor }) },
        signal,
      }),
    [search, cursor],
  )
  const tiers = useLoad((signal) => operatorApi.get('/tiers', { signal }), [])
  const [asked, setAsked] = useState<Question | null>(null)
  const { data, update } = loaded
  const replace = (changed: Account) => {
    setAsked(null)
    update((page) => ({
      ...page,
      accounts: page.accounts.map((each) => (each.id === changed.id ? changed : each)),
    }))
  }
  return (
    <div class="stack">
      <Card title="Accounts">
        <AccountSearch search={search} />
        <Listing
          noun="accounts"
          loaded={loaded}
          isEmpty={data?.accounts.length === 0}
          cursor={cursor}
          isFiltered={search !== ''}
          pager={{ first: 'First', next: 'Next' }}
          empty={<Empty title="No account is registered yet." />}
        >
          <AccountTable
            accounts={data?.accounts ?? []}
            tiers={Object.keys(tiers.data?.tiers ?? {})}
            onAsk={setAsked}
          />
        </Listing>
      </Card>
      <Redeliver />
      {asked === null ? null : <AccountChange {...asked} onDone={replace} onClose={() => setAsked(null)} />}
    </div>
  )
}

const AccountSearch = ({ search }: { readonly search: string }) => {
  const [text, setText] = useAddressText(search)
  const id = useId()
  const find = (event: Event) => {
    event.preventDefault()
    navigate(withQuery({ search: text.trim(), cursor: null }))
  }
  return (
    <search aria-label="Accounts">
      <form class="filters" onSubmit={find}>
        <div class="grow">
          <label for={id}>Id, or the beginning of an e-mail address</label>
          <input
            id={id}
            type="search"
            spellcheck={false}
            maxLength={254}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
        <button type="submit" class="button">
          Find
        </button>
      </form>
    </search>
  )
}

interface AccountTableProps {
  readonly accounts: readonly Account[]
  readonly tiers: readonly string[]
  readonly onAsk: (question: Question) => void
}

const AccountTable = ({ accounts, tiers, onAsk }: AccountTableProps) => (
  <Table
    caption="Accounts"
    rows={accounts}
    getKey={({ id }) => id}
    columns={[
      {
        label: 'Account',
        render: ({ id, email, project }) => (
          <>
            {email}
            <span class="soft">{project}</span>
            <span class="soft">
              <code>{id}</code>
            </span>
          </>
        ),
      },
      { label: 'Status', isExtra: true, render: ({ status }) => <Status status={status} /> },
      { label: 'Keys', align: 'end', isExtra: true, render: ({ keys }) => keys },
      {
        label: 'Last used',
        isExtra: true,
        render: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time at={lastUsedAt} />),
      },
      {
        label: 'Tier',
        render: (account) =>
          account.status === 'revoked' ? (
            account.tier
          ) : (
            <TierChoice account={account} tiers={tiers} onChoose={(tier) => onAsk({ account, tier })} />
          ),
      },
      {
        label: 'Revoke',
        align: 'end',
        render: (account) =>
          account.status === 'revoked' ? (
            'Revoked'
          ) : (
            <button
              type="button"
              class="button quiet"
              aria-label={`Revoke ${account.email}, ${account.project}`}
              onClick={() => onAsk({ account, tier: null })}
            >
              Revoke
            </button>
          ),
      },
    ]}
  />
)

interface TierChoiceProps {
  readonly account: Account
  readonly tiers: readonly string[]
  readonly onChoose: (tier: string) => void
}

const TierChoice = ({ account, tiers, onChoose }: TierChoiceProps) => (
  <select
    aria-label={`Tier of ${account.email}, ${account.project}`}
    value={account.tier}
    onInput={(event) => {
      const { value } = event.currentTarget
      // It shows the granted one until the question is answered.
      event.currentTarget.value = account.tier
      onChoose(value)
    }}
  >
    {(tiers.includes(account.tier) ? tiers : [account.tier, ...tiers]).map((tier) => (
      <option key={tier} value={tier}>
        {tier}
      </option>
    ))}
  </select>
)

interface AccountChangeProps extends Question {
  readonly onDone: (changed: Account) => void
  readonly onClose: () => void
}

const AccountChange = ({ account, tier, onDone, onClose }: AccountChangeProps) => {
  const change = useAction()
  const params = { id: account.id }
  const confirm = async () => {
    const changed = await change.run(() =>
      tier === null
        ? operatorApi.post('/v1/operator/accounts/{id}/revoke', { params })
        : operatorApi.post('/v1/operator/accounts/{id}/tier', { params, body: { tier } }),
    )
    if (changed !== null) onDone(changed)
  }
  const whom = (
    <strong>
      {account.email}, {account.project}
    </strong>
  )
  return tier === null ? (
    <Confirm
      title="Revoke the account"
      action="Revoke"
      word="revoke"
      {...change}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>
        All keys of {whom} stop working, on all instances within two seconds. It cannot be undone. What the
        account has sent is settled, and its events are delivered.
      </p>
    </Confirm>
  ) : (
    <Confirm
      title="Grant a tier"
      action={`Grant ${tier}`}
      {...change}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>
        {whom} has the tier {account.tier}, and gets {tier}: its limits and its quota hold on all instances
        within two seconds. The owner reads it in the list of changes.
      </p>
    </Confirm>
  )
}
