import type { Schemas } from '../api.js'
import { shorten } from '../format.js'
import { api } from '../session.js'
import { Choice, Listing, optionsOf } from '../ui/Listing.js'
import { Empty, Page } from '../ui/layout.js'
import { Table } from '../ui/Table.js'
import { Amount, NetworkName, Status, Time } from '../ui/values.js'
import { useLoad } from '../useLoad.js'
import { useReloadOnEvents } from '../useReloadOnEvents.js'
import type { ConsolePage, PageInput } from './page.js'

export type Stream = Schemas['Stream']

const states = ['active', 'paused', 'closing', 'closed', 'failed', 'expired'] as const

const Streams = ({ query }: Pick<PageInput, 'query'>) => {
  const status = states.find((each) => each === query.get('status'))
  const cursor = query.get('cursor')
  const loaded = useLoad(
    (signal) =>
      api.get('/v1/stream', {
        query: {
          limit: 50,
          ...(status === undefined ? {} : { status }),
          ...(cursor === null ? {} : { cursor }),
        },
        signal,
      }),
    [status, cursor],
  )
  useReloadOnEvents('stream', loaded.reload)
  const streams = loaded.data?.streams ?? []
  return (
    <Page title="Streams" lead="Payments that are metered, and settled once at their end. Newest first.">
      <search aria-label="Streams" class="filters">
        <Choice label="Status" name="status" value={status} options={optionsOf(states)} />
      </search>
      <Listing
        noun="streams"
        loaded={loaded}
        isEmpty={streams.length === 0}
        cursor={cursor}
        isFiltered={status !== undefined}
        empty={
          <Empty title="No stream yet.">
            <p>
              Your server opens one with <code>POST /v1/stream/open</code> and a payment under{' '}
              <code>upto</code>: the <a href="/docs">API reference</a> has a request to send.
            </p>
          </Empty>
        }
      >
        <StreamTable streams={streams} />
      </Listing>
    </Page>
  )
}

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
