import { useState } from 'preact/hooks'
import { api } from '../session.js'
import { Confirm } from '../ui/Confirm.js'
import { CodeBlock } from '../ui/copy.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { LoadedParts } from '../ui/LoadedParts.js'
import { Card, Empty, Fact, Facts, Page } from '../ui/layout.js'
import { Parties } from '../ui/Parties.js'
import { ReasonCard } from '../ui/ReasonCard.js'
import { Amount, ExactTime, NetworkName, Status, Time } from '../ui/values.js'
import { useAction } from '../useAction.js'
import { useLoad } from '../useLoad.js'
import { useReloadOnEvents } from '../useReloadOnEvents.js'
import type { ConsolePage } from './page.js'
import type { Stream } from './streams.js'

const StreamPage = ({ id }: { readonly id: string }) => {
  const loaded = useLoad((signal) => api.get('/v1/stream/{id}', { params: { id }, signal }), [id])
  const { data, reload } = loaded
  useReloadOnEvents('stream', reload)
  return (
    <Page
      title="Stream"
      lead={<a href="/console/streams">All streams</a>}
      actions={data === null ? undefined : <Status status={data.stream.status} />}
    >
      <LoadedParts loaded={loaded} missing={<Empty title="There is no stream with this id." />}>
        {(data) => (
          <div class="columns">
            <Receipt stream={data.stream} remaining={data.remaining} />
            <div class="stack">
              <State stream={data.stream} onChanged={reload} />
              <ReasonCard title="Funds at risk" reason={data.stream.risk} />
              <ReasonCard
                title="Why it failed"
                reason={data.stream.errorReason}
                message={data.stream.errorMessage}
              />
              {data.stream.metadata === undefined ? null : (
                <Card title="Your metadata">
                  <CodeBlock label="Metadata" text={JSON.stringify(data.stream.metadata, null, 2)} />
                </Card>
              )}
            </div>
          </div>
        )}
      </LoadedParts>
    </Page>
  )
}

interface ReceiptProps {
  readonly stream: Stream
  readonly remaining: string
}

const Receipt = ({ stream, remaining }: ReceiptProps) => {
  const { network, asset, currentAmount, maxAmount, finalAmount, settledAmount } = stream
  const write = (amount: string) => <Amount amount={amount} network={network} asset={asset} />
  return (
    <Card title="Receipt" form="receipt">
      <p class="total-amount">{write(settledAmount ?? finalAmount ?? currentAmount)}</p>
      <meter
        aria-label="Share of the maximum that is used"
        min={0}
        max={1}
        high={0.9}
        value={shareOf(currentAmount, maxAmount)}
      />
      <Facts>
        <Fact name="Used">{write(currentAmount)}</Fact>
        <Fact name="Left">{write(remaining)}</Fact>
        <Fact name="Authorized">{write(maxAmount)}</Fact>
        {settledAmount === undefined ? null : <Fact name="Settled">{write(settledAmount)}</Fact>}
        <Fact name="Updates">{stream.updates}</Fact>
        <Fact name="Vouchers">{stream.vouchers ? 'for every update' : 'none'}</Fact>
        <Fact name="Network">
          <NetworkName network={network} />
        </Fact>
        <Fact name="Opened">
          <ExactTime at={stream.createdAt} />
        </Fact>
        <Fact name={stream.closedAt === undefined ? 'Ends by itself' : 'Ended'}>
          <ExactTime at={stream.closedAt ?? stream.expiresAt} />
        </Fact>
      </Facts>
      <Parties payer={stream.payer} recipient={stream.payee} asset={asset} id={['Id', stream.id]} />
    </Card>
  )
}

/** Amounts can exceed what a number holds exactly; a picture needs no more. */
const shareOf = (amount: string, maximum: string): number =>
  maximum === '0' ? 0 : Number(amount) / Number(maximum)

type Command = 'pause' | 'resume' | 'close'

const commands: Readonly<Record<Stream['status'], readonly Command[]>> = {
  active: ['pause', 'close'],
  paused: ['resume', 'close'],
  closing: ['close'],
  closed: [],
  failed: [],
  expired: [],
}

/** The service answers a close after at most 25 s. */
const closeTimeoutMs = 40_000

const send = (stream: Stream, command: Command) => {
  const params = { id: stream.id }
  if (command === 'pause') return api.post('/v1/stream/{id}/pause', { params, body: {} })
  if (command === 'resume') return api.post('/v1/stream/{id}/resume', { params, body: {} })
  return api.post('/v1/stream/close', { body: { streamId: stream.id }, timeoutMs: closeTimeoutMs })
}

interface StateProps {
  readonly stream: Stream
  readonly onChanged: () => void
}

const State = ({ stream, onChanged }: StateProps) => {
  const [isAsked, setAsked] = useState(false)
  const change = useAction()
  const run = async (command: Command) => {
    const changed = await change.run(() => send(stream, command))
    if (changed === null) return
    setAsked(false)
    onChanged()
  }
  const labels: Readonly<Record<Command, string>> = {
    pause: 'Pause',
    resume: 'Resume',
    close: stream.status === 'closing' ? 'Try to settle now' : 'Close and settle',
  }
  return (
    <Card title="State">
      <p>
        <StateSentence stream={stream} />
      </p>
      <div class="actions more">
        {commands[stream.status].map((command) => (
          <button
            key={command}
            type="button"
            class="button"
            disabled={change.isBusy}
            onClick={() =>
              command === 'close' && stream.status !== 'closing' ? setAsked(true) : void run(command)
            }
          >
            {labels[command]}
          </button>
        ))}
      </div>
      {change.error === null || isAsked ? null : <ErrorNote error={change.error} />}
      {isAsked ? (
        <Confirm
          title="Close the stream"
          action="Close and settle"
          {...change}
          onConfirm={() => void run('close')}
          onClose={() => {
            setAsked(false)
            change.clear()
          }}
        >
          <p>
            <Amount amount={stream.currentAmount} network={stream.network} asset={stream.asset} /> are
            settled, what was used. Nothing more can be charged afterwards.
          </p>
        </Confirm>
      ) : null}
    </Card>
  )
}

const StateSentence = ({ stream: { status, expiresAt, settlementId } }: Pick<StateProps, 'stream'>) => {
  switch (status) {
    case 'active':
      return (
        <>
          Takes updates. What was used is settled by itself <Time at={expiresAt} />, unless it is closed
          before.
        </>
      )
    case 'paused':
      return (
        <>
          Updates are refused until it is resumed. Its time goes on: what was used is settled{' '}
          <Time at={expiresAt} />.
        </>
      )
    case 'closing':
      return (
        <>The final amount is fixed, and its settlement is not proven yet. The service goes on by itself.</>
      )
    case 'closed':
      return (
        <>
          Settled.{' '}
          {settlementId === undefined ? null : (
            <a href={`/console/payments/${settlementId}`}>Show the payment</a>
          )}
        </>
      )
    case 'failed':
      return <>It was not settled, and never will be by this stream.</>
    case 'expired':
      return <>Its time passed and nothing was used: the payer’s authorization is free again.</>
  }
}

export const streamPage: ConsolePage = {
  path: '/console/streams/:id',
  label: null,
  render: ({ params }) => <StreamPage key={params.id} id={params.id ?? ''} />,
}
