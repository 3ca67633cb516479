import type { Schemas } from '../api.js'
import { shorten } from '../format.js'
import { api } from '../session.js'
import { EventedList } from '../ui/EventedList.js'
import { Table } from '../ui/Table.js'
import { Amount, NetworkName, Time } from '../ui/values.js'
import type { ConsolePage, PageInput } from './page.js'

export type Channel = Schemas['Channel']

const Channels = ({ query }: Pick<PageInput, 'query'>) => (
  <EventedList
    noun="channel"
    lead="Deposits that many requests are paid from. Newest first."
    query={query}
    states={[]}
    load={(query, signal) => api.get('/v1/channels', { query, signal })}
    readItems={({ channels }) => channels}
    advice={
      <p>
        A channel of <code>batch-settlement</code> whose <code>receiverAuthorizer</code> is the one of{' '}
        <code>/supported</code> is listed here once your key has verified a voucher of it.
      </p>
    }
  >
    {(channels) => <ChannelTable channels={channels} />}
  </EventedList>
)

const ChannelTable = ({ channels }: { readonly channels: readonly Channel[] }) => (
  <Table
    caption="Channels, newest first"
    rows={channels}
    getKey={({ network, channelId }) => `${network} ${channelId}`}
    getClass={() => 'linked'}
    columns={[
      {
        label: 'Signed',
        render: ({ network, channelId, ceiling, asset }) => (
          <a class="row-link" href={`/console/channels/${encodeURIComponent(network)}/${channelId}`}>
            <Amount amount={ceiling} network={network} asset={asset} />
          </a>
        ),
      },
      {
        label: 'Not claimed yet',
        render: (channel) => (
          <>
            <Amount amount={channel.claimable} network={channel.network} asset={channel.asset} />
            <ChannelMarks channel={channel} />
          </>
        ),
      },
      {
        label: 'Claimed',
        isExtra: true,
        render: ({ network, totalClaimed, asset }) => (
          <Amount amount={totalClaimed} network={network} asset={asset} />
        ),
      },
      { label: 'Network', isExtra: true, render: ({ network }) => <NetworkName network={network} /> },
      {
        label: 'Payer',
        isExtra: true,
        render: ({ payer }) => <code title={payer}>{shorten(payer, [8, 6])}</code>,
      },
      { label: 'Last voucher', align: 'end', render: ({ verifiedAt }) => <Time at={verifiedAt} /> },
    ]}
  />
)

/** What needs attention. */
export const ChannelMarks = ({
  channel: { isUnclaimable, withdrawRequestedAt },
}: {
  readonly channel: Channel
}) => (
  <>
    {isUnclaimable ? <span class="mark bad">cannot be claimed</span> : null}
    {withdrawRequestedAt === 0 ? null : <span class="mark bad">withdrawal requested</span>}
  </>
)

export const channelsPage: ConsolePage = {
  path: '/console/channels',
  label: 'Channels',
  render: ({ query }) => <Channels query={query} />,
}
