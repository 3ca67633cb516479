import type { Schemas } from '../api.js'
import { formatCount, formatUnits, shorten } from '../format.js'
import { nameOf } from '../networks.js'
import { Card } from '../ui/layout.js'
import { Table } from '../ui/Table.js'
import { Badge, Time } from '../ui/values.js'

type Network = Schemas['OperatorOverview']['instance']['networks'][number]

/** Of one network, as the instance that answers sees it. */
export const NetworkCard = ({ network }: { readonly network: Network }) => {
  const { reorgs, clockLagMs, limitations, problem, paused } = network
  const name = nameOf(network.network)
  return (
    <Card title={name} actions={<Badges {...network} />}>
      {problem === null ? null : <p>{problem}</p>}
      {paused.map(({ scheme, reason }) => (
        <p key={scheme ?? ''}>
          <strong>{scheme ?? 'All payments'}:</strong> paused, {reason}
        </p>
      ))}
      <h3>Endpoints</h3>
      {network.endpoints.length === 0 ? (
        <p class="soft">It has none.</p>
      ) : (
        <EndpointTable name={name} endpoints={network.endpoints} />
      )}
      <h3>Signers</h3>
      {network.signers.length === 0 ? (
        <p class="soft">It has none.</p>
      ) : (
        <SignerTable name={name} signers={network.signers} />
      )}
      <p class="small soft">
        Reorgs that this instance found in 24 hours: {formatCount(reorgs.reorged)} settlements,{' '}
        {formatCount(reorgs.lost)} of them lost.
        {clockLagMs === null ? null : ` The clock is ${formatMs(clockLagMs)} behind the newest block.`}
        {limitations.length === 0 ? null : ` Limitations: ${limitations.join('; ')}.`}
      </p>
    </Card>
  )
}

const Badges = ({ isServing, paused, balanceLevel, isRpcReachable }: Network) => (
  <span class="badges">
    <Badge tone={isServing ? 'good' : 'bad'}>{isServing ? 'Serving' : 'Not serving'}</Badge>
    {paused.length === 0 ? null : <Badge tone="warn">Paused</Badge>}
    {isRpcReachable ? null : <Badge tone="bad">No endpoint</Badge>}
    {balanceLevel === 'ok' ? null : (
      <Badge tone={balanceLevel === 'empty' ? 'bad' : 'warn'}>{`Balance ${balanceLevel}`}</Badge>
    )}
  </span>
)

const EndpointTable = ({ name, endpoints }: { readonly name: string } & Pick<Network, 'endpoints'>) => (
  <Table
    caption={`Endpoints of ${name}`}
    rows={endpoints}
    getKey={({ host }) => host}
    columns={[
      { label: 'Host', render: ({ host }) => host },
      {
        label: 'State',
        render: ({ isUp, wrongChain }) => (
          <>
            <Badge tone={isUp ? 'good' : 'bad'}>{isUp ? 'Up' : 'Down'}</Badge>
            {wrongChain === null ? null : <span class="soft">serves {wrongChain}</span>}
          </>
        ),
      },
      {
        label: 'Latency',
        align: 'end',
        render: ({ latencyMs }) => (latencyMs === null ? '–' : formatMs(latencyMs)),
      },
      {
        label: 'Behind',
        align: 'end',
        render: ({ lagBlocks, head }) => (
          <span title={head === null ? 'No block yet' : `Block ${head}`}>{lagBlocks ?? '–'}</span>
        ),
      },
      {
        label: 'Last error',
        isExtra: true,
        render: ({ lastFailure }) =>
          lastFailure === null ? (
            <span class="soft">None since the start</span>
          ) : (
            <>
              {lastFailure.message}
              <span class="soft">
                <Time at={lastFailure.at} />
              </span>
            </>
          ),
      },
    ]}
  />
)

const SignerTable = ({ name, signers }: { readonly name: string } & Pick<Network, 'signers'>) => (
  <Table
    caption={`Signers of ${name}`}
    rows={signers}
    getKey={({ address }) => address}
    columns={[
      { label: 'Address', render: ({ address }) => <code title={address}>{shorten(address, [8, 6])}</code> },
      {
        label: 'Balance, smallest units',
        align: 'end',
        isExtra: true,
        render: ({ balance }) => formatUnits(balance, 0),
      },
      {
        label: 'Settlements left',
        align: 'end',
        render: ({ settlementsLeft }) => formatCount(settlementsLeft),
      },
      {
        label: 'Days left',
        align: 'end',
        render: ({ daysLeft }) => (daysLeft === null ? '–' : formatDays(daysLeft)),
      },
      {
        label: 'Lane repairs',
        align: 'end',
        isExtra: true,
        render: ({ laneRepairs }) => laneRepairs ?? '–',
      },
    ]}
  />
)

const formatDays = (days: number): string => (days < 10 ? days.toFixed(1) : formatCount(days))

const formatMs = (ms: number): string =>
  ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
