import { shorten } from '../format.js'
import type { Settlement } from '../session.js'
import { type Column, Table } from './Table.js'
import { Amount, NetworkName, Status, Time } from './values.js'

interface PaymentTableProps {
  readonly payments: readonly Settlement[]
  /** Id of the payment that changed last. */
  readonly arrived?: string | null
}

const reasonColumn: Column<Settlement> = {
  label: 'Reason',
  isExtra: true,
  render: ({ errorReason }) => <span class="soft">{errorReason?.replaceAll('_', ' ')}</span>,
}

export const PaymentTable = ({ payments, arrived = null }: PaymentTableProps) => (
  <Table
    caption="Payments, newest first"
    rows={payments}
    getKey={({ id }) => id}
    getClass={({ id }) => (id === arrived ? 'linked arrived' : 'linked')}
    columns={[
      {
        label: 'Amount',
        render: (payment) => (
          <a class="row-link" href={`/console/payments/${payment.id}`}>
            <Amount {...payment} />
          </a>
        ),
      },
      { label: 'Status', render: ({ status }) => <Status status={status} /> },
      {
        label: 'Network',
        isExtra: true,
        render: ({ network, scheme }) => (
          <>
            <NetworkName network={network} /> <span class="soft">{scheme}</span>
          </>
        ),
      },
      {
        label: 'Payer',
        isExtra: true,
        render: ({ payer }) => <code title={payer}>{shorten(payer, [8, 6])}</code>,
      },
      ...(payments.some(({ errorReason }) => errorReason !== undefined) ? [reasonColumn] : []),
      { label: 'Received', align: 'end', render: ({ createdAt }) => <Time at={createdAt} /> },
    ]}
  />
)
