import type { Schemas } from '../api.js'
import { formatCount, formatUnits, shorten } from '../format.js'
import { nameOf } from '../networks.js'
import { Card } from '../ui/layout.js'
import { Table } from '../ui/Table.js'
import { Badge, Time } from '../ui/values.js'

type Network = Schemas['OperatorOverview']['instance']['networks'][number]

/** Of one network, as the instance that answers sees it. */
export const NetworkCard = ({ network }: { readonly network: Network }) => {
  const { endpoints, signers, reorgs, clockLagMs, limitations, problem, paused } = network
  const name = nameOf(network.network)
  return (
    <Card title={name} actions={<Badges {...network} />}>
      {problem === null ? null : <p>{problem}</p>}
      {paused.map(({ scheme, reason }) => (
        <p key={scheme ?? ''}>
          <strong>{scheme ?? 'All payments'}:</strong> paused, {reason}
        </p>
      ))}
      {endpoints.length === 0 && signers.length === 0 ? (
        <p class="soft">It has no endpoints and no signers.</p>
      ) : (
        <>
          <h3>Endpoints</h3>
          {endpoints.length === 0 ? (
            <p class="soft">It has none.</p>
          ) : (
            <EndpointTable name={name} endpoints={endpoints} />
          )}
          <h3>Signers</h3>
          {signers.length === 0 ? (
            <p class="soft">It has none.</p>
          ) : (
            <SignerTable name={name} network={network.network} signers={signers} />
          )}
        </>
      )}
      <p class="small soft">
        {reorgs.reorged === 0
          ? 'This instance found no reorg in 24 hours.'
          : `Reorgs that this instance found in 24 hours: ${formatCount(reorgs.reorged)} settlements, ${formatCount(reorgs.lost)} of them lost.`}
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
        isExtra: true,
        render: ({ latencyMs }) => (latencyMs === null ? '–' : formatMs(latencyMs)),
      },
      {
        label: 'Behind',
        align: 'end',
        render: ({ lagBlocks, head }) => (
          <span class="whole" title={head === null ? 'No block yet' : `Block ${head}`}>
            {lagBlocks === null
              ? '–'
              : `${formatUnits(lagBlocks, 0)} ${lagBlocks === '1' ? 'block' : 'blocks'}`}
          </span>
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

interface SignerTableProps extends Pick<Network, 'network' | 'signers'> {
  readonly name: string
}

const SignerTable = ({ name, network, signers }: SignerTableProps) => (
  <Table
    caption={`Signers of ${name}`}
    rows={signers}
    getKey={({ address }) => address}
    columns={[
      { label: 'Address', render: ({ address }) => <code title={address}>{shorten(address, [6, 4])}</code> },
      {
        label: 'Balance',
        align: 'end',
        isExtra: true,
        render: ({ balance }) => (
          <span title={`${formatUnits(balance, 0)} smallest units`}>{formatBalance(network, balance)}</span>
        ),
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

/** Digits after the point of the coin that pays fees, where the namespace of the network decides them. */
const coinDecimals: Readonly<Record<string, number>> = {
  eip155: 18,
  solana: 9,
  ton: 9,
  tron: 6,
  near: 24,
  aptos: 8,
  tezos: 6,
  stacks: 6,
  stellar: 7,
}

const shownDecimals = 6

/** Rounded down: a balance must not look larger than it is. */
const formatBalance = (network: string, balance: string): string => {
  const decimals = coinDecimals[network.split(':')[0] ?? '']
  if (decimals === undefined) return `${formatUnits(balance, 0)} units`
  const shown = balance.slice(0, Math.max(0, balance.length - decimals + shownDecimals)).padStart(1, '0')
  return shown === '0' && balance !== '0' ? 'under 0.000001' : formatUnits(shown, shownDecimals)
}

const formatDays = (days: number): string =>
  days < 10 ? days.toFixed(1) : days > 365 ? 'over a year' : formatCount(days)

const formatMs = (ms: number): string =>
  ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
