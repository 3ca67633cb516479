import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { focusHeading } from '../router.js'
import { useStore } from '../store.js'
import { Empty, Page } from '../ui/layout.js'
import { Accounts } from './Accounts.js'
import { Audit } from './Audit.js'
import { Callers } from './Callers.js'
import { OperatorSignIn } from './OperatorSignIn.js'
import { Overview } from './Overview.js'
import { Pauses } from './Pauses.js'
import { Settlements } from './Settlements.js'
import { endOperatorSession, operatorSession } from './session.js'

interface OperatorPageProps {
  /** The last part of the path; empty: the overview. */
  readonly view: string
  readonly query: URLSearchParams
}

interface View {
  readonly name: string
  readonly label: string
  readonly lead: string
  readonly render: (query: URLSearchParams) => JSX.Element
}

const views: readonly View[] = [
  {
    name: '',
    label: 'Overview',
    lead: 'Read anew every 5 seconds while you look at it.',
    render: () => <Overview />,
  },
  {
    name: 'callers',
    label: 'Callers',
    lead: 'Of the last hour, of the instance that answers, since its start.',
    render: () => <Callers />,
  },
  {
    name: 'accounts',
    label: 'Accounts',
    lead: 'Tiers and revocations hold on all instances within two seconds.',
    render: (query) => <Accounts query={query} />,
  },
  {
    name: 'pauses',
    label: 'Pauses',
    lead: 'What keeps new payments out, on all instances.',
    render: () => <Pauses />,
  },
  {
    name: 'settlements',
    label: 'Settlements',
    lead: 'Of all accounts, newest first.',
    render: (query) => <Settlements query={query} />,
  },
  {
    name: 'audit',
    label: 'Audit',
    lead: 'What operators did in the last 90 days, here and by commands on the server.',
    render: (query) => <Audit query={query} />,
  },
]

export const OperatorPage = ({ view, query }: OperatorPageProps) => {
  const { token, reason } = useStore(operatorSession)
  // What had the focus is gone.
  useEffect(() => focusHeading(), [token === null])
  if (token === null) return <OperatorSignIn reason={reason} />
  const current = views.find(({ name }) => name === view)
  return (
    <Page
      title={current === undefined || current.name === '' ? 'Operator' : current.label}
      lead={current?.lead}
      actions={
        <button type="button" class="button quiet" onClick={() => endOperatorSession(null)}>
          Forget the token
        </button>
      }
    >
      <nav class="views" aria-label="Operator">
        {views.map(({ name, label }) => (
          <a
            key={name}
            href={name === '' ? '/console/operator' : `/console/operator/${name}`}
            {...(name === view ? { 'aria-current': 'page' } : {})}
          >
            {label}
          </a>
        ))}
      </nav>
      <div class="operator">
        {current === undefined ? <Empty title="No such page." /> : current.render(query)}
      </div>
    </Page>
  )
}
