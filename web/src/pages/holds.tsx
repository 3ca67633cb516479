import type { Schemas } from '../api.js'
import { shorten } from '../format.js'
import { api } from '../session.js'
import { AtDeadlineChoice } from '../ui/AtDeadlineChoice.js'
import { Choice, Listing, optionsOf } from '../ui/Listing.js'
import { Empty, Page } from '../ui/layout.js'
import { Table } from '../ui/Table.js'
import { Amount, NetworkName, Status, Time } from '../ui/values.js'
import { useLoad } from '../useLoad.js'
import { useReloadOnEvents } from '../useReloadOnEvents.js'
import type { ConsolePage, PageInput } from './page.js'

export type HeldPayment = Schemas['HeldPayment']

const states = ['pending', 'held', 'captured', 'voided', 'expired', 'reclaimed', 'failed'] as const

const Holds = ({ query }: Pick<PageInput, 'query'>) => {
  const status = states.find((each) => each === query.get('status'))
  const cursor = query.get('cursor')
  const loaded = useLoad(
    (signal) =>
      api.get('/v1/payments', {
        query: {
          limit: 50,
          ...(status === undefined ? {} : { status }),
          ...(cursor === null ? {} : { cursor }),
        },
        signal,
      }),
    [status, cursor],
  )
  useReloadOnEvents('hold', loaded.reload)
  const payments = loaded.data?.payments ?? []
  return (
    <Page title="Holds" lead="Payments that are held until you capture or void them. Newest first.">
      <search aria-label="Holds" class="filters">
        <Choice label="Status" name="status" value={status} options={optionsOf(states)} />
        <NewHolds />
      </search>
      <Listing
        noun="holds"
        loaded={loaded}
        isEmpty={payments.length === 0}
        cursor={cursor}
        isFiltered={status !== undefined}
        empty={
          <Empty title="No hold yet.">
            <p>
              A payment under <code>auth-capture</code> whose <code>receiverAuthorizer</code> is the one of{' '}
              <code>/supported</code> is listed here once your key has settled it.
            </p>
          </Empty>
        }
      >
        <HoldTable payments={payments} />
      </Listing>
    </Page>
  )
}

/** The default of the account. */
const NewHolds = () => {
  const { data, reload } = useLoad((signal) => api.get('/v1/hold-defaults', { signal }), [])
  return data === null ? null : (
    <AtDeadlineChoice
      label="New holds, before the deadline"
      value={data.atDeadline}
      send={(atDeadline) => api.post('/v1/hold-defaults', { body: { atDeadline } })}
      onChanged={reload}
    />
  )
}

const HoldTable = ({ payments }: { readonly payments: readonly HeldPayment[] }) => (
  <Table
    caption="Holds, newest first"
    rows={payments}
    getKey={({ network, paymentInfoHash }) => `${network} ${paymentInfoHash}`}
    getClass={() => 'linked'}
    columns={[
      {
        label: 'Amount',
        render: ({ network, paymentInfoHash, amount, asset }) => (
          <a class="row-link" href={`/console/holds/${encodeURIComponent(network)}/${paymentInfoHash}`}>
            <Amount amount={amount} network={network} asset={asset} />
          </a>
        ),
      },
      { label: 'Status', render: ({ status }) => <Status status={status} /> },
      {
        label: 'Captured',
        isExtra: true,
        render: ({ network, capturedAmount, asset }) => (
          <Amount amount={capturedAmount} network={network} asset={asset} />
        ),
      },
      { label: 'Network', isExtra: true, render: ({ network }) => <NetworkName network={network} /> },
      {
        label: 'Payer',
        isExtra: true,
        render: ({ payer }) => <code title={payer}>{shorten(payer, [8, 6])}</code>,
      },
      {
        label: 'Capture until',
        align: 'end',
        render: ({ captureDeadline }) => <Time at={captureDeadline} />,
      },
    ]}
  />
)

export const holdsPage: ConsolePage = {
  path: '/console/holds',
  label: 'Holds',
  render: ({ query }) => <Holds query={query} />,
}
