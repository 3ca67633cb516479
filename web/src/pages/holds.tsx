import type { Schemas } from '../api.js'
import { shorten } from '../format.js'
import { api } from '../session.js'
import { AtDeadlineChoice } from '../ui/AtDeadlineChoice.js'
import { EventedList } from '../ui/EventedList.js'
import { Table } from '../ui/Table.js'
import { Amount, NetworkName, Status, Time } from '../ui/values.js'
import { useLoad } from '../useLoad.js'
import type { ConsolePage, PageInput } from './page.js'

export type HeldPayment = Schemas['HeldPayment']

const states = ['pending', 'held', 'captured', 'voided', 'expired', 'reclaimed', 'failed'] as const

const Holds = ({ query }: Pick<PageInput, 'query'>) => (
  <EventedList
    noun="hold"
    lead="Payments that are held until you capture or void them. Newest first."
    query={query}
    states={states}
    load={(query, signal) => api.get('/v1/payments', { query, signal })}
    readItems={({ payments }) => payments}
    settings={<NewHolds />}
    advice={
      <p>
        A payment under <code>auth-capture</code> whose <code>receiverAuthorizer</code> is the one of{' '}
        <code>/supported</code> is listed here once your key has settled it.
      </p>
    }
  >
    {(payments) => <HoldTable payments={payments} />}
  </EventedList>
)

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
