import { formatSeconds } from '../format.js'
import { api } from '../session.js'
import { LoadedParts } from '../ui/LoadedParts.js'
import { Card, Empty, Fact, Facts, Page } from '../ui/layout.js'
import { Parties } from '../ui/Parties.js'
import { Amount, ExactTime, NetworkName, Time } from '../ui/values.js'
import { useLoad } from '../useLoad.js'
import { useReloadOnEvents } from '../useReloadOnEvents.js'
import { type Channel, ChannelMarks } from './channels.js'
import type { ConsolePage } from './page.js'

interface ChannelPageProps {
  readonly network: string
  readonly channelId: string
}

const ChannelPage = ({ network, channelId }: ChannelPageProps) => {
  const loaded = useLoad<Channel>(
    (signal) => api.get('/v1/channels/{network}/{channelId}', { params: { network, channelId }, signal }),
    [network, channelId],
  )
  const { data, reload } = loaded
  useReloadOnEvents('channel', reload)
  return (
    <Page
      title="Channel"
      lead={<a href="/console/channels">All channels</a>}
      actions={data === null ? undefined : <ChannelMarks channel={data} />}
    >
      <LoadedParts loaded={loaded} missing={<Empty title="There is no such channel." />}>
        {(data) => (
          <div class="columns">
            <Receipt channel={data} />
            <State channel={data} />
          </div>
        )}
      </LoadedParts>
    </Page>
  )
}

const Receipt = ({ channel }: { readonly channel: Channel }) => {
  const { network, asset, balance, config, withdrawal } = channel
  const write = (amount: string) => <Amount amount={amount} network={network} asset={asset} />
  return (
    <Card title="Receipt" form="receipt">
      <p class="total-amount">{write(channel.charged)}</p>
      <Facts>
        <Fact name="Charged for sure">{write(channel.charged)}</Fact>
        <Fact name="Signed">{write(channel.ceiling)}</Fact>
        <Fact name="Claimed">{write(channel.totalClaimed)}</Fact>
        <Fact name="Claimed next">{write(channel.claimable)}</Fact>
        {balance === undefined ? null : <Fact name="Deposited">{write(balance)}</Fact>}
        {withdrawal === '0' ? null : <Fact name="Withdrawn">{write(withdrawal)}</Fact>}
        <Fact name="Network">
          <NetworkName network={network} />
        </Fact>
        <Fact name="First voucher">
          <ExactTime at={channel.boundAt} />
        </Fact>
        <Fact name="Last voucher">
          <ExactTime at={channel.verifiedAt} />
        </Fact>
        <Fact name="A withdrawal takes">{formatSeconds(Number(config.withdrawDelay))}</Fact>
      </Facts>
      <Parties
        payer={channel.payer}
        recipient={channel.receiver}
        asset={asset}
        id={['Channel id', channel.channelId]}
      />
    </Card>
  )
}

const State = ({ channel }: { readonly channel: Channel }) => {
  const { isUnclaimable, withdrawableAt, seenAt, settlementId } = channel
  return (
    <Card title="State">
      {isUnclaimable ? (
        <p>
          Its highest voucher was refused too often, so that it is not claimed any more. A higher voucher is
          claimed again.
        </p>
      ) : (
        <p>Vouchers are kept here, and claimed and paid out by the service.</p>
      )}
      {withdrawableAt === undefined ? null : (
        <p>
          The payer withdraws the rest: it can be taken{' '}
          <Time at={new Date(1_000 * withdrawableAt).toISOString()} />. What was charged is claimed before.
        </p>
      )}
      {seenAt === undefined ? (
        <p class="soft">The chain was not looked at yet.</p>
      ) : (
        <p class="soft">
          As the chain was <Time at={seenAt} />.
        </p>
      )}
      {settlementId === undefined ? null : (
        <p>
          <a href={`/console/payments/${settlementId}`}>Show the last claim</a>
        </p>
      )}
    </Card>
  )
}

export const channelPage: ConsolePage = {
  path: '/console/channels/:network/:channelId',
  label: null,
  render: ({ params: { network = '', channelId = '' } }) => (
    <ChannelPage key={`${network} ${channelId}`} network={network} channelId={channelId} />
  ),
}
