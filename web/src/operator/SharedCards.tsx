import type { ComponentChildren } from 'preact'
import type { Schemas } from '../api.js'
import { formatCount, formatSeconds, shorten } from '../format.js'
import { Card, Fact, Facts } from '../ui/layout.js'
import { type Column, Table } from '../ui/Table.js'
import { Badge, ExactTime, NetworkName } from '../ui/values.js'

type Shared = Schemas['OperatorOverview']['shared']
type OpenCount = NonNullable<Shared['openSettlements']>[number]

/** Of all instances on one database; null: it could not be read. */
export const SharedCards = ({ shared }: { readonly shared: Shared }) => (
  <>
    <div class="columns">
      <Store {...shared} />
      <Reconciliation reconciliation={shared.reconciliation} />
    </div>
    <div class="columns">
      <OpenCard title="Open settlements" counts={shared.openSettlements} />
      <OpenCard title="Open streams" counts={shared.openStreams} />
    </div>
    <RowCard
      title="Settlements of 24 hours"
      rows={shared.lastDay}
      none="None."
      getKey={({ network }) => network}
      columns={[
        { label: 'Network', render: ({ network }) => <NetworkName network={network} /> },
        { label: 'Confirmed', align: 'end', render: ({ confirmed }) => formatCount(confirmed) },
        { label: 'Failed', align: 'end', render: ({ failed }) => formatCount(failed) },
        { label: 'Lost', align: 'end', render: ({ lost }) => formatCount(lost) },
      ]}
    />
    <Lanes lanes={shared.lanes} />
    <div class="columns">
      <RowCard
        title="Instances"
        rows={shared.instances}
        none="None."
        getKey={({ id }) => id}
        columns={[
          { label: 'Id', render: ({ id }) => <Instance id={id} /> },
          {
            label: 'State',
            render: ({ isAlive }) => (
              <Badge tone={isAlive ? 'good' : 'plain'}>{isAlive ? 'Alive' : 'Gone'}</Badge>
            ),
          },
          {
            label: 'Seen',
            align: 'end',
            render: ({ seenSecondsAgo }) => `${formatSeconds(seenSecondsAgo)} ago`,
          },
        ]}
      />
      <RowCard
        title="Who does shared jobs"
        rows={shared.jobs}
        none="None."
        getKey={({ job }) => job}
        columns={[
          { label: 'Job', render: ({ job }) => job },
          { label: 'Instance', align: 'end', render: ({ holder }) => <Instance id={holder} /> },
        ]}
      />
    </div>
  </>
)

const Instance = ({ id }: { readonly id: string | null }) =>
  id === null ? <>none</> : <code title={id}>{shorten(id, [8, 4])}</code>

const NotRead = () => <p class="soft">It could not be read now.</p>

interface RowCardProps<Row> {
  readonly title: string
  /** Null: they could not be read. */
  readonly rows: readonly Row[] | null
  readonly none: string
  readonly getKey: (row: Row) => string
  readonly columns: readonly Column<Row>[]
}

const RowCard = <Row,>({ title, rows, none, getKey, columns }: RowCardProps<Row>) => (
  <Card title={title}>
    {rows === null ? (
      <NotRead />
    ) : rows.length === 0 ? (
      <p class="soft">{none}</p>
    ) : (
      <Table caption={title} rows={rows} getKey={getKey} columns={columns} />
    )}
  </Card>
)

const Store = ({ database, webhooks }: Pick<Shared, 'database' | 'webhooks'>) => (
  <Card title="Store and webhooks">
    <Facts>
      <Fact name="Database">
        <Badge tone={database === 'ok' ? 'good' : 'bad'}>
          {database === null ? 'No answer' : database === 'ok' ? 'OK' : 'Read-only'}
        </Badge>
      </Fact>
      <Fact name="Deliveries that wait">
        {orUnread(
          webhooks,
          ({ waiting, isCountLimited }) => `${isCountLimited ? 'over ' : ''}${formatCount(waiting)}`,
        )}
      </Fact>
      <Fact name="Oldest of them">
        {orUnread(webhooks, ({ oldestSeconds }) =>
          oldestSeconds === null ? 'none' : formatSeconds(oldestSeconds),
        )}
      </Fact>
    </Facts>
  </Card>
)

const orUnread = <Value,>(
  value: Value | null,
  render: (value: Value) => ComponentChildren,
): ComponentChildren => (value === null ? 'not read' : render(value))

const Reconciliation = ({ reconciliation }: Pick<Shared, 'reconciliation'>) => {
  const last = reconciliation?.last ?? null
  return (
    <Card title="Last nightly reconciliation">
      {reconciliation === null ? (
        <NotRead />
      ) : last === null ? (
        <p class="soft">None has ended yet.</p>
      ) : (
        <Facts>
          <Fact name="Day">{last.day}</Fact>
          <Fact name="Finished">
            <ExactTime at={last.finishedAt} />
          </Fact>
          <Fact name="Settlements">{formatCount(last.settlements)}</Fact>
          <Fact name="Differences">
            <Badge tone={last.differences === 0 ? 'good' : 'bad'}>{formatCount(last.differences)}</Badge>
          </Fact>
          <Fact name="Unchecked">{formatCount(last.unchecked)}</Fact>
        </Facts>
      )}
    </Card>
  )
}

interface OpenCardProps {
  readonly title: string
  readonly counts: readonly OpenCount[] | null
}

const OpenCard = ({ title, counts }: OpenCardProps) => (
  <RowCard
    title={title}
    rows={counts}
    none="None is open."
    getKey={({ network, state }) => `${network} ${state}`}
    columns={[
      { label: 'Network', render: ({ network }) => <NetworkName network={network} /> },
      { label: 'State', render: ({ state }) => state },
      { label: 'Open', align: 'end', render: ({ count }) => formatCount(count) },
      { label: 'Oldest', align: 'end', render: ({ oldestSeconds }) => formatSeconds(oldestSeconds) },
    ]}
  />
)

const Lanes = ({ lanes }: Pick<Shared, 'lanes'>) => (
  <RowCard
    title="Lanes"
    rows={lanes}
    none="No network of this service has lanes, or none was used yet."
    getKey={({ network, signer }) => `${network} ${signer}`}
    columns={[
      {
        label: 'Signer',
        render: ({ network, signer }) => (
          <>
            <code title={signer}>{shorten(signer, [8, 6])}</code>
            <span class="soft">
              <NetworkName network={network} />
            </span>
          </>
        ),
      },
      { label: 'Next nonce', align: 'end', render: ({ nextNonce }) => nextNonce },
      { label: 'Unconfirmed', align: 'end', render: ({ unconfirmed }) => formatCount(unconfirmed) },
      {
        label: 'Oldest',
        align: 'end',
        render: ({ oldestSeconds }) => (oldestSeconds === null ? '–' : formatSeconds(oldestSeconds)),
      },
      { label: 'Held by', align: 'end', isExtra: true, render: ({ holder }) => <Instance id={holder} /> },
    ]}
  />
)
