import type { Schemas } from '../api.js'
import { formatUnits, shorten } from '../format.js'
import { api } from '../session.js'
import { EventedList } from '../ui/EventedList.js'
import { Table } from '../ui/Table.js'
import { Amount, NetworkName, Status, Time } from '../ui/values.js'
import type { ConsolePage, PageInput } from './page.js'

export type Intent = Schemas['Intent']

const states = ['pending', 'routed', 'executing', 'completed', 'failed', 'expired', 'cancelled'] as const

const Intents = ({ query }: Pick<PageInput, 'query'>) => (
  <EventedList
    noun="intent"
    lead="Payments whose network and token the payer chooses. Newest first."
    query={query}
    states={states}
    load={(query, signal) => api.get('/v1/intent', { query, signal })}
    readItems={({ intents }) => intents}
    advice={
      <p>
        Your server creates one with <code>POST /v1/intent</code>: the <a href="/docs">API reference</a> has a
        request to send.
      </p>
    }
  >
    {(intents) => <IntentTable intents={intents} />}
  </EventedList>
)

const IntentTable = ({ intents }: { readonly intents: readonly Intent[] }) => (
  <Table
    caption="Intents, newest first"
    rows={intents}
    getKey={({ id }) => id}
    getClass={() => 'linked'}
    columns={[
      {
        label: 'Amount',
        render: (intent) => (
          <a class="row-link" href={`/console/intents/${intent.id}`}>
            <IntentAmount intent={intent} />
          </a>
        ),
      },
      { label: 'Status', render: ({ status }) => <Status status={status} /> },
      {
        label: 'Network',
        isExtra: true,
        render: ({ selectedRoute }) =>
          selectedRoute === undefined ? (
            <span class="soft">not chosen</span>
          ) : (
            <NetworkName network={selectedRoute.network} />
          ),
      },
      { label: 'Payer', isExtra: true, render: ({ payer }) => <Party party={payer} /> },
      { label: 'Created', align: 'end', render: ({ createdAt }) => <Time at={createdAt} /> },
    ]}
  />
)

/** `docs/intents.md`: of a symbol with 6 decimals, unless the intent says otherwise. */
const symbolDecimals = 6
const symbol = /^[A-Za-z][A-Za-z0-9.]{0,11}$/

/** As asked for; of a selected route, what the payer pays. */
export const IntentAmount = ({
  intent: { selectedRoute, amount, asset, decimals },
}: {
  readonly intent: Intent
}) => {
  if (selectedRoute !== undefined) return <Amount {...selectedRoute} />
  const known = decimals ?? (symbol.test(asset) ? symbolDecimals : null)
  return (
    <span class="amount" title={asset}>
      {known === null ? formatUnits(amount, 0) : formatUnits(amount, known)}{' '}
      <span class="unit">
        {known === null ? 'units of ' : ''}
        {shorten(asset)}
      </span>
    </span>
  )
}

const Party = ({ party }: { readonly party: Intent['payer'] }) => {
  const addresses = typeof party === 'string' ? [party] : Object.values(party)
  const [first = ''] = addresses
  return (
    <span title={addresses.join('\n')}>
      <code>{shorten(first, [8, 6])}</code>
      {addresses.length > 1 ? <span class="soft"> and {addresses.length - 1} more</span> : null}
    </span>
  )
}

export const intentsPage: ConsolePage = {
  path: '/console/intents',
  label: 'Intents',
  render: ({ query }) => <Intents query={query} />,
}
