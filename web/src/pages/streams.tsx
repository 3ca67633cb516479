import type { Schemas } from '../api.js'
import { shorten } from '../format.js'
import { api } from '../session.js'
import { EventedList } from '../ui/EventedList.js'
import { Table } from '../ui/Table.js'
import { Amount, NetworkName, Status, Time } from '../ui/values.js'
import type { ConsolePage, PageInput } from './page.js'

export type Stream = Schemas['Stream']

const states = ['active', 'paused', 'closing', 'closed', 'failed', 'expired'] as const

const Streams = ({ query }: Pick<PageInput, 'query'>) => (
  <EventedList
    noun="stream"
    lead="Payments that are metered, and settled once at their end. Newest first."
    query={query}
    states={states}
    load={(query, signal) => api.get('/v1/stream', { query, signal })}
    readItems={({ streams }) => streams}
    advice={
      <p>
        Your server opens one with <code>POST /v1/stream/open</code> and a payment under <code>upto</code>:
        the <a href="/docs">API reference</a> has a request to send.
      </p>
    }
  >
    {(streams) => <StreamTable streams={streams} />}
  </EventedList>
)

const StreamTable = ({ streams }: { readonly streams: readonly Stream[] }) => (
  <Table
    caption="Streams, newest first"
    rows={streams}
    getKey={({ id }) => id}
    getClass={() => 'linked'}
    columns={[
      {
        label: 'Used',
        render: ({ id, currentAmount, network, asset }) => (
          <a class="row-link" href={`/console/streams/${id}`}>
            <Amount amount={currentAmount} network={network} asset={asset} />
          </a>
        ),
      },
      {
        label: 'Of',
        isExtra: true,
        render: ({ maxAmount, network, asset }) => (
          <Amount amount={maxAmount} network={network} asset={asset} />
        ),
      },
      {
        label: 'Status',
        render: ({ status, risk }) => (
          <>
            <Status status={status} />
            {risk === undefined ? null : <span class="mark bad">funds at risk</span>}
          </>
        ),
      },
      { label: 'Network', isExtra: true, render: ({ network }) => <NetworkName network={network} /> },
      {
        label: 'Payer',
        isExtra: true,
        render: ({ payer }) => <code title={payer}>{shorten(payer, [8, 6])}</code>,
      },
      { label: 'Last update', align: 'end', render: ({ lastUpdatedAt }) => <Time at={lastUpdatedAt} /> },
    ]}
  />
)

export const streamsPage: ConsolePage = {
  path: '/console/streams',
  label: 'Streams',
  render: ({ query }) => <Streams query={query} />,
}
