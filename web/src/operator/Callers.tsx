import type { Schemas } from '../api.js'
import { formatCount, formatSeconds } from '../format.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Card } from '../ui/layout.js'
import { Table } from '../ui/Table.js'
import { ExactTime } from '../ui/values.js'
import { useLoad } from '../useLoad.js'
import { operatorApi } from './session.js'

type Caller = Schemas['CallerCount']

export const Callers = () => {
  const { data, error, isLoading, reload } = useLoad(
    (signal) => operatorApi.get('/v1/operator/callers', { query: { limit: 20 }, signal }),
    [],
  )
  if (data === null) {
    return error === null ? <p class="soft">Loading …</p> : <ErrorNote error={error} onRetry={reload} />
  }
  return (
    <>
      {error === null ? null : <ErrorNote error={error} onRetry={reload} />}
      <div class="card-head">
        <p class="soft">
          From <ExactTime at={data.from} /> to <ExactTime at={data.to} />.{' '}
          {data.isComplete
            ? null
            : 'There were more callers than are kept: the rarest are left out, and counts may be a little low.'}
        </p>
        <button type="button" class="button quiet" disabled={isLoading} onClick={reload}>
          Reload
        </button>
      </div>
      <div class="stack">
        <CallerCard title="Ask most" callers={data.mostRequests} />
        <CallerCard title="Are refused most" callers={data.mostRefused} />
        <CallerCard title="Occupy it most" callers={data.mostBusy} />
      </div>
    </>
  )
}

interface CallerCardProps {
  readonly title: string
  readonly callers: readonly Caller[]
}

const CallerCard = ({ title, callers }: CallerCardProps) => (
  <Card title={title}>
    {callers.length === 0 ? (
      <p class="soft">No caller in this time.</p>
    ) : (
      <Table
        caption={title}
        rows={callers}
        getKey={({ accountId, network }) => accountId ?? network ?? ''}
        columns={[
          { label: 'Caller', render: (caller) => <CallerName {...caller} /> },
          { label: 'Requests', align: 'end', render: ({ requests }) => formatCount(requests) },
          { label: 'Refused', align: 'end', render: ({ refused }) => formatCount(refused) },
          {
            label: 'Settles',
            align: 'end',
            isExtra: true,
            render: ({ settles }) => formatCount(settles),
          },
          {
            label: 'Time',
            align: 'end',
            isExtra: true,
            render: ({ busyMs }) => formatSeconds(busyMs / 1_000),
          },
        ]}
      />
    )}
  </Card>
)

const CallerName = ({ accountId, network, reasons }: Caller) => (
  <>
    {accountId === null ? (
      <>
        <code>{network}</code> <span class="soft">without a valid key</span>
      </>
    ) : (
      <a href={`/console/operator/accounts?search=${encodeURIComponent(accountId)}`}>
        <code>{accountId}</code>
      </a>
    )}
    {reasons.length === 0 ? null : (
      <span class="soft">
        Refused: {reasons.map(({ reason, count }) => `${reason} ${formatCount(count)}`).join(', ')}
      </span>
    )}
  </>
)
